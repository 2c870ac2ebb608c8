import { HOOK_OUTPUT_BYTES, HOOK_TIMEOUT_S } from "../limits.js";
import type { EventOf } from "../session/events.js";
import { type BoundedExit, spawnBounded } from "../workspace/spawn.js";
import type { StopHook } from "./live.js";

/** What a Stop hook reads on its standard input, as JSON. */
export interface HookInput {
  readonly session: string;
  readonly turn: string;
  readonly workspace: string;
  readonly result: string;
  /** Absolute real paths of the files that the turn changed. */
  readonly changed: readonly string[];
  /** True where a hook has already blocked in this turn. */
  readonly blocked: boolean;
}

/** How a hook ended; it passes where `exit` is 0 alone. */
export type HookEnd = Omit<EventOf<"hook_ended">, "seq" | "at" | "turn" | "type">;

/** Where a Stop hook runs, and the JSON on its stdin. */
export interface HookRun {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input: HookInput;
  readonly signal: AbortSignal;
}

function outputOf(exit: Extract<BoundedExit, { kind: "exited" }>): string {
  const text = exit.stderr.trim() === "" ? exit.stdout : exit.stderr;
  return text.trimEnd();
}

/** Runs one Stop hook to its end. Never rejects; an abort ends it and reads as a fault. */
export async function runHook(hook: StopHook, run: HookRun): Promise<HookEnd> {
  const argv = [...hook.argv];
  const seconds = hook.timeout ?? HOOK_TIMEOUT_S;
  if (argv.length === 0 || argv[0] === "") {
    return { argv, exit: null, fault: "it could not be started: its argv is empty" };
  }
  const exit = await spawnBounded({
    argv,
    cwd: run.cwd,
    env: run.env,
    stdin: `${JSON.stringify(run.input)}\n`,
    timeoutMs: seconds * 1000,
    maxBytesPerStream: HOOK_OUTPUT_BYTES,
    signal: run.signal,
  });
  if (exit.kind === "not_started") {
    return { argv, exit: null, fault: `it could not be started: ${exit.reason}` };
  }
  const text = outputOf(exit);
  const output = text === "" ? {} : { output: text };
  if (exit.timedOut) {
    return { argv, exit: null, fault: `it timed out after ${seconds} s`, ...output };
  }
  if (exit.cancelled) return { argv, exit: null, fault: "it was cancelled", ...output };
  if (exit.code === null) {
    return { argv, exit: null, fault: `it was ended by ${exit.signal ?? "a signal"}`, ...output };
  }
  return { argv, exit: exit.code, ...output };
}
