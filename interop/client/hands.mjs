// What this client does for an agent: permissions, files, terminals, questions.
// It offers only what a scenario wants, and notes it when an agent uses more.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { RequestError } from "@agentclientprotocol/sdk";

export class Hands {
  // offers: permit (kind of option to choose, "cancelled", {raw: a result}, {error: a
  // failure}, or a function that resolves with one of these),
  // buffers (files by path as an editor holds them), files, terminals (bools),
  // answer (of an elicitation), session (capabilities as they are declared).
  constructor(connection, offers) {
    this.connection = connection;
    this.offers = { permit: "allow_once", ...offers };
    this.terminals = new Map();
    this.permissions = []; // requests, as they came
    this.questions = [];
    this.used = []; // files and commands the agent handed us
  }

  capabilities() {
    const { files, terminals, answer, session } = this.offers;
    return {
      fs: { readTextFile: !!files, writeTextFile: !!files },
      terminal: !!terminals,
      ...(answer ? { elicitation: { form: {} } } : {}),
      ...(session ? { session } : {}),
    };
  }

  need(offer, params) {
    if (!this.offers[offer]) this.connection.wire.violation(`${offer} was not offered`, params);
  }

  async permit(params) {
    this.permissions.push(params);
    const { permit } = this.offers;
    const kind = typeof permit === "function" ? await permit(params) : permit;
    if (kind?.error) throw new RequestError(kind.error.code, kind.error.message);
    if (kind?.raw !== undefined) return kind.raw;
    const option = params.options.find((o) => o.kind === kind);
    return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
  }

  async readFile({ path: file, line, limit }) {
    this.need("files", file);
    this.used.push({ read: file });
    const text = this.offers.buffers?.[file] ?? (await readFile(file, "utf8").catch(() => undefined));
    if (text === undefined) throw RequestError.resourceNotFound(file);
    if (!line && !limit) return { content: text };
    const from = (line ?? 1) - 1;
    return { content: text.split("\n").slice(from, limit ? from + limit : undefined).join("\n") };
  }

  async writeFile({ path: file, content }) {
    this.need("files", file);
    this.used.push({ write: file, content });
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
    return {};
  }

  createTerminal(params) {
    this.need("terminals", params);
    this.used.push({ command: params.command, args: params.args, cwd: params.cwd });
    const id = `terminal-${this.used.length}`;
    this.terminals.set(id, new Terminal(params));
    return { terminalId: id };
  }

  terminal({ terminalId }) {
    const terminal = this.terminals.get(terminalId);
    if (!terminal) throw RequestError.resourceNotFound(terminalId);
    return terminal;
  }

  releaseTerminal(params) {
    this.terminal(params).kill();
    this.terminals.delete(params.terminalId);
    return {};
  }

  answer(params) {
    this.need("answer", params);
    this.questions.push(params);
    return this.offers.answer;
  }
}

class Terminal {
  constructor({ command, args = [], env = [], cwd }) {
    const variables = Object.fromEntries((env ?? []).map((v) => [v.name, v.value]));
    this.child = spawn(command, args ?? [], { cwd: cwd ?? undefined, env: { ...process.env, ...variables } });
    this.text = "";
    this.child.stdout.setEncoding("utf8").on("data", (text) => (this.text += text));
    this.child.stderr.setEncoding("utf8").on("data", (text) => (this.text += text));
    this.exitStatus = null;
    this.ended = once(this.child, "close").then(([exitCode, signal]) => (this.exitStatus = { exitCode, signal }));
  }

  output() {
    return { output: this.text, truncated: false, exitStatus: this.exitStatus };
  }

  kill() {
    this.child.kill("SIGKILL");
    return {};
  }
}
