/**
 * How long a card takes for changes of several sizes and kinds, the worst ones of 256 KiB among
 * them, and the longest stretch for which the event loop was held meanwhile. Beside it, on the
 * same bytes, `git diff --no-index`, which starts a process and may think as long as it likes.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { makeCard } from "../src/core/gate/card.js";
import type { PreparedWrite } from "../src/core/gate/prepared.js";
import { WRITE_BYTES } from "../src/core/limits.js";
import { digest } from "../src/core/workspace/digest.js";
import { median, type Report } from "./support/measure.js";

/** Each figure is the median of so many. */
const TIMES = 7;

/** As many whole lines (or pieces of one) as make a file of `size` bytes. */
function file(size: number, line: (index: number) => string): Buffer {
  const parts: string[] = [];
  for (let length = 0, index = 0; length < size; index += 1) {
    const next = line(index);
    parts.push(next);
    length += Buffer.byteLength(next);
  }
  return Buffer.from(parts.join("")).subarray(0, size);
}

function changes(size: number): [string, Buffer | null, Buffer][] {
  let state = 7;
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 15) % below;
  };
  const code = file(size, (i) => `  const value${i} = compute(${i * 7919});\n`);
  const numbered = file(size, (i) => `${i}\n`);
  const reversed = Buffer.from(numbered.toString().split("\n").reverse().join("\n"));
  const edited = Buffer.from(code.toString().replaceAll(/^.*value\d*00 .*$/gm, "  // gone"));
  return [
    ["a few edits in code", code, edited.subarray(0, size)],
    ["a new file", null, code],
    ["every line changed", file(size, (i) => `a${i}\n`), file(size, (i) => `b${i}\n`)],
    [
      "every other line changed",
      file(size, (i) => `line ${i}\n`),
      file(size, (i) => (i % 2 === 0 ? `LINE ${i}\n` : `line ${i}\n`)),
    ],
    ["lines in the reverse order", numbered, reversed],
    [
      "2 kinds of lines at random",
      file(size, () => `${random(2)}\n`),
      file(size, () => `${random(2)}\n`),
    ],
    [
      "40 kinds of lines at random",
      file(size, () => `${random(40)}\n`),
      file(size, () => `${random(40)}\n`),
    ],
    [
      "every LF made CRLF",
      numbered,
      Buffer.from(numbered.toString().replaceAll("\n", "\r\n")).subarray(0, size),
    ],
    ["empty lines made empty CRLF lines", file(size, () => "\n"), file(size, () => "\r\n")],
    ["one line", file(size, () => "ab"), file(size, () => "cd")],
    ["one line of controls", file(size, () => "\x01\x02"), file(size, () => "\x02\x03")],
    [
      "bytes that are no UTF-8",
      Buffer.alloc(size, Buffer.from([0x80, 0x81])),
      Buffer.alloc(size, Buffer.from([0x82, 0x83])),
    ],
  ];
}

async function once(prepared: PreparedWrite): Promise<{ ms: number; held: number }> {
  const held = monitorEventLoopDelay({ resolution: 1 });
  held.enable();
  // The first samples are the monitor's own start.
  await delay(5);
  held.reset();
  const start = performance.now();
  await makeCard({ unsaved: () => new Set() }, prepared, { card: "k", call: "c", turn: "t" });
  const ms = performance.now() - start;
  await delay(2);
  held.disable();
  return { ms, held: held.max / 1e6 };
}

/** `git diff` of the same bytes in milliseconds, or undefined where there is no git. */
async function git(folder: string, before: Buffer, after: Buffer): Promise<number | undefined> {
  const [old, now] = [join(folder, "before"), join(folder, "after")];
  await writeFile(old, before);
  await writeFile(now, after);
  const times: number[] = [];
  for (let time = 0; time < 3; time += 1) {
    const start = performance.now();
    try {
      await promisify(execFile)("git", ["diff", "--no-index", "--text", old, now], {
        maxBuffer: 64 << 20,
      });
    } catch (error) {
      // It exits with 1 where the files differ.
      if ((error as { code?: unknown }).code !== 1) return undefined;
    }
    times.push(performance.now() - start);
  }
  return median(times);
}

export default async function bench(report: Report): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  try {
    for (const size of [4 * 1024, 64 * 1024, WRITE_BYTES]) {
      for (const [kind, bytes, after] of changes(size)) {
        const links = bytes === null ? 0 : 1;
        const mode = bytes === null ? null : 0o644;
        const before = { bytes, digest: bytes === null ? null : digest(bytes), mode, links };
        const path = { kind: "inside", given: "a", real: "/ws/a", relative: "a" } as const;
        const prepared: PreparedWrite = { kind: "write", tool: "write_file", path, before, after };
        const runs: { ms: number; held: number }[] = [];
        for (let time = 0; time < TIMES; time += 1) runs.push(await once(prepared));
        const value = median(runs.map((run) => run.ms));
        const name = `card, ${size / 1024} KiB, ${kind}`;
        const peerValue = await git(folder, bytes ?? Buffer.alloc(0), after);
        const peer = peerValue === undefined ? {} : { peer: "git diff --no-index", peerValue };
        report({ name, value, unit: "ms", ...peer, limit: 100 });
        const held = median(runs.map((run) => run.held));
        report({ name: `${name}, event loop held`, value: held, unit: "ms", limit: 50 });
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
