import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { PROCESS_CHARS } from "../limits.js";
import { showNameBytes } from "./show.js";

/** One living process, as the system's table has it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The id of its session, which on Linux alone is known; elsewhere that of its group. */
  readonly session: number;
  /** When it started, in the system's own terms: with `pid` it names this process and no other. */
  readonly started: string;
  /** Its command line, where the table has it. */
  readonly command?: string;
}

function parseStat(pid: number, stat: string): ProcessEntry | null {
  // The name in parentheses may itself hold spaces and parentheses: the last ")" ends it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields;
  const started = fields[19];
  if (state === undefined || state === "Z" || state === "X" || started === undefined) return null;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started,
  };
}

/**
 * `/proc` is memory, and is read in one go: a flood of output must not come between the look and
 * the signal. Null for a process that is gone by now.
 */
function readProc<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Every living process; null where there is no `/proc` to ask. */
export function readProcesses(): readonly ProcessEntry[] | null {
  if (process.platform !== "linux") return null;
  const names = readProc(() => readdirSync("/proc"));
  if (names === null) return null;
  const found: ProcessEntry[] = [];
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = readProc(() => readFileSync(`/proc/${name}/stat`, "latin1"));
    const entry = stat === null ? null : parseStat(pid, stat);
    if (entry !== null) found.push(entry);
  }
  return found;
}

const PS = ["-axwwo", "pid=,ppid=,pgid=,stat=,lstart=,command="];
const PS_MS = 5_000;
const PS_BYTES = 16 * 1024 * 1024;

/** The lines of `ps` with `PS`; a zombie, and what is no such line, is left out. */
export function parsePs(text: string): readonly ProcessEntry[] {
  return text.split("\n").flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(
      line,
    );
    const [, pid, parent, group, state, started = "", command = ""] = found ?? [];
    if (pid === undefined || state?.startsWith("Z") !== false) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: Number(group),
        started,
        command: cut(showNameBytes(Buffer.from(command))),
      },
    ];
  });
}

/** Every living process, by `ps`, for where there is no `/proc`; null where that fails. */
export function askPs(): Promise<readonly ProcessEntry[] | null> {
  const options = { env: { ...process.env, LC_ALL: "C" }, timeout: PS_MS, maxBuffer: PS_BYTES };
  return new Promise((resolve) => {
    execFile("ps", PS, options, (error, text) => resolve(error === null ? parsePs(text) : null));
  });
}

function cut(text: string): string {
  return text.length <= PROCESS_CHARS ? text : `${text.slice(0, PROCESS_CHARS)}…`;
}

/**
 * The command line of a process on one line, at most `PROCESS_CHARS` characters: hidden characters
 * are escaped, an argument with a blank is quoted. A program may write there what it likes.
 */
export function showCommandLine(bytes: Uint8Array): string {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const words: string[] = [];
  for (let start = 0; start < whole.length && words.length < PROCESS_CHARS; ) {
    const nul = whole.indexOf(0, start);
    const end = nul === -1 ? whole.length : nul;
    // A word is looked at no further than it can be shown.
    const word = showNameBytes(whole.subarray(start, Math.min(end, start + 4 * PROCESS_CHARS)));
    words.push(/^".*"$/s.test(word) || !/[\s']|^$/u.test(word) ? word : JSON.stringify(word));
    start = end + 1;
  }
  return cut(words.join(" "));
}

/** The command line that `/proc` gives; a program's bare name in brackets where it has none. */
export function commandOf(pid: number): string {
  const line = readProc(() => readFileSync(`/proc/${pid}/cmdline`));
  if (line !== null && line.length > 0) return showCommandLine(line);
  const name = readProc(() => readFileSync(`/proc/${pid}/comm`, "utf8"));
  return name === null ? "[gone]" : `[${cut(showNameBytes(Buffer.from(name.trim())))}]`;
}

/** Whether a process began with this variable; false where its environment may not be read. */
export async function beganWith(pid: number, variable: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`).catch(() => Buffer.alloc(0));
  return Buffer.concat([Buffer.of(0), environment]).includes(`\0${variable}\0`);
}
