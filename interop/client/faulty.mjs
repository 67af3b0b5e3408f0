// An agent that breaks a rule with every message, to test the client with.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");
const result = (id, value) => send({ jsonrpc: "2.0", id, result: value });
const update = (value) => send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: value } });

const faults = {
  initialize: (id) => result(id, { protocolVersion: 1, agentCapabilities: { loadSession: "yes" } }),
  "session/new": (id) => {
    process.stdout.write("Welcome!\n");
    result(id, { sessionId: "s", modes: { currentModeId: 5 } });
  },
  "session/prompt": (id) => {
    update({ sessionUpdate: "no_such_update" });
    update({ sessionUpdate: "usage_update", used: 1.5, size: 10 });
    send({ jsonrpc: "2.0", method: "session/no_such_notification", params: {} });
    send({ jsonrpc: "2.0", id: 0, method: "fs/read_text_file", params: { sessionId: "s", path: "/etc/hosts" } });
    send({ jsonrpc: "1.0", id: 900, result: {} });
    result(id, { stopReason: "end_turn" });
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method) faults[method]?.(id);
}
process.exitCode = 3;
