import { access, constants, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { RUN_STREAM_BYTES, RUN_TIMEOUT_MAX_S } from "../limits.js";
import type { Permit } from "./permit.js";
import { showName } from "./show.js";
import { type BoundedExit, spawnBounded } from "./spawn.js";
import { tellEnded } from "./tellEnded.js";
import { ToolError, type ToolResult, type Workspace } from "./types.js";

/** How a command is cancelled, and who hears its output, decoded, as it comes. */
export interface RunOptions {
  readonly signal: AbortSignal;
  readonly onOutput: (stream: "stdout" | "stderr", text: string) => void;
}

type Exited = Extract<BoundedExit, { kind: "exited" }>;

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

function ending(exit: Exited, timeout: number): string {
  const took = seconds(exit.durationMs);
  const how =
    exit.signal !== null
      ? `ended by ${exit.signal}`
      : exit.code !== null
        ? `exit code ${exit.code}`
        : "some of it could not be ended and may still run";
  if (exit.cancelled) {
    return `cancelled by the user after it had run for ${took}; ${how}. What it did until then is done.`;
  }
  if (exit.timedOut) return `timed out after ${timeout} s and was ended (${how}, ${took})`;
  return exit.signal !== null ? `${how} after ${took}` : `${how}, ${took}`;
}

function stream(name: string, text: string, bytes: number, leftOut: number): string {
  if (bytes === 0) return "";
  const cut = leftOut > 0 ? ` (${bytes} bytes, ${leftOut} of them left out)` : "";
  return `\n${name}${cut}:\n${text}${text.endsWith("\n") ? "" : "\n"}`;
}

/** What the model gets of a command that ran. `ok` where it ended by itself with exit code 0. */
function commandResult(exit: Exited, timeout: number): ToolResult {
  const ok = exit.code === 0 && !exit.timedOut && !exit.cancelled;
  const text =
    `[${ending(exit, timeout)}]` +
    stream("stdout", exit.stdout, exit.stdoutBytes, exit.stdoutLeftOut) +
    stream("stderr", exit.stderr, exit.stderrBytes, exit.stderrLeftOut) +
    (exit.stdoutBytes + exit.stderrBytes === 0 ? "\n(no output)\n" : "") +
    tellEnded(exit.ended, exit.timedOut || exit.cancelled);
  return { ok, text: text.trimEnd() };
}

/** Where a program of this name is looked for. */
function searched(env: NodeJS.ProcessEnv): string {
  const found = Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1];
  return found ?? "the system's default places (PATH is not set)";
}

/** Why a program that is named by a path could not be started. */
async function whyNot(program: string, cwd: string, code: string): Promise<string> {
  const file = path.resolve(cwd, program);
  const stats = await stat(file).catch(() => undefined);
  if (stats === undefined) return `${showName(program)} is not there. Check its path with list_dir`;
  if (stats.isDirectory()) return `${showName(program)} is a directory, not a program`;
  const runs = await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!runs) return `${showName(program)} is not executable. Start it with its interpreter`;
  if (code === "ENOENT")
    return `${showName(program)} is there, but the interpreter its first line names is not`;
  return `${showName(program)} could not be started (${code})`;
}

async function notStarted(
  exit: Extract<BoundedExit, { kind: "not_started" }>,
  argv: readonly string[],
  workspace: Workspace,
): Promise<ToolError> {
  const [program = ""] = argv;
  const name = showName(program);
  if (exit.code === "ABORT_ERR")
    return new ToolError("Cancelled before the command started; it never ran.");
  const missing = exit.code === "ENOENT" || exit.code === "EACCES" || exit.code === "ENOTDIR";
  if (missing && /\s/.test(program) && argv.length === 1) {
    return new ToolError(
      `Command not found: ${name}. argv must be split into its words, the program first: ${JSON.stringify(program.trim().split(/\s+/))}. There is no shell; for one use ["sh", "-c", "..."].`,
    );
  }
  if (missing && /[\\/]/.test(program)) {
    return new ToolError(
      `The command did not start: ${await whyNot(program, workspace.realRoot, exit.code)}.`,
    );
  }
  if (exit.code === "ENOENT") {
    return new ToolError(
      `Command not found: ${name}. It was looked for in ${searched(workspace.env)}.`,
    );
  }
  if (exit.code === "EACCES") {
    return new ToolError(
      `The command did not start: permission denied for ${name}, looked for in ${searched(workspace.env)}.`,
    );
  }
  if (exit.code === "E2BIG") {
    return new ToolError(
      "The command did not start: its arguments are too long. Write them to a file and pass its name.",
    );
  }
  if (process.platform === "win32" && exit.code === "EINVAL") {
    return new ToolError(
      `The command did not start: ${name} is a batch file, which needs ["cmd", "/c", ...].`,
    );
  }
  return new ToolError(`The command did not start: ${exit.reason}.`);
}

/** Why nothing can be started in the workspace, or undefined where it is there. */
async function rootGone(workspace: Workspace): Promise<ToolError | undefined> {
  try {
    if ((await stat(workspace.realRoot)).isDirectory()) {
      // The folder's own name must not have become a link to somewhere else.
      if ((await realpath(workspace.realRoot)) === workspace.realRoot) return undefined;
    }
  } catch {
    // Told below.
  }
  return new ToolError(
    `The command did not start: the workspace folder ${workspace.realRoot} is not there any more. Ask the user to bring it back.`,
  );
}

/**
 * Runs the argv of a permit in the workspace and gives what it did. A command that was cut short
 * says that it ran, for how long, and what it printed; only one that never started is an error.
 */
export async function runCommand(
  workspace: Workspace,
  permit: Permit<"run">,
  options: RunOptions,
): Promise<ToolResult | ToolError> {
  const { argv, timeout } = permit.spend();
  const gone = await rootGone(workspace);
  if (gone !== undefined) return gone;
  const limit = Math.min(timeout, RUN_TIMEOUT_MAX_S);
  const exit = await spawnBounded({
    argv,
    cwd: workspace.realRoot,
    env: { ...workspace.env, PWD: workspace.realRoot },
    timeoutMs: limit * 1000,
    maxBytesPerStream: RUN_STREAM_BYTES,
    tell: true,
    ...options,
  });
  if (exit.kind === "exited") return commandResult(exit, limit);
  return (await rootGone(workspace)) ?? notStarted(exit, argv, workspace);
}
