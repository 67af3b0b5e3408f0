// The lines between this client and an agent's process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { Watch } from "./watch.mjs";

const farewell = 8000; // ms an agent may take to end once its stdin is closed

// Wire is a running agent.
export class Wire extends Watch {
  constructor(command, { cwd, env, judge, report }) {
    super({ judge, report });
    this.child = spawn(command[0], command.slice(1), { cwd, env: { ...process.env, ...env }, detached: true });
    this.exit = once(this.child, "close");
    this.child.stderr.setEncoding("utf8").on("data", (text) => (report.stderr += text));
    this.child.stdin.on("error", () => {}); // an agent that died shows by its exit
  }

  // stream is what the SDK reads and writes.
  stream() {
    const out = this.tap((line) => this.sent(JSON.parse(line)));
    out.readable.pipeTo(Writable.toWeb(this.child.stdin)).catch(() => {});
    const input = Readable.toWeb(this.child.stdout).pipeThrough(this.tap((line) => this.line(line)));
    return ndJsonStream(out.writable, input);
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

  line(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.violation("stdout holds a line that is not JSON", line);
      return;
    }
    this.received(message);
  }

  async settle() {} // one pipe keeps its order

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
