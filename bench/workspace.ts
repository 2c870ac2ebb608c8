import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, open, realpath, rm, truncate, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { WRITE_BYTES } from "../src/core/limits.js";
import { digest } from "../src/core/workspace/digest.js";
import { cleanEnvironment } from "../src/core/workspace/environment.js";
import { issuePermit, type Permit } from "../src/core/workspace/permit.js";
import { readSnapshot, readWindow } from "../src/core/workspace/read.js";
import { resolvePath } from "../src/core/workspace/resolve.js";
import { findRipgrep } from "../src/core/workspace/ripgrep.js";
import { type SearchOptions, searchFiles } from "../src/core/workspace/search.js";
import {
  FileChanged,
  type Snapshot,
  ToolError,
  type Workspace,
} from "../src/core/workspace/types.js";
import { openWorkspace } from "../src/core/workspace/workspace.js";
import { writeBytes } from "../src/core/workspace/write.js";
import { inTurns, type Report } from "./support/measure.js";
import { installed, packageFolder } from "./support/peers.js";

const FILES = 20_000;
const TIMES = 9;
const GIB = 1024 ** 3;

async function readPermit(workspace: Workspace, given: string): Promise<Permit<"read">> {
  const found = await resolvePath(workspace, given);
  if (found.kind === "refused") throw new Error(found.reason);
  return issuePermit<"read">({ kind: "read", call: "bench", path: found });
}

/** 20,000 files in 200 directories; "common" is in each, "rare" in 40, "absent" in none. */
async function plantFiles(root: string): Promise<void> {
  const body = "const value = compute(input) + offset; // an ordinary line of a program\n".repeat(
    30,
  );
  for (let dir = 0; dir < 200; dir++) {
    await mkdir(path.join(root, `dir${dir}`));
    const files = Array.from({ length: FILES / 200 }, (_, n) => {
      const rare = dir % 50 === 0 && n < 10 ? "a rare line\n" : "";
      return writeFile(
        path.join(root, `dir${dir}`, `file${n}.ts`),
        `${body}common\n${rare}${body}`,
      );
    });
    await Promise.all(files);
  }
}

/** ripgrep by itself, its output read and thrown away. */
async function plainRipgrep(program: string, root: string, pattern: string): Promise<void> {
  const child = spawn(program, ["--no-config", "--line-number", "-e", pattern, "--", "."], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  child.stdout.resume();
  await once(child, "close");
}

async function grepRows(workspace: Workspace, program: string, report: Report): Promise<void> {
  const signal = new AbortController().signal;
  const search = async (options: SearchOptions) => {
    const result = await searchFiles(await readPermit(workspace, "."), workspace, options, {
      signal,
    });
    if (!("ok" in result) || !result.ok) throw new Error(JSON.stringify(result));
  };
  for (const [pattern, what] of [
    ["absent", "no match"],
    ["rare", "40 matches"],
    ["common", `${FILES} matches, ended at 200`],
  ] as const) {
    await search({ pattern });
    const [value, peerValue] = await inTurns(
      TIMES,
      () => search({ pattern }),
      () => plainRipgrep(program, workspace.realRoot, pattern),
    );
    report({
      name: `grep in ${FILES} files, ${what}`,
      value,
      unit: "ms",
      peer: "rg",
      peerValue,
      limit: peerValue * 1.25 + 10,
    });
  }
}

async function readRows(workspace: Workspace, report: Report): Promise<void> {
  const size = 10 * GIB;
  const file = path.join(workspace.realRoot, "big");
  await writeFile(file, "a line at the beginning\n".repeat(2000));
  await truncate(file, size - 40_000);
  const handle = await open(file, "a");
  await handle.write("a line at the end of the file, of 40 B\n\n".repeat(1000));
  await handle.close();
  const pages = [
    ["first page by offset", { offset: 0 }],
    ["first page by line", { line: 1 }],
    ["last page by offset", { offset: size - 32 * 1024 }],
    ["a page in the middle by offset", { offset: size / 2 }],
  ] as const;
  const page = 32 * 1024;
  for (const [what, from] of pages) {
    const at = "offset" in from ? Math.floor(from.offset / page) : 0;
    const dd = [`if=${file}`, `bs=${page}`, `skip=${at}`, "count=1"];
    const [value, peerValue] = await inTurns(
      20,
      async () => {
        const permit = await readPermit(workspace, "big");
        const result = await readWindow(permit, workspace, from);
        if (!("ok" in result) || result.text.length < 30_000) throw new Error("not read");
      },
      () => promisify(execFile)("dd", dd, { encoding: "buffer", maxBuffer: 2 * page }),
    );
    report({
      name: `read_file of 10 GiB, ${what}`,
      value,
      unit: "ms",
      peer: "dd of the same page, its start included",
      peerValue,
      limit: 5,
    });
  }
}

type WriteFileAtomic = (file: string, data: Buffer) => Promise<void>;

/** A write from its permit to the flushed directory, beside the package that does the same elsewhere. */
async function writeRows(workspace: Workspace, report: Report): Promise<void> {
  const version = await installed("write-file-atomic");
  const peer = version === undefined ? undefined : `write-file-atomic ${version}`;
  const load = createRequire(import.meta.url);
  const theirs: WriteFileAtomic | undefined =
    peer === undefined ? undefined : load(packageFolder("write-file-atomic"));
  for (const size of [4 * 1024, 256 * 1024]) {
    const bytes = Buffer.alloc(size, "text\n");
    const found = await resolvePath(workspace, `written-${size}`);
    if (found.kind === "refused") throw new Error(found.reason);
    await writeFile(found.real, "before\n");
    const write = async () => {
      const { digest: before } = snapshotOf(await readSnapshot(workspace, found, WRITE_BYTES));
      const permit = issuePermit<"write">({
        kind: "write",
        call: "bench",
        path: found,
        before,
        after: digest(bytes),
        mark: randomBytes(8).toString("hex"),
      });
      const written = await writeBytes(workspace, permit, bytes);
      if (written instanceof ToolError || written instanceof FileChanged) throw written;
    };
    const other = `${found.real}-other`;
    const [value, peerValue] = await inTurns(15, write, async () => theirs?.(other, bytes));
    report({
      name: `a write of ${size / 1024} KiB, its digest checked twice, file and directory flushed`,
      value,
      unit: "ms",
      ...(peer === undefined ? {} : { peer: `${peer}, which flushes the file alone`, peerValue }),
    });
  }
}

function snapshotOf(read: Snapshot | ToolError): Snapshot {
  if (read instanceof ToolError) throw read;
  return read;
}

/** A program of its own, so that its memory is that of a command alone: bundled, without a loader. */
const MEASURED = `
import { runCommand } from "./src/core/workspace/command.ts";
import { issuePermit } from "./src/core/workspace/permit.ts";
const root = process.cwd();
const workspace = { root, realRoot: root, env: process.env, unsaved: () => new Set(), ripgrep: async () => "" };
const argv = ["sh", "-c", "yes 0123456789abcdef0123456789abcdef | head -c " + process.argv[2]];
const permit = issuePermit({ kind: "run", call: "bench", argv, timeout: 120 });
const began = performance.now();
const result = await runCommand(workspace, permit, { signal: new AbortController().signal, onOutput: () => {} });
if (!result.ok) throw new Error(JSON.stringify(result));
console.log(JSON.stringify({ ms: performance.now() - began, mib: process.resourceUsage().maxRSS / 1024 }));
`;

async function commandRows(folder: string, report: Report): Promise<void> {
  const program = path.join(folder, "measured.mjs");
  await build({
    stdin: { contents: MEASURED, resolveDir: path.resolve(import.meta.dirname, "..") },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: program,
    logLevel: "error",
  });
  const measure = async (bytes: number): Promise<{ ms: number; mib: number }> => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, String(bytes)], {
      cwd: folder,
    });
    return JSON.parse(stdout) as { ms: number; mib: number };
  };
  const none = await measure(0);
  const flood = await measure(200_000_000);
  report({
    name: "run, 200 MB of output, memory of the whole process",
    value: flood.mib,
    unit: "MiB",
    peer: "no output",
    peerValue: none.mib,
    limit: 120,
  });
  report({ name: "run, 200 MB of output, time", value: flood.ms, unit: "ms" });
  report({ name: "run, no output, time", value: none.ms, unit: "ms" });
}

/** Search, reading and commands on real files: beside ripgrep itself, in a 10 GiB file, under a flood. */
export default async function bench(report: Report): Promise<void> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "countersign-bench-")));
  try {
    const program = await findRipgrep({ packaged: import.meta.dirname });
    if (program instanceof ToolError) throw new Error(program.message);
    const make = async (name: string) => {
      await mkdir(path.join(folder, name));
      return openWorkspace({
        root: path.join(folder, name),
        ripgrep: async () => program,
        env: cleanEnvironment(process.env),
        unsaved: () => new Set(),
      });
    };
    const many = await make("many");
    await plantFiles(many.realRoot);
    await grepRows(many, program, report);
    await readRows(await make("large"), report);
    await writeRows(await make("written"), report);
    await commandRows(folder, report);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
