// What a client sees of an agent, whatever lies between them, each message
// checked.

// Watch keeps every message in both directions and notes what an agent must
// not do.
export class Watch {
  constructor({ judge, report }) {
    this.judge = judge;
    this.report = report;
    this.asked = new Map(); // methods of our open requests, by id
    this.asking = new Set(); // ids of the agent's open requests
    this.listeners = new Set();
    this.unjudged = []; // what judgeAll has yet to look at
  }

  sent(message) {
    this.report.transcript.push({ to: "agent", message });
    if (message.method && message.id !== undefined) this.asked.set(message.id, message.method);
    if (!message.method) this.asking.delete(message.id);
  }

  received(message) {
    this.report.transcript.push({ to: "client", message });
    this.check(message);
    for (const listener of this.listeners) listener(message);
  }

  check(message) {
    if (message.jsonrpc !== "2.0") this.violation("jsonrpc is not 2.0", message);
    if (!message.method) {
      this.checkResponse(message);
    } else if (message.id === undefined) {
      this.checkValue(message.method, "Notification", message.params, message);
    } else {
      if (this.asking.has(message.id)) this.violation("the id of an open request is used again", message);
      this.asking.add(message.id);
      this.checkValue(message.method, "Request", message.params, message);
    }
  }

  checkResponse(message) {
    const method = this.asked.get(message.id);
    this.asked.delete(message.id);
    if (!method) this.violation("a response to nothing that was asked", message);
    else if ("result" in message === "error" in message) this.violation("not one of result and error", message);
    else if ("result" in message) this.checkValue(method, "Response", message.result, message);
    else this.checkError(message.error, message);
  }

  checkError(error, message) {
    if (!Number.isInteger(error?.code) || typeof error.message !== "string" || error.message === "") {
      this.violation("an error needs an integer code and a message", message);
    } else if (error.message.includes("\n")) {
      this.violation("an error is one sentence on one line", message);
    }
  }

  // checkValue leaves judging for the end: it takes time, and an agent is to be
  // seen at full speed.
  checkValue(method, kind, value, message) {
    this.unjudged.push({ method, kind, value, message });
  }

  async judgeAll() {
    for (const { method, kind, value, message } of this.unjudged.splice(0)) {
      const faults = await this.judge.faults(method, kind, value);
      if (faults.length > 0) this.violation(faults, message);
    }
  }

  violation(what, evidence) {
    this.report.violations.push({ what, evidence });
  }

  // seen resolves with the first message from now on that satisfies wanted.
  seen(wanted) {
    return new Promise((resolve) => {
      const listener = (message) => {
        if (!wanted(message)) return;
        this.listeners.delete(listener);
        resolve(message);
      };
      this.listeners.add(listener);
    });
  }
}
