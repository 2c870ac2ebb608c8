import { type ChildProcess, spawn } from "node:child_process";
import { GREP_MATCHES } from "../limits.js";
import { type Hit, HitReader } from "./hits.js";
import { LineSplitter } from "./lines.js";

export interface SearchOptions {
  readonly pattern: string;
  /** A glob relative to the directory that is searched. */
  readonly glob?: string | undefined;
  readonly literal?: boolean | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** Ignored and hidden files too. */
  readonly all?: boolean | undefined;
}

/** A line of ripgrep's output over this many bytes is told of, not shown. */
const LINE_BYTES = 8 * 1024 * 1024;
/** Bytes kept of what ripgrep complains of. */
const COMPLAINT_BYTES = 16 * 1024;

/** ripgrep's arguments. Each value is joined to its flag, so that none is ever taken for a flag. */
export function ripgrepArguments(options: SearchOptions, target: string): string[] {
  const flags = [
    "--json",
    "--no-config",
    "--no-follow",
    "--no-mmap",
    "--crlf",
    "--no-ignore-messages",
  ];
  flags.push(options.ignoreCase === true ? "--ignore-case" : "--case-sensitive");
  if (options.literal === true) flags.push("--fixed-strings");
  if (options.all === true) flags.push("--no-ignore", "--hidden");
  if (options.glob !== undefined) flags.push(`--glob=${options.glob}`);
  // After every other glob, so that none brings it back.
  flags.push("--iglob=!.git");
  return [...flags, `--regexp=${options.pattern}`, "--", target];
}

export interface Found {
  readonly hits: Hit[];
  readonly more: boolean;
  readonly timedOut: boolean;
  readonly cancelled: boolean;
  readonly complaints: string;
  /** False where ripgrep refused to search at all (a broken pattern). */
  readonly searched: boolean;
  readonly failed: Error | undefined;
}

/** Runs ripgrep until it ends, has `GREP_MATCHES` matches and one more, or its time is up. */
export function searchUntil(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal; timeoutMs: number },
): Promise<Found> {
  return new Promise((resolve) => {
    const hits: Hit[] = [];
    const reader = new HitReader();
    let [more, timedOut, cancelled] = [false, false, false];
    let complaints = "";
    let failed: Error | undefined;
    let child: ChildProcess | undefined;
    const stop = () => child?.kill("SIGKILL");
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, options.timeoutMs);
    const onAbort = () => {
      cancelled = true;
      stop();
    };
    const finish = () => {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", onAbort);
      const searched = reader.searched || more || timedOut;
      resolve({ hits, more, timedOut, cancelled, complaints, searched, failed });
    };
    const lines = new LineSplitter(LINE_BYTES, (line, rest) => {
      if (more) return;
      const hit = reader.read(line, rest);
      if (hit === undefined) return;
      if (hits.length < GREP_MATCHES) hits.push(hit);
      else {
        more = true;
        stop();
      }
    });
    try {
      child = spawn(program, args, {
        cwd: options.cwd,
        env: options.env,
        stdio: ["ignore", "pipe", "pipe"],
        windowsHide: true,
      });
    } catch (error) {
      failed = error as Error;
      finish();
      return;
    }
    child.stdout?.on("data", (chunk: Buffer) => {
      if (!more) lines.add(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (complaints.length < COMPLAINT_BYTES) complaints += chunk.toString("utf8");
    });
    child.once("error", (error) => {
      failed = error;
      finish();
    });
    child.once("close", finish);
    options.signal.addEventListener("abort", onAbort, { once: true });
    if (options.signal.aborted) onAbort();
  });
}
