// A strict client on the TypeScript SDK, for tests. It runs scenarios against
// an agent, one after another, and prints a line of JSON for each:
//
//   node client.mjs '[{"scenario": "text", "agent": ["grapnel", "acp"], "cwd": "/some/dir", "prompt": "hello"}]'
//
// A report has results (what the scenario found), violations (what the agent
// did that the protocol forbids), transcript, stderr and, if the scenario
// broke off, error.
import { Judge } from "./schema.mjs";
import { Connection } from "./connection.mjs";
import * as scenarios from "./scenarios.mjs";

// Run is one scenario under way: its arguments and the agents it started.
class Run {
  constructor(args, judge) {
    this.args = args;
    this.judge = judge;
    this.report = { scenario: args.scenario, results: null, violations: [], transcript: [], stderr: "" };
    this.connections = [];
  }

  // start runs the agent and initializes it with what hands offers.
  async start(hands = {}) {
    const connection = new Connection(this, hands);
    this.connections.push(connection);
    await connection.initialize();
    return connection;
  }

  async play() {
    const scenario = scenarios[this.args.scenario];
    if (!scenario) throw new Error(`there is no scenario ${this.args.scenario}`);
    this.report.results = await scenario(this);
    for (const connection of this.connections) await connection.close();
  }

  abandon(error) {
    this.report.error = { message: error?.message ?? String(error), code: error?.code, data: error?.data };
    for (const connection of this.connections) connection.wire.kill();
  }
}

// play runs a scenario within its time and returns its report.
async function play(args, judge) {
  const run = new Run(args, judge);
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("the scenario takes too long")), args.timeout ?? 30000);
  });
  try {
    await Promise.race([run.play(), limit]);
  } catch (error) {
    run.abandon(error);
  }
  clearTimeout(timer);
  for (const { wire } of run.connections) await wire.judgeAll();
  return run.report;
}

const judge = await Judge.open();
for (const args of JSON.parse(process.argv[2])) {
  process.stdout.write(JSON.stringify(await play(args, judge)) + "\n");
}
