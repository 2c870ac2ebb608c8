import { setTimeout as delay } from "node:timers/promises";
import { askPs, beganWith, commandOf, type ProcessEntry, readProcesses } from "./processes.js";

/** A process of a command, for telling. `command` is safe to show. */
export interface Relative {
  readonly pid: number;
  readonly command: string;
}

/** The variable by which a process is known as a command's, though it left its group and parent. */
export const MARK = "AGENT_COMMAND_ID";

/** Environments that are read at a time. */
const BATCH = 64;
/** How long one that is on its way out by itself is given, in milliseconds. */
const GRACE_MS = 150;

function key({ pid, started }: ProcessEntry): string {
  return `${pid} ${started}`;
}

/**
 * The processes of one command: those of its session, their descendants, and on Linux whoever
 * began with its mark in the environment, such as a daemon that forked twice. What is not to be
 * seen: a process that both left and cleared its environment before anyone looked, and, without
 * `/proc`, one that left before anyone looked.
 */
export class Family {
  /** By number and time of start, so that a number used again is nobody's. */
  readonly #known = new Map<string, Relative>();
  #leaderKey: string | undefined;
  #since = 0;

  constructor(
    private readonly leader: number,
    private readonly mark: string,
  ) {}

  /** Takes note of who belongs to it in a table of all processes. */
  see(all: readonly ProcessEntry[]): void {
    const head = all.find(({ pid }) => pid === this.leader);
    if (head !== undefined) {
      this.#leaderKey ??= key(head);
      if (this.#leaderKey === key(head)) this.#since = Number(head.started) || 0;
    }
    // A leader's number that came to another program makes none of its processes ours.
    const ours = head === undefined || key(head) === this.#leaderKey;
    const members = new Set<number>();
    for (const entry of all) {
      const own = ours && entry.session === this.leader;
      if (own || this.#known.has(key(entry))) members.add(entry.pid);
    }
    for (let before = -1; before !== members.size; ) {
      before = members.size;
      for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
    }
    for (const entry of all) if (members.has(entry.pid)) this.#note(entry);
  }

  /** Those with these numbers. */
  named(pids: Iterable<number>): readonly Relative[] {
    const wanted = new Set(pids);
    return [...this.#known.values()].filter(({ pid }) => wanted.has(pid));
  }

  /**
   * Who of it is alive now; one that is just going is given a moment. Undefined where that cannot
   * be known.
   */
  async left(): Promise<readonly Relative[] | undefined> {
    const first = await this.#look();
    if (first === undefined || first.length === 0) return first;
    await delay(GRACE_MS);
    return this.#look();
  }

  async #look(): Promise<readonly Relative[] | undefined> {
    const all = readProcesses() ?? (process.platform === "linux" ? null : await askPs());
    if (all === null) return undefined;
    this.see(all);
    await this.#findMarked(all);
    return all.flatMap((entry) => this.#known.get(key(entry)) ?? []);
  }

  async #findMarked(all: readonly ProcessEntry[]): Promise<void> {
    if (process.platform !== "linux") return;
    // Nobody who was there before the command is of it.
    const others = all.filter(
      (entry) => !this.#known.has(key(entry)) && Number(entry.started) >= this.#since,
    );
    const variable = `${MARK}=${this.mark}`;
    for (let start = 0; start < others.length; start += BATCH) {
      const batch = others.slice(start, start + BATCH);
      const marked = await Promise.all(batch.map(({ pid }) => beganWith(pid, variable)));
      for (const [index, entry] of batch.entries()) if (marked[index]) this.#note(entry);
    }
  }

  #note(entry: ProcessEntry): void {
    if (this.#known.has(key(entry))) return;
    const command = entry.command ?? commandOf(entry.pid);
    this.#known.set(key(entry), { pid: entry.pid, command });
  }
}
