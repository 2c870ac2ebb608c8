import { type FileHandle, lstat, realpath } from "node:fs/promises";
import path from "node:path";
import { GREP_MATCHES, GREP_TIMEOUT_MS } from "../limits.js";
import { codeOf, nameOf } from "./faults.js";
import type { Hit } from "./hits.js";
import { isWithin } from "./names.js";
import { heldPath, isAt, type Moments, openChecked } from "./open.js";
import type { Permit } from "./permit.js";
import { type Found, ripgrepArguments, type SearchOptions, searchUntil } from "./ripgrepRun.js";
import { showLine, showNameBytes } from "./show.js";
import {
  FileChanged,
  type LocatedPath,
  ToolError,
  type ToolResult,
  type Workspace,
} from "./types.js";

export type { SearchOptions } from "./ripgrepRun.js";

/** Paths named that could not be read. */
const COMPLAINTS = 20;

/** What is searched, held open so that it stays what was resolved while ripgrep runs. */
interface Target {
  readonly handle: FileHandle;
  readonly kind: "file" | "directory";
}

async function openTarget(
  workspace: Workspace,
  where: LocatedPath,
  moments: Moments,
): Promise<Target | ToolError | FileChanged> {
  const stats = await lstat(where.real).catch(() => undefined);
  const kind = stats?.isDirectory() === true ? "directory" : "file";
  const opened = await openChecked(workspace, where, kind, moments);
  if (opened.kind === "open") return { handle: opened.handle, kind };
  if (opened.kind === "moved") return new FileChanged(where.real);
  if (opened.kind === "failed") return opened.error;
  return new ToolError(`${nameOf(where)} is not there; list_dir shows what is.`);
}

/** How ripgrep reaches what is held: by the open file itself where the platform has a path for it. */
function reach(target: Target, where: LocatedPath): { cwd: string; argument: string } {
  // In ripgrep's process "self" would be ripgrep: the path names this process.
  const held = heldPath(target.handle)?.replace("/proc/self/", `/proc/${process.pid}/`);
  if (target.kind === "directory") return { cwd: held ?? where.real, argument: "." };
  return { cwd: path.dirname(where.real), argument: held ?? `./${path.basename(where.real)}` };
}

/** The hit's path below what was searched, in bytes, without the "./" that ripgrep puts before it. */
function below(hit: Hit): Buffer {
  const dotted = hit.path[0] === 0x2e && (hit.path[1] === 0x2f || hit.path[1] === 0x5c);
  return dotted ? hit.path.subarray(2) : hit.path;
}

/** The hits with the path each is shown under; those whose file leads out of what was searched are dropped. */
async function shownHits(
  hits: readonly Hit[],
  target: Target,
  where: LocatedPath,
): Promise<string[]> {
  const prefix = where.kind === "inside" ? where.relative : where.real;
  const inside = new Map<string, Promise<boolean>>();
  const stays = (name: Buffer) => {
    const key = name.toString("latin1");
    let answer = inside.get(key);
    if (answer === undefined) {
      // A directory that became a link while ripgrep walked would have been followed.
      answer = realpath(Buffer.concat([Buffer.from(where.real + path.sep), name]))
        .then((real) => isWithin(where.real, real, process.platform))
        .catch(() => false);
      inside.set(key, answer);
    }
    return answer;
  };
  const shown = await Promise.all(
    hits.map(async (hit) => {
      if (target.kind === "file") return { name: Buffer.from(prefix), hit };
      const name = below(hit);
      if (!(await stays(name))) return undefined;
      const parts =
        prefix === "." ? [name] : [Buffer.from(`${prefix}/`.replace(/\/\/$/, "/")), name];
      return { name: Buffer.concat(parts), hit };
    }),
  );
  return shown
    .filter((line) => line !== undefined)
    .sort((a, b) => Buffer.compare(a.name, b.name) || (a.hit.line ?? 0) - (b.hit.line ?? 0))
    .map(({ name, hit }) => `${showNameBytes(name)}:${hit.line ?? "?"}:${hit.text}`);
}

function complaintLines(complaints: string, more: string): string[] {
  const lines = complaints.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return [];
  const shown = lines
    .slice(0, COMPLAINTS)
    .map((line) => showLine(line.replace(/^rg: (?:\.\/)?/, "")));
  if (lines.length > COMPLAINTS) shown.push(more);
  return ["[could not be read:", ...shown, "]"];
}

function textOf(found: Found, lines: readonly string[], options: SearchOptions): string {
  const text = [...lines];
  if (lines.length === 0 && !found.timedOut && !found.more) {
    text.push(
      options.all === true
        ? "no matches"
        : "no matches (ignored, hidden and binary files were not searched; with all: true, ignored and hidden ones are)",
    );
  }
  if (found.more) {
    text.push(
      `[the first ${GREP_MATCHES} matches; there are more. Narrow the pattern, the path or the glob]`,
    );
  }
  if (found.timedOut) {
    text.push(
      `[stopped after ${GREP_TIMEOUT_MS / 1000} s: this is what was found until then. Narrow the path or the glob]`,
    );
  }
  text.push(...complaintLines(found.complaints, "and more"));
  return text.join("\n");
}

/** Why this search cannot be made, whatever is there; undefined where it can. */
export function refuseSearch(options: SearchOptions): ToolError | undefined {
  if (options.pattern === "") return new ToolError("pattern is empty. Give what to look for.");
  if (options.pattern.includes("\0") || options.glob?.includes("\0") === true) {
    return new ToolError("pattern and glob may not hold a NUL character. Leave it out.");
  }
  return undefined;
}

/** Why ripgrep did not start, where that is its arguments. */
function tooLong({ failed }: Found): ToolError | undefined {
  const code = codeOf(failed);
  // Windows has another name for it.
  if (code !== "E2BIG" && code !== "ENAMETOOLONG") return undefined;
  return new ToolError("pattern or glob is too long for ripgrep. Give a shorter one.");
}

function isGitPath(where: LocatedPath): boolean {
  const name = where.kind === "inside" ? where.relative : where.real;
  return name.split(/[\\/]/).some((part) => part.toLowerCase() === ".git");
}

/**
 * Searches a file or a directory with ripgrep: `path:line:text` for each matching line, at most
 * `GREP_MATCHES` of them in at most `GREP_TIMEOUT_MS` milliseconds, with a word on what there is
 * more. Links are not followed and `.git` never shows. `FileChanged` where the path leads
 * elsewhere by now.
 */
export async function searchFiles(
  permit: Permit<"read">,
  workspace: Workspace,
  options: SearchOptions,
  run: { signal: AbortSignal; timeoutMs?: number; moments?: Moments },
): Promise<ToolResult | ToolError | FileChanged> {
  const { path: where } = permit.spend();
  const refused = refuseSearch(options);
  if (refused !== undefined) return refused;
  if (isGitPath(where)) {
    return new ToolError("grep leaves .git out. Use read_file for a file in it, or run with git.");
  }
  const program = await workspace.ripgrep();
  if (program instanceof ToolError) return program;
  const target = await openTarget(workspace, where, run.moments ?? {});
  if (target instanceof ToolError || target instanceof FileChanged) return target;
  try {
    const { cwd, argument } = reach(target, where);
    const wanted = target.kind === "file" ? { ...options, glob: undefined } : options;
    const found = await searchUntil(program, ripgrepArguments(wanted, argument), {
      cwd,
      env: workspace.env,
      signal: run.signal,
      timeoutMs: run.timeoutMs ?? GREP_TIMEOUT_MS,
    });
    if (found.cancelled) return new ToolError("The search was cancelled.");
    const long = tooLong(found);
    if (long !== undefined) return long;
    if (found.failed !== undefined) {
      return new ToolError(
        `ripgrep could not be started: ${found.failed.message}. Ask the user to check the setting countersign.ripgrep.path.`,
      );
    }
    if (!found.searched) {
      const said = found.complaints.trim();
      return new ToolError(
        said === "" ? "ripgrep ended without a result; make the call again." : said,
      );
    }
    const lines = await shownHits(found.hits, target, where);
    if (!(await isAt(target.handle, where.real))) return new FileChanged(where.real);
    return { ok: true, text: textOf(found, lines, options) };
  } finally {
    await target.handle.close();
  }
}

/** ripgrep's own message where it cannot use a pattern or glob; undefined where it can. Reads no file. */
export async function patternFault(
  workspace: Workspace,
  options: SearchOptions,
  signal: AbortSignal,
): Promise<ToolError | undefined> {
  const refused = refuseSearch(options);
  if (refused !== undefined) return refused;
  const program = await workspace.ripgrep();
  if (program instanceof ToolError) return program;
  const found = await searchUntil(program, ripgrepArguments(options, "-"), {
    cwd: path.dirname(program),
    env: workspace.env,
    signal,
    timeoutMs: GREP_TIMEOUT_MS,
  });
  const long = tooLong(found);
  if (long !== undefined) return long;
  return found.searched || found.complaints === ""
    ? undefined
    : new ToolError(found.complaints.trim());
}
