import { execFileSync } from "node:child_process";
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

  const arrived: number[] = [];
  await using world = await disposable((_request, n) => {
    arrived.push(performance.now());
    if (n === READS) return { text: "Read." };
    return { calls: [{ id: `r${n}`, tool: "read_file", args: { path: `file-${n}.txt` } }] };
  });
  const editor = new Editor(world.world);
  const session = await editor.open();
  await editor.prompt(session, "Read the files.");
  const steps = arrived.slice(1).map((at, n) => at - (arrived[n] ?? at));
  report({
    name: `acp: a tool step from request to request, median of ${READS} reads in one turn`,
    value: median(steps),
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
