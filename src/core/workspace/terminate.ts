import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { KILL_AFTER_MS } from "../limits.js";
import { Family, type Relative } from "./family.js";
import { askPs, type ProcessEntry, readProcesses } from "./processes.js";
import { systemProgram } from "./program.js";

/** How often a group that was told to end is looked at. */
const POLL_MS = 30;
/** How long after SIGKILL a process may take to be gone before the result stops waiting for it. */
const GONE_MS = 1_000;

/** What became of the processes of a command. */
export interface Ended {
  /** False where some could not be ended (another user's). */
  readonly gone: boolean;
  /** Who got SIGTERM, and who SIGKILL after it; empty where nobody took note of them. */
  readonly asked: readonly Relative[];
  readonly forced: readonly Relative[];
  /** Who is alive for all that, as having left the group; undefined where that cannot be known. */
  readonly left: readonly Relative[] | undefined;
}

/** Nobody was there, or nobody took note. */
export const NOBODY: Ended = { gone: true, asked: [], forced: [], left: [] };

function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: there, but another user's (sudo); it cannot be ended from here.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Ends the session that one leader started, and takes note of it where there is a family. */
class Group {
  constructor(
    private readonly leader: number,
    private readonly family: Family | undefined,
  ) {}

  /**
   * Sends `signal` to every process of the session that the leader started. On Linux that reaches
   * the groups a shell with job control or `timeout` made of its own; elsewhere the leader's group.
   * Gives whom it found there, empty where there was nobody left. `table` is all processes, from
   * where there is no `/proc`.
   */
  signal(signal: NodeJS.Signals, table: readonly ProcessEntry[] = []): readonly number[] {
    const members = this.#members(true);
    if (members === null) {
      this.family?.see(table);
      const named = table.filter(({ session }) => session === this.leader).map(({ pid }) => pid);
      return signalGroup(this.leader, signal) ? [this.leader, ...named] : [];
    }
    for (const group of new Set(members.map((member) => member.group))) signalGroup(group, signal);
    return members.map(({ pid }) => pid);
  }

  async goneWithin(ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    for (;;) {
      const members = this.#members(false);
      if (members === null ? !signalGroup(this.leader, 0) : members.length === 0) return true;
      if (performance.now() >= end) return false;
      await delay(POLL_MS);
    }
  }

  /** Living processes of the session; null where there is no `/proc` to ask. */
  #members(note: boolean): readonly ProcessEntry[] | null {
    const all = readProcesses();
    if (all === null) return null;
    const members = all.filter(({ session }) => session === this.leader);
    // Before the signal: who loses its parent by it would not be known for a relative after.
    if (note && members.length > 0) this.family?.see(all);
    return members;
  }
}

function taskkill(leader: number): Promise<void> {
  return new Promise((resolve) => {
    const program = systemProgram("taskkill.exe", process.env);
    execFile(program, taskkillArguments(leader), { windowsHide: true }, () => resolve());
  });
}

/** For Windows: `/T` takes the children along, `/F` does not ask them. */
export function taskkillArguments(leader: number): string[] {
  return ["/PID", String(leader), "/T", "/F"];
}

/**
 * Ends all that is left of a command started with `detached: true`: SIGTERM now, SIGKILL
 * `KILL_AFTER_MS` (milliseconds) later to whoever is still there; on Windows the whole tree at
 * once. Resolves when all are gone, or some could not be ended. Never rejects. Harmless where
 * nobody is left. With `mark`, the value of the command's `MARK`, it also tells who was signalled
 * and who is alive for all that; a process that left the group is told of, and not ended.
 */
export async function endProcessGroup(leader: number, mark?: string): Promise<Ended> {
  if (process.platform === "win32") {
    await taskkill(leader);
    return { ...NOBODY, left: undefined };
  }
  const family = mark === undefined ? undefined : new Family(leader, mark);
  const table = async () =>
    family === undefined || process.platform === "linux" ? [] : ((await askPs()) ?? []);
  const group = new Group(leader, family);
  const asked = group.signal("SIGTERM", await table());
  if (asked.length === 0) return NOBODY;
  const forced = new Set<number>();
  let gone = await group.goneWithin(KILL_AFTER_MS);
  if (!gone) {
    const still = await table();
    const end = performance.now() + GONE_MS;
    // Again and again, since a process may fork between the look and the signal.
    for (;;) {
      const killed = group.signal("SIGKILL", still);
      gone = killed.length === 0;
      for (const pid of killed) forced.add(pid);
      if (gone || performance.now() >= end) break;
      await delay(POLL_MS);
    }
  }
  if (family === undefined) return { ...NOBODY, gone };
  const left = await family.left();
  return { gone, asked: family.named(asked), forced: family.named(forced), left };
}
