import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { MARK } from "./family.js";
import { Kept, Live } from "./kept.js";
import { isThere, windowsProgram } from "./program.js";
import { type Ended, endProcessGroup, NOBODY } from "./terminate.js";

export interface BoundedSpawn {
  /** Program and arguments; there is no shell. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** What the process reads; without it standard input is at its end from the start. */
  readonly stdin?: string;
  readonly timeoutMs: number;
  /** Over it, the first and the last half of a stream are kept. */
  readonly maxBytesPerStream: number;
  readonly signal: AbortSignal;
  readonly onOutput?: (stream: "stdout" | "stderr", text: string) => void;
  /** True marks its processes in their environment, so that `ended` can tell who is left. */
  readonly tell?: boolean;
}

export type BoundedExit =
  | {
      readonly kind: "exited";
      /** Null where a signal ended it. */
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly timedOut: boolean;
      readonly cancelled: boolean;
      readonly durationMs: number;
      /** Kept text, with a note where something is left out between its halves. */
      readonly stdout: string;
      readonly stderr: string;
      /** Bytes that came, and bytes that are left out of the text. */
      readonly stdoutBytes: number;
      readonly stderrBytes: number;
      readonly stdoutLeftOut: number;
      readonly stderrLeftOut: number;
      /** What became of its processes; nobody was looked for where it left none in its group. */
      readonly ended: Ended;
    }
  | {
      readonly kind: "not_started";
      readonly reason: string;
      /** `ENOENT`, `EACCES`, …; `ABORT_ERR` where it was cancelled before it began. */
      readonly code: string;
    };

/** How long the pipes may stay silent, and open, once the command is over. */
const DRAIN_IDLE_MS = 200;
const DRAIN_MS = 2_000;
/** A timer that is set to more fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One of the two output streams while the command runs. */
class Output {
  readonly kept: Kept;
  readonly live: Live;
  lastAt = performance.now();
  constructor(limit: number, send: (text: string) => void) {
    this.kept = new Kept(limit);
    this.live = new Live(send);
  }
  add(chunk: Buffer): void {
    this.lastAt = performance.now();
    this.kept.add(chunk);
    this.live.add(chunk);
  }
}

/** What is started for argv's first word; undefined where it is known that there is none. */
function programOf(named: string, env: NodeJS.ProcessEnv): string | undefined {
  return process.platform === "win32" ? windowsProgram(named, env, isThere) : named;
}

function start(
  options: BoundedSpawn,
  mark: string | undefined,
): ChildProcess | NodeJS.ErrnoException {
  const [named = "", ...args] = options.argv;
  const program = programOf(named, options.env);
  if (program === undefined) {
    return Object.assign(new Error(`spawn ${named} ENOENT`), { code: "ENOENT" });
  }
  try {
    return spawn(program, args, {
      cwd: options.cwd,
      env: mark === undefined ? options.env : { ...options.env, [MARK]: mark },
      stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      // A group of its own, so that all of it can be ended; Windows has no groups.
      detached: process.platform !== "win32",
      windowsHide: true,
      shell: false,
    });
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

function notStarted(error: NodeJS.ErrnoException): BoundedExit {
  return { kind: "not_started", reason: error.message, code: error.code ?? "UNKNOWN" };
}

/** Waits until both pipes are at their end, or only a process that got away holds them open. */
async function drain(child: ChildProcess, outputs: readonly Output[]): Promise<void> {
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const ended = Promise.all(
    streams.map((stream) =>
      stream.readableEnded || stream.destroyed
        ? undefined
        : new Promise((resolve) => stream.once("close", resolve)),
    ),
  ).then(() => "ended" as const);
  const began = performance.now();
  for (;;) {
    const last = Math.max(began, ...outputs.map((output) => output.lastAt));
    const now = performance.now();
    const wait = Math.min(last + DRAIN_IDLE_MS, began + DRAIN_MS) - now;
    if (wait <= 0) break;
    const timer = new AbortController();
    const pause = delay(wait, undefined, { signal: timer.signal }).catch(() => {});
    const first = await Promise.race([ended, pause]);
    timer.abort();
    if (first === "ended") break;
  }
  for (const stream of streams) stream.destroy();
}

/**
 * Runs one command without a shell, in a process group of its own, with bounded memory, and ends
 * all of it: at its leader's exit, at the time limit, or when `signal` aborts (SIGTERM, SIGKILL
 * two seconds later). A result is always there by then, with what was printed. Never rejects.
 */
export async function spawnBounded(options: BoundedSpawn): Promise<BoundedExit> {
  if (options.signal.aborted) {
    return { kind: "not_started", reason: "cancelled before it started", code: "ABORT_ERR" };
  }
  const began = performance.now();
  const mark = options.tell === true ? randomBytes(8).toString("hex") : undefined;
  const child = start(options, mark);
  if (child instanceof Error) return notStarted(child);

  const stdout = new Output(options.maxBytesPerStream, (text) =>
    options.onOutput?.("stdout", text),
  );
  const stderr = new Output(options.maxBytesPerStream, (text) =>
    options.onOutput?.("stderr", text),
  );
  child.stdout?.on("data", (chunk: Buffer) => stdout.add(chunk)).on("error", () => {});
  child.stderr?.on("data", (chunk: Buffer) => stderr.add(chunk)).on("error", () => {});
  // A process that does not read its input closes the pipe: that is its right.
  child.stdin?.on("error", () => {}).end(options.stdin);

  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null } | Error>(
    (resolve) => {
      child.once("error", resolve);
      child.once("exit", (code, signal) => resolve({ code, signal }));
    },
  );

  // The first reason to end it wins; a second one changes nothing.
  let reason: "timeout" | "cancel" | undefined;
  let ending: Promise<Ended> | undefined;
  let gaveUp: (outcome: { code: null; signal: null }) => void = () => {};
  const unended = new Promise<{ code: null; signal: null }>((resolve) => {
    gaveUp = resolve;
  });
  const end = (why: "timeout" | "cancel") => {
    if (ending !== undefined || child.pid === undefined) return;
    reason = why;
    ending = endProcessGroup(child.pid, mark);
    void ending.then(({ gone }) => {
      if (!gone) gaveUp({ code: null, signal: null });
    });
  };
  const timer = setTimeout(() => end("timeout"), Math.min(options.timeoutMs, LONGEST_TIMER_MS));
  const onAbort = () => end("cancel");
  options.signal.addEventListener("abort", onAbort, { once: true });

  const outcome = await Promise.race([exit, unended]);
  clearTimeout(timer);
  options.signal.removeEventListener("abort", onAbort);
  if (outcome instanceof Error) return notStarted(outcome);
  const durationMs = performance.now() - began;

  if (child.pid !== undefined) ending ??= endProcessGroup(child.pid, mark);
  const ended = (await ending) ?? NOBODY;
  if (!ended.gone) child.unref();
  await drain(child, [stdout, stderr]);
  stdout.live.end();
  stderr.live.end();
  const out = stdout.kept.text();
  const err = stderr.kept.text();
  return {
    kind: "exited",
    code: outcome.code,
    signal: outcome.signal,
    timedOut: reason === "timeout",
    cancelled: reason === "cancel",
    durationMs,
    stdout: out.text,
    stderr: err.text,
    stdoutBytes: stdout.kept.total,
    stderrBytes: stderr.kept.total,
    stdoutLeftOut: out.leftOut,
    stderrLeftOut: err.leftOut,
    ended,
  };
}
