import { spawn } from "node:child_process";
import { startScriptedModel } from "../test/support/scriptedModel.js";
import { type AgentUnderTest, type Costs, measureAgent } from "./support/agents.js";
import { median, type Report } from "./support/measure.js";
import { countersign, peerAgents } from "./support/peers.js";

const READS = 20;
/** Runs of each agent, in turns. */
const RUNS = 3;

/** The medians of several runs. */
interface Result extends Omit<Costs, "steps" | "requests"> {
  readonly name: string;
  readonly step: number;
  readonly firstRequest: number;
}

/**
 * The packaged agent on stdio beside other agents: each is told by the same scripted model to
 * read 20 files in one turn. `npm run bench -- acp --peers` installs the others.
 */
export default async function bench(report: Report): Promise<void> {
  const agents = [countersign, ...(await peerAgents())];
  const runs = new Map<AgentUnderTest, Costs[]>(agents.map((agent) => [agent, []]));
  const bare: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    for (const agent of agents) {
      const costs = await measureAgent(agent, READS);
      runs.get(agent)?.push(costs);
      if (agent === countersign) bare.push(median(await postAll(costs.requests)));
    }
  }
  const results = agents.map((agent) => result(agent.name, runs.get(agent) ?? []));
  const [ours, ...others] = results;
  if (ours === undefined) return;
  const best = (of: (one: Result) => number) => {
    const [first] = [...others].sort((a, b) => of(a) - of(b));
    return first === undefined ? {} : { peer: first.name, peerValue: of(first) };
  };
  const { peerValue = Number.NaN } = best((one) => one.step);
  report({
    name: `a tool step, median of ${READS} reads in a turn`,
    value: ours.step,
    unit: "ms",
    ...best((one) => one.step),
    ...(Number.isNaN(peerValue) ? {} : { limit: peerValue / 7 }),
    note: `the goal is a seventh of the peer's. ${median(bare).toFixed(2)} ms of ours are the same requests, with nothing else done; a profile (\`node --cpu-prof\`) of the rest is flat: HTTP by \`fetch\`, the client's messages on stdio, schemas, the checked read, the log.`,
  });
  report({
    name: "the step's own cost, over the same requests by a bare loop",
    value: ours.step - median(bare),
    unit: "ms",
    limit: 5,
  });
  report({
    name: "processor time of a step, whole process tree",
    value: ours.processor,
    unit: "ms",
    ...best((one) => one.processor),
    note: "the first reads of a process, most of it code that runs for the first time; the clock of the kernel has steps of 10 ms, so it is an average over the reads.",
  });
  report({
    name: "process start to `initialize`",
    value: ours.start,
    unit: "ms",
    ...best((one) => one.start),
    limit: 400,
  });
  report({
    name: "memory of the process tree",
    value: ours.memory,
    unit: "MiB",
    ...best((one) => one.memory),
    limit: 120,
  });
  report({
    name: "first request",
    value: ours.firstRequest,
    unit: "kB",
    ...best((one) => one.firstRequest),
    limit: 14,
  });
}

function result(name: string, runs: readonly Costs[]): Result {
  const of = (value: (costs: Costs) => number): number => median(runs.map(value));
  return {
    name,
    start: of(({ start }) => start),
    step: of(({ steps }) => median(steps)),
    memory: of(({ memory }) => memory),
    processor: of(({ processor }) => processor),
    firstRequest: of(({ requests }) => Buffer.byteLength(requests[0] ?? "") / 1000),
  };
}

/** Posts the same bodies one after the other from a process that does nothing else; the times between. */
async function postAll(bodies: readonly string[]): Promise<number[]> {
  const arrived: number[] = [];
  const model = await startScriptedModel((_request, n) => {
    arrived.push(performance.now());
    return { calls: [{ id: `call_${n}`, tool: "read_file", args: { path: `file-${n}.txt` } }] };
  });
  const program = `
    const http = require("node:http");
    const post = (body) => new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const options = { method: "POST", headers };
      const request = http.request(${JSON.stringify(`${model.url}/chat/completions`)}, options, (answer) => {
        answer.resume().on("end", resolve);
      });
      request.on("error", reject);
      request.end(body);
    });
    let text = "";
    process.stdin.setEncoding("utf8").on("data", (data) => { text += data; }).on("end", async () => {
      for (const body of JSON.parse(text)) await post(body);
      process.exit();
    });`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "ignore", "inherit"] });
  child.stdin.end(JSON.stringify(bodies));
  await new Promise((resolve) => child.once("exit", resolve));
  await model.close();
  return arrived.slice(1).map((at, n) => at - (arrived[n] ?? at));
}
