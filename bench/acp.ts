import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Editor, makeWorld, type World } from "../test/acp/support/agent.js";

/** One line of the report; `ratio` is ours to the peer's. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly peer?: string;
  readonly peerValue?: number;
  readonly ratio?: number;
  readonly goal?: string;
}

const STARTS = 9;
const READS = 20;

/**
 * The built agent on stdio (`npm run build` first): how long it takes to start, what a tool step
 * costs beside the model, its memory, and the size of the first request.
 */
export default async function bench(report: (row: Row) => void): Promise<void> {
  const starts: number[] = [];
  for (let n = 0; n < STARTS; n++) {
    await using world = await disposable([]);
    const began = performance.now();
    const editor = new Editor(world.world);
    await editor.initialize();
    starts.push(performance.now() - began);
    await editor.close();
  }
  report({
    name: `acp: process start to initialize, median of ${STARTS}`,
    value: median(starts),
    unit: "ms",
    goal: "< 400 ms",
  });

  let arrived: number[] = [];
  await using world = await disposable((_request, n) => {
    arrived.push(performance.now());
    if (n >= READS) return { text: "Read." };
    return { calls: [{ id: `r${n}`, tool: "read_file", args: { path: `file-${n}.txt` } }] };
  });
  const editor = new Editor(world.world);
  const session = await editor.open();
  await editor.prompt(session, "Read the files.");
  const step = median(gaps(arrived));
  const { model } = world.world;
  arrived = [];
  await postAll(
    `${model.url}/chat/completions`,
    model.requests.map((request) => request.raw),
  );
  const bare = median(gaps(arrived));
  report({
    name: `acp: a tool step from request to request, median of ${READS} reads in one turn`,
    value: step,
    unit: "ms",
    peer: "the same requests by a bare fetch loop",
    peerValue: bare,
    ratio: step / bare,
  });
  report({
    name: "acp: the step's own cost, over the bare requests",
    value: step - bare,
    unit: "ms",
    goal: "< 5 ms",
  });
  report({
    name: `acp: resident memory after ${READS} reads`,
    value: residentMiB(editor.child.pid ?? 0),
    unit: "MiB",
    goal: "< 120 MiB",
  });
  report({
    name: "acp: first request to the model",
    value: Buffer.byteLength(world.world.model.requests[0]?.raw ?? "") / 1000,
    unit: "kB",
    goal: "< 14 kB",
  });
  await editor.close();
}

async function disposable(
  script: Parameters<typeof makeWorld>[0],
): Promise<{ world: World } & AsyncDisposable> {
  const files = Object.fromEntries(
    Array.from({ length: READS }, (_, n) => [`file-${n}.txt`, `${"some words ".repeat(400)}\n`]),
  );
  const world = await makeWorld(script, files);
  return { world, [Symbol.asyncDispose]: () => world.dispose() };
}

/** Posts the same bodies one after the other from a process that does nothing else. */
async function postAll(url: string, bodies: readonly string[]): Promise<void> {
  const program = `
    let text = "";
    process.stdin.setEncoding("utf8").on("data", (data) => { text += data; }).on("end", async () => {
      for (const body of JSON.parse(text)) {
        const headers = { "content-type": "application/json" };
        await (await fetch(${JSON.stringify(url)}, { method: "POST", headers, body })).text();
      }
    });`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "ignore", "inherit"] });
  child.stdin.end(JSON.stringify(bodies));
  await new Promise((resolve) => child.once("exit", resolve));
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((at, n) => at - (times[n] ?? at));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** Resident memory of a process, in MiB; on Linux from /proc, else from ps. */
function residentMiB(pid: number): number {
  if (process.platform === "linux") {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  }
  return Number(execFileSync("ps", ["-o", "rss=", "-p", `${pid}`], { encoding: "utf8" })) / 1024;
}
