import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { KILL_AFTER_MS } from "../limits.js";

/** How often a group that was told to end is looked at. */
const POLL_MS = 30;
/** How long after SIGKILL a process may take to be gone before the result stops waiting for it. */
const GONE_MS = 1_000;

/** A process as `/proc/<pid>/stat` gives it. */
interface Process {
  readonly pid: number;
  readonly group: number;
}

function parseStat(
  pid: number,
  stat: string,
): (Process & { session: number; dead: boolean }) | null {
  // The name in parentheses may itself hold spaces and parentheses: the last ")" ends it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, , group, session] = fields;
  if (state === undefined || group === undefined || session === undefined) return null;
  const dead = state === "Z" || state === "X";
  return { pid, group: Number(group), session: Number(session), dead };
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

/** Living processes of the session that `leader` started; null where there is no `/proc` to ask. */
function sessionMembers(leader: number): readonly Process[] | null {
  if (process.platform !== "linux") return null;
  const names = readProc(() => readdirSync("/proc"));
  if (names === null) return null;
  const found: Process[] = [];
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = readProc(() => readFileSync(`/proc/${name}/stat`, "latin1"));
    const process = stat === null ? null : parseStat(pid, stat);
    if (process !== null && process.session === leader && !process.dead) found.push(process);
  }
  return found;
}

function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: there, but another user's (sudo); it cannot be ended from here.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Sends `signal` to every process of the session that `leader` started. On Linux that reaches the
 * groups a shell with job control or `timeout` made of its own; elsewhere the leader's group.
 * False: there was nobody left.
 */
function signalAll(leader: number, signal: NodeJS.Signals): boolean {
  const members = sessionMembers(leader);
  if (members === null) return signalGroup(leader, signal);
  for (const group of new Set(members.map((member) => member.group))) signalGroup(group, signal);
  return members.length > 0;
}

function anyoneLeft(leader: number): boolean {
  const members = sessionMembers(leader);
  return members === null ? signalGroup(leader, 0) : members.length > 0;
}

async function goneWithin(leader: number, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  for (;;) {
    if (!anyoneLeft(leader)) return true;
    if (performance.now() >= end) return false;
    await delay(POLL_MS);
  }
}

function taskkill(leader: number): Promise<void> {
  return new Promise((resolve) => {
    execFile("taskkill", taskkillArguments(leader), { windowsHide: true }, () => resolve());
  });
}

/** For Windows: `/T` takes the children along, `/F` does not ask them. */
export function taskkillArguments(leader: number): string[] {
  return ["/PID", String(leader), "/T", "/F"];
}

/**
 * Ends all that is left of a command started with `detached: true`: SIGTERM now, SIGKILL
 * `KILL_AFTER_MS` (milliseconds) later to whoever is still there; on Windows the whole tree at
 * once. Resolves when all are gone, or with false where some could not be ended (another user's
 * processes). Never rejects. Harmless where nobody is left.
 */
export async function endProcessGroup(leader: number): Promise<boolean> {
  if (process.platform === "win32") {
    await taskkill(leader);
    return true;
  }
  if (!signalAll(leader, "SIGTERM")) return true;
  if (await goneWithin(leader, KILL_AFTER_MS)) return true;
  const end = performance.now() + GONE_MS;
  // Again and again, since a process may fork between the look and the signal.
  while (signalAll(leader, "SIGKILL")) {
    if (performance.now() >= end) return false;
    await delay(POLL_MS);
  }
  return true;
}
