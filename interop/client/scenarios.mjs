// The scenarios. Each takes a Run, drives an agent and returns what it saw;
// judging that is up to the test that asked.
import { story } from "./connection.mjs";
import { methods } from "@agentclientprotocol/sdk";

const { session } = methods.agent;

export async function initialize(run) {
  const { initialized } = await run.start({ files: true, terminals: true });
  return initialized;
}

// text: one turn, nothing asked.
export async function text(run) {
  const client = await run.start();
  const { id, setup } = await client.newSession();
  return { id, setup, turn: await client.prompt(id, run.args.prompt) };
}

// permission: each prompt in turn in one session, answered with args.permit.
export async function permission(run) {
  const client = await run.start({ permit: run.args.permit });
  const { id } = await client.newSession();
  const turns = [];
  for (const prompt of run.args.prompts) turns.push(await client.prompt(id, prompt));
  return { turns, asked: client.hands.permissions };
}

// matrix: one session in which each prompt's request gets the answer of its
// place.
export async function matrix(run) {
  const client = await run.start({ permit: () => run.args.answers[client.hands.permissions.length - 1] });
  const { id } = await client.newSession();
  const turns = [];
  for (const prompt of run.args.prompts) turns.push(await client.prompt(id, prompt));
  return { turns, asked: client.hands.permissions };
}

// backwards: each prompt in a session of its own; when all ask, the last is
// answered first.
export async function backwards(run) {
  const waiting = [];
  let allAsk;
  const all = new Promise((resolve) => (allAsk = resolve));
  const client = await run.start({
    permit: (params) =>
      new Promise((resolve) => {
        waiting.push({ params, resolve });
        if (waiting.length === run.args.prompts.length) allAsk();
      }),
  });
  const sessions = [];
  for (const _ of run.args.prompts) sessions.push((await client.newSession()).id);
  const turns = run.args.prompts.map((prompt, i) => client.prompt(sessions[i], prompt));
  await all;
  for (const [i, id] of [...sessions.entries()].reverse()) {
    waiting.find((w) => w.params.sessionId === id).resolve(run.args.answers[i]);
  }
  return { turns: await Promise.all(turns), asked: waiting.map((w) => w.params) };
}

// late: a request is answered only after the turn that asked is over.
export async function late(run) {
  let answer;
  const client = await run.start({ permit: () => new Promise((resolve) => (answer = resolve)) });
  const { id } = await client.newSession();
  const turn = await client.prompt(id, run.args.prompt);
  answer("allow_once");
  return { turns: [turn, await client.prompt(id, run.args.next)], asked: client.hands.permissions };
}

// leave: the client closes while it is asked, and another one loads the session.
export async function leave(run) {
  let asked;
  const asking = new Promise((resolve) => (asked = resolve));
  const client = await run.start({
    permit: () => {
      asked();
      return new Promise(() => {});
    },
  });
  const { id } = await client.newSession();
  client.prompt(id, run.args.prompt).catch(() => {});
  await asking;
  await client.close();
  const other = await run.start();
  await other.load(id);
  return { turns: [story(other.updates.map((u) => u.update))], asked: other.hands.permissions };
}

// turns: each prompt in turn in one session; a turn that fails is told as such.
export async function turns(run) {
  const client = await run.start({ session: run.args.session });
  const { id } = await client.newSession();
  const results = [];
  for (const prompt of run.args.prompts) {
    results.push(await client.prompt(id, prompt).catch((error) => ({ failure: told(error) })));
  }
  return results;
}

// queue: several prompts at once in one session.
export async function queue(run) {
  const client = await run.start();
  const { id } = await client.newSession();
  return Promise.all(run.args.prompts.map((prompt) => client.prompt(id, prompt).catch((error) => ({ failure: told(error) }))));
}

// cancelPermission: the turn is cancelled while a permission is asked for, and
// the request answered as cancelled, as the protocol wants.
export async function cancelPermission(run) {
  const client = await run.start({
    permit: async ({ sessionId }) => {
      await client.cancel(sessionId);
      return "cancelled";
    },
  });
  const { id } = await client.newSession();
  const turn = await client.prompt(id, run.args.prompt);
  client.hands.offers.permit = "allow_once";
  return { turn, next: await client.prompt(id, run.args.next), asked: client.hands.permissions };
}

// cancel: the turn is cancelled as soon as the answer begins.
export async function cancel(run) {
  const client = await run.start();
  const { id } = await client.newSession();
  const begun = client.wire.seen((m) => m.params?.update?.sessionUpdate === "agent_message_chunk");
  const turn = client.prompt(id, run.args.prompt);
  await begun;
  await client.cancel(id);
  return { turn: await turn, next: await client.prompt(id, run.args.next) };
}

// cancelRequest: the request for the turn is cancelled, not the session's turn.
export async function cancelRequest(run) {
  const client = await run.start();
  const { id } = await client.newSession();
  const begun = client.wire.seen((m) => m.params?.update?.sessionUpdate === "agent_message_chunk");
  const turn = client.prompt(id, run.args.prompt);
  await begun;
  const { message } = run.report.transcript.findLast((m) => m.message.method === session.prompt);
  await client.agent.notify("$/cancel_request", { requestId: message.id });
  return { turn: await turn, next: await client.prompt(id, run.args.next) };
}

// cancelTool: the turn is cancelled while a tool runs.
export async function cancelTool(run) {
  const client = await run.start();
  const { id } = await client.newSession();
  const begun = client.wire.seen((m) => m.params?.update?.status === "in_progress");
  const turn = client.prompt(id, run.args.prompt);
  await begun;
  await client.cancel(id);
  return { turn: await turn, next: await client.prompt(id, run.args.next) };
}

// reload: what one process showed live, a second one replays, and goes on.
export async function reload(run) {
  const first = await run.start();
  const { id } = await first.newSession();
  const turns = [];
  for (const prompt of run.args.prompts) turns.push(await first.prompt(id, prompt));
  await first.close();

  const second = await run.start();
  const setup = await second.load(id);
  const replay = story(second.updates.map((u) => u.update));
  return { turns, replay, setup, next: await second.prompt(id, run.args.next) };
}

// resume: a second process goes on without a replay.
export async function resume(run) {
  const first = await run.start();
  const { id } = await first.newSession();
  await first.prompt(id, run.args.prompt);
  await first.close();

  const second = await run.start();
  const setup = await second.resume(id);
  return { setup, replay: story(second.updates.map((u) => u.update)), next: await second.prompt(id, run.args.next) };
}

// sessions: list, close and delete, each also where there is nothing to do.
export async function sessions(run) {
  const client = await run.start();
  const { cwd, prompt } = run.args;
  const kept = await client.newSession();
  const gone = await client.newSession();
  await client.prompt(kept.id, prompt);
  await client.prompt(gone.id, prompt);
  const ids = async (params) => (await client.agent.request(session.list, params)).sessions.map((s) => s.sessionId);
  const listed = (await client.agent.request(session.list, { cwd })).sessions;
  const elsewhere = await ids({ cwd: "/nowhere/at/all" });
  await client.agent.request(session.close, { sessionId: kept.id });
  const afterClose = await failure(client.prompt(kept.id, prompt));
  const listedClosed = await ids({ cwd });
  await client.load(kept.id);
  const afterLoad = await client.prompt(kept.id, prompt);
  await client.agent.request(session.delete, { sessionId: gone.id });
  await client.agent.request(session.delete, { sessionId: gone.id });
  const listedDeleted = await ids({});
  const loadDeleted = await failure(client.load(gone.id));
  return {
    kept: kept.id, gone: gone.id, cwd, listed, elsewhere, afterClose, listedClosed, afterLoad, listedDeleted, loadDeleted,
  };
}

// config: every choice of every option, then the mode by the older method.
export async function config(run) {
  const client = await run.start();
  const { id, setup } = await client.newSession();
  const answers = [];
  for (const option of setup.configOptions) {
    for (const value of values(option)) {
      const params = { sessionId: id, configId: option.id, value };
      const { configOptions } = await client.agent.request(session.setConfigOption, params);
      answers.push({ option: option.id, value, current: Object.fromEntries(configOptions.map((o) => [o.id, o.currentValue])) });
    }
  }
  for (const mode of setup.modes?.availableModes ?? []) {
    await client.agent.request(session.setMode, { sessionId: id, modeId: mode.id });
  }
  const badMode = await failure(client.agent.request(session.setMode, { sessionId: id, modeId: "no such mode" }));
  const badValue = await failure(
    client.agent.request(session.setConfigOption, { sessionId: id, configId: setup.configOptions[0].id, value: "no such value" }),
  );
  return { setup, answers, badMode, badValue, turn: await client.prompt(id, run.args.prompt) };
}

// modes: while a permission is open, the client changes the mode; then the
// session is loaded and resumed by other processes.
export async function modes(run) {
  const { prompt, next, answer } = run.args;
  let asked;
  const open = new Promise((resolve) => (asked = resolve));
  const first = await run.start({
    permit: (params) => {
      asked(params);
      return new Promise(() => {}); // the person answers by the mode
    },
  });
  const { id } = await first.newSession();
  const turn = first.prompt(id, prompt);
  await open;
  await first.agent.request(session.setMode, { sessionId: id, modeId: answer });
  const ended = await turn;
  await first.close();

  const second = await run.start();
  const loaded = await second.load(id);
  const after = await second.prompt(id, next);
  await second.close();
  const third = await run.start();
  return { turn: ended, told: first.updates.map((u) => u.update), asked: first.hands.permissions.length, loaded, after, resumed: await third.resume(id) };
}

function values(option) {
  return option.options.flatMap((o) => o.options ?? [o]).map((o) => o.value);
}

// files: the agent works on the editor's buffers.
export async function files(run) {
  const client = await run.start({ files: true, buffers: run.args.buffers });
  const { id } = await client.newSession();
  const turns = [];
  for (const prompt of run.args.prompts) turns.push(await client.prompt(id, prompt));
  return { turns, used: client.hands.used };
}

// terminals: the agent runs commands in the client's terminals.
export async function terminals(run) {
  const client = await run.start({ terminals: true });
  const { id } = await client.newSession();
  return { turn: await client.prompt(id, run.args.prompt), used: client.hands.used };
}

// question: the agent asks the person something.
export async function question(run) {
  const client = await run.start({ answer: run.args.answer });
  const { id } = await client.newSession();
  return { turn: await client.prompt(id, run.args.prompt), questions: client.hands.questions };
}

// errors: what a client does wrong, and how it is told.
export async function errors(run) {
  const client = await run.start();
  const { id } = await client.newSession();
  const request = (method, params) => failure(client.agent.request(method, params));
  const failures = {
    unknownPrompt: await request(session.prompt, { sessionId: "unknown", prompt: [{ type: "text", text: "hi" }] }),
    unknownLoad: await request(session.load, { sessionId: "unknown", cwd: run.args.cwd, mcpServers: [] }),
    traversal: await request(session.load, { sessionId: "../../etc/passwd", cwd: run.args.cwd, mcpServers: [] }),
    relativeCwd: await request(session.new, { cwd: "relative/dir", mcpServers: [] }),
    missingCwd: await request(session.new, { cwd: "/no/such/dir", mcpServers: [] }),
    noBlocks: await request(session.prompt, { sessionId: id, prompt: [] }),
    unknownMethod: await request("session/no_such_method", {}),
    extension: await request("_someone/else", {}),
    cursor: await request(session.list, { cursor: "no such cursor" }),
  };
  return { failures, turn: await client.prompt(id, run.args.prompt) };
}

// beyond: what only the unstable schema has.
export async function beyond(run) {
  const client = await run.start();
  const { cwd, prompt } = run.args;
  const { id } = await client.newSession();
  await client.prompt(id, prompt);
  const ask = (method, params) => client.agent.request(method, { sessionId: id, ...params });
  const listed = async (params) => (await client.agent.request(session.list, params)).sessions.map((s) => s.sessionId);

  const fork = await ask("session/fork", { cwd, mcpServers: [] });
  const forked = await client.prompt(fork.sessionId, prompt);
  const title = await ask("session/set_title", { title: "A better name" });
  const status = [await ask("session/status", {})];
  await ask("session/archive", {});
  status.push(await ask("session/status", {}));
  const archived = { listed: await listed({}), only: await listed({ archived: "only" }) };
  await ask("session/unarchive", {});
  return { id, fork: fork.sessionId, forked, title, status, archived, listed: await listed({}) };
}

// login: out and in again.
export async function login(run) {
  const client = await run.start();
  const { id } = await client.newSession();
  await client.agent.request(methods.agent.logout, {});
  const refused = await failure(client.prompt(id, run.args.prompt));
  const [method] = client.initialized.authMethods;
  await client.agent.request(methods.agent.authenticate, { methodId: method.id });
  const unknown = await failure(client.agent.request(methods.agent.authenticate, { methodId: "unknown" }));
  return { refused, unknown, turn: await client.prompt(id, run.args.prompt) };
}

async function failure(promise) {
  try {
    return { result: await promise };
  } catch (error) {
    return told(error);
  }
}

function told({ code, message, data }) {
  return { code, message, data };
}
