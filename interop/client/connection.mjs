// One connection to an agent: the SDK's client with the client's side of the
// protocol behind it.
import * as acp from "@agentclientprotocol/sdk";
import { Hands } from "./hands.mjs";
import { Remote } from "./remote.mjs";
import { Wire } from "./wire.mjs";

const { agent: calls, client: served } = acp.methods;

export class Connection {
  constructor(run, offers) {
    this.run = run;
    const given = { ...run.args, judge: run.judge, report: run.report };
    this.wire = run.args.url ? new Remote(run.args.transport, given) : new Wire(run.args.agent, given);
    this.hands = new Hands(this, offers);
    this.updates = []; // every update, in order of arrival
    this.wire.listeners.add((message) => {
      if (message.method === "session/update") this.updates.push(message.params);
    });
    this.connection = this.app().connect(this.wire.stream());
    this.agent = this.connection.agent;
  }

  app() {
    const hands = this.hands;
    return acp
      .client({ name: "interop" })
      .onRequest(served.session.requestPermission, ({ params }) => hands.permit(params))
      .onRequest(served.fs.readTextFile, ({ params }) => hands.readFile(params))
      .onRequest(served.fs.writeTextFile, ({ params }) => hands.writeFile(params))
      .onRequest(served.terminal.create, ({ params }) => hands.createTerminal(params))
      .onRequest(served.terminal.output, ({ params }) => hands.terminal(params).output())
      .onRequest(served.terminal.waitForExit, ({ params }) => hands.terminal(params).ended)
      .onRequest(served.terminal.kill, ({ params }) => hands.terminal(params).kill())
      .onRequest(served.terminal.release, ({ params }) => hands.releaseTerminal(params))
      .onRequest(served.elicitation.create, ({ params }) => hands.answer(params))
      .onNotification(served.elicitation.complete, () => {})
      .onNotification(served.session.update, () => {});
  }

  async initialize() {
    this.initialized = await this.agent.request(calls.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: this.hands.capabilities(),
      clientInfo: { name: "interop", version: "1" },
    });
  }

  // open starts a session, loads one or resumes one.
  async newSession(cwd = this.run.args.cwd) {
    const setup = await this.agent.request(calls.session.new, { cwd, mcpServers: [] });
    return { id: setup.sessionId, setup };
  }

  async load(id) {
    const setup = await this.agent.request(calls.session.load, { sessionId: id, cwd: this.run.args.cwd, mcpServers: [] });
    await this.wire.settle(() => this.agent.request(calls.session.setMode, { sessionId: id, modeId: "no such mode" }).catch(() => {}));
    return setup;
  }

  resume(id) {
    return this.agent.request(calls.session.resume, { sessionId: id, cwd: this.run.args.cwd, mcpServers: [] });
  }

  // prompt runs a turn and resolves with what it showed.
  async prompt(id, text) {
    const before = this.updates.length;
    const prompt = [{ type: "text", text }];
    const { stopReason } = await this.agent.request(calls.session.prompt, { sessionId: id, prompt });
    const updates = this.updates.slice(before).filter((u) => u.sessionId === id).map((u) => u.update);
    return { stopReason, ...story(updates) };
  }

  cancel(id) {
    return this.agent.notify(calls.session.cancel, { sessionId: id });
  }

  // close ends the connection as a client does that has finished.
  async close() {
    if (this.closed) return;
    this.closed = true;
    await this.wire.close();
    if (this.hands.terminals.size > 0) this.wire.violation("terminals were not released", [...this.hands.terminals.keys()]);
  }
}

// story folds updates into what a person would have seen.
export function story(updates) {
  const seen = { text: "", thought: "", user: "", tools: [], kinds: [], messageIds: [] };
  const tools = new Map();
  for (const update of updates) {
    seen.kinds.push(update.sessionUpdate);
    if (update.messageId) seen.messageIds.push(update.messageId);
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        seen.text += update.content.text ?? "";
        break;
      case "agent_thought_chunk":
        seen.thought += update.content.text ?? "";
        break;
      case "user_message_chunk":
        seen.user += update.content.text ?? "";
        break;
      case "tool_call":
      case "tool_call_update":
        fold(tools, update);
    }
  }
  seen.kinds = [...new Set(seen.kinds)];
  seen.messageIds = [...new Set(seen.messageIds)];
  seen.tools = [...tools.values()];
  return seen;
}

function fold(tools, { sessionUpdate, _meta, ...changes }) {
  const call = tools.get(changes.toolCallId) ?? { statuses: [] };
  for (const [key, value] of Object.entries(changes)) {
    if (value !== null) call[key] = value;
  }
  if (changes.status) call.statuses.push(changes.status);
  tools.set(changes.toolCallId, call);
}
