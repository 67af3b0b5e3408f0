// The lines between this client and an agent's process, each one checked.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";

const farewell = 8000; // ms an agent may take to end once its stdin is closed

// Wire is a running agent. It keeps every message in both directions and notes
// what an agent must not do.
export class Wire {
  constructor(command, { cwd, env, judge, report }) {
    this.judge = judge;
    this.report = report;
    this.asked = new Map(); // methods of our open requests, by id
    this.asking = new Set(); // ids of the agent's open requests
    this.listeners = new Set();
    this.unjudged = []; // what judgeAll has yet to look at
    this.child = spawn(command[0], command.slice(1), { cwd, env: { ...process.env, ...env }, detached: true });
    this.exit = once(this.child, "close");
    this.child.stderr.setEncoding("utf8").on("data", (text) => (report.stderr += text));
    this.child.stdin.on("error", () => {}); // an agent that died shows by its exit
  }

  // streams are the two ends the SDK reads and writes.
  streams() {
    const out = this.tap((line) => this.sent(line));
    out.readable.pipeTo(Writable.toWeb(this.child.stdin)).catch(() => {});
    const input = Readable.toWeb(this.child.stdout).pipeThrough(this.tap((line) => this.received(line)));
    return { output: out.writable, input };
  }

  // tap passes bytes on after it has shown every whole line in them.
  tap(see) {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let rest = "";
    const lines = (text) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop();
      parts.forEach(see);
    };
    return new TransformStream({
      transform: (bytes, controller) => {
        lines(decoder.decode(bytes, { stream: true }));
        controller.enqueue(bytes);
      },
      flush: () => {
        if (rest !== "") this.violation("the last line is not ended", rest);
      },
    });
  }

  sent(line) {
    const message = JSON.parse(line);
    this.report.transcript.push({ to: "agent", message });
    if (message.method && message.id !== undefined) this.asked.set(message.id, message.method);
    if (!message.method) this.asking.delete(message.id);
  }

  received(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.violation("stdout holds a line that is not JSON", line);
      return;
    }
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

  // close ends the agent the way the protocol says, by closing its stdin, and
  // resolves when its process is gone.
  async close() {
    this.child.stdin.end();
    const timer = setTimeout(() => {
      this.violation("the agent does not end when its stdin is closed", null);
      process.kill(-this.child.pid, "SIGKILL");
    }, farewell);
    const [code, signal] = await this.exit;
    clearTimeout(timer);
    if (code !== 0) this.violation(`the agent ended with code ${code}, signal ${signal}`, null);
  }

  kill() {
    try {
      process.kill(-this.child.pid, "SIGKILL");
    } catch {
      // gone already
    }
  }
}
