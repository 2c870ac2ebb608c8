import { cpSync, existsSync, lstatSync, readdirSync, rmSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Checks } from "./checks.js";
import { Child } from "./childHost.js";
import { Disk } from "./disk.js";
import { Editor } from "./editor.js";
import { type Fault, readLogs } from "./logs.js";
import { SoakModel } from "./model.js";
import type { Plan, Round } from "./plan.js";
import { end, processesWith } from "./processes.js";
import { Random } from "./random.js";
import type { Tally } from "./tally.js";

/** How long a host may take to open, to close, and to bring every turn to its end, in milliseconds. */
const PATIENCE = { opened: 30_000, closed: 20_000, over: 90_000, swept: 3_000 } as const;

const CALM: Round = { ms: 0, end: "close", moves: [], edits: [], faults: 0 };

/** A broken invariant, and in which round (from 0; the last one is the calm one). */
export interface Broken extends Fault {
  readonly round: number;
}

/** One plan, carried out in a world of its own. */
export class Run {
  readonly #disk: Disk;
  readonly #editor: Editor;
  readonly #model: SoakModel;
  readonly #checks: Checks;
  readonly #tag: string;
  #origin = "";

  constructor(
    private readonly plan: Plan,
    /** The built `host.ts`. */
    private readonly program: string,
    private readonly tally: Tally,
    /** Where the world is kept if an invariant breaks. */
    private readonly keep?: string,
  ) {
    this.#disk = new Disk();
    const { base } = this.#disk;
    this.#tag = `SOAK_RUN=${base}`;
    const count = (what: string): void => this.tally.add(what);
    this.#editor = new Editor(base, plan.seed, count);
    this.#editor.prepare();
    this.#model = new SoakModel(plan.seed, base, count);
    this.#checks = new Checks(base, this.#editor.carried);
  }

  /** Carries the plan out up to the first broken invariant. */
  async all(): Promise<Broken | undefined> {
    try {
      this.#origin = await this.#model.start();
      const rounds = [...this.plan.rounds, CALM];
      for (const [number, round] of rounds.entries()) {
        const calm = number === rounds.length - 1;
        const faults = await this.#round(round, number, calm);
        const [first] = faults;
        if (first !== undefined) {
          if (this.keep !== undefined) keepTree(this.#disk.base, this.keep);
          return { ...first, round: number };
        }
        this.tally.add("rounds");
      }
      this.tally.addLogs(readLogs(join(this.#disk.base, "home"), []));
      return undefined;
    } finally {
      end(processesWith(this.#tag));
      await this.#model.stop();
      this.#disk.remove();
    }
  }

  async #round(round: Round, number: number, calm: boolean): Promise<Fault[]> {
    const { base } = this.#disk;
    this.#model.faults = round.faults;
    this.#model.calm = calm;
    const child = new Child(this.program, this.#tag, this.#fileLimit(round), (what) =>
      this.tally.add(what),
    );
    try {
      const sessions = join(base, "home/sessions");
      child.send({
        order: "open",
        home: join(base, "home"),
        workspace: join(base, "ws"),
        origin: this.#origin,
        seed: this.plan.seed,
        number,
        round,
        ids: existsSync(sessions) ? readdirSync(sessions) : [],
        sessions: this.plan.sessions,
        calm,
      });
      const opened = await child.next("opened", PATIENCE.opened);
      if (opened === undefined) return child.faults("the host opened its sessions");
      const faults: Fault[] = opened.sessions.flatMap(({ id, readOnly, damage }) => {
        const what = `${id}: ${readOnly ?? ""} ${damage.join(", ")}`;
        return readOnly === undefined && damage.length === 0
          ? []
          : [{ invariant: "every log whole", what }];
      });
      faults.push(...(await this.#checks.opened(PATIENCE.swept)));
      if (faults.length > 0) return faults;
      child.send({ order: "go" });
      if (calm) {
        const over = await child.next("over", PATIENCE.over);
        if (over === undefined) return child.faults("every turn came to its end");
        if (over.states.some((state) => state !== "idle")) {
          return [{ invariant: "every turn can end", what: over.states.join(", ") }];
        }
      } else {
        await this.#happen(round, child);
      }
      return await this.#end(calm ? "close" : round.end, child);
    } finally {
      await child.kill();
      this.#disk.free();
    }
  }

  #fileLimit({ fileLimit }: Round): number | undefined {
    if (fileLimit === undefined) return undefined;
    const sessions = join(this.#disk.base, "home/sessions");
    const sizes = (existsSync(sessions) ? readdirSync(sessions) : []).map(
      (id) => statSync(join(sessions, id, "log.jsonl")).size,
    );
    return Math.max(0, ...sizes) + fileLimit;
  }

  /** The round itself: edits, a full disk, and the time or the moment of its end. */
  async #happen(round: Round, child: Child): Promise<void> {
    const timers: NodeJS.Timeout[] = [];
    let full = false;
    for (const edit of round.edits) {
      timers.push(setTimeout(() => this.#editor.edit(edit, full), edit.at));
    }
    if (round.full !== undefined && this.#disk.small) {
      const { at, ms } = round.full;
      const fill = (): void => {
        full = true;
        this.#disk.fill();
        this.tally.add("disk full");
      };
      const free = (): void => {
        this.#disk.free();
        full = false;
      };
      timers.push(setTimeout(fill, at), setTimeout(free, at + ms));
    }
    const watching = this.#killInWrite(round, child);
    await Promise.race([delay(round.ms), child.gone]);
    watching();
    for (const timer of timers) clearTimeout(timer);
    this.#disk.free();
  }

  /** Kills the host in the moment in which a temporary file appears, or its log grows. */
  #killInWrite(round: Round, child: Child): () => void {
    const { base } = this.#disk;
    const kill = (when: string): void => {
      if (child.killNow()) this.tally.add(`killed ${when}`);
    };
    const sessions = join(base, "home/sessions");
    const random = new Random("log", this.plan.seed, round.ms);
    const watchers =
      round.end === "killInWrite"
        ? ["ws/files", "ws/files/sub", "ws/files/deep/x"]
            .map((name) => join(base, name))
            .filter((name) => existsSync(name))
            .map((name) =>
              watch(name, (_, file) => {
                if (file?.startsWith(".countersign-")) kill("in the write of a file");
              }),
            )
        : round.end === "killInLog"
          ? readdirSync(sessions).map((id) =>
              watch(join(sessions, id), (_, file) => {
                // Not at the first line of a round, but somewhere in it.
                if (file !== null && random.chance(0.05)) kill("in the write of its log");
              }),
            )
          : [];
    for (const watcher of watchers) watcher.on("error", () => {});
    return () => {
      for (const watcher of watchers) watcher.close();
    };
  }

  async #end(how: Round["end"], child: Child): Promise<Fault[]> {
    if (how === "close") {
      child.send({ order: "close" });
      const closed = await Promise.race([child.gone, delay(PATIENCE.closed, "late" as const)]);
      if (closed === "late") return child.faults("the host closed");
      this.tally.add("closed");
      const left = processesWith(this.#tag);
      const what = `${left.length} after the host closed`;
      if (left.length > 0) return [{ invariant: "no process left", what }];
    } else {
      if (child.killNow()) this.tally.add("killed at a time");
      await child.gone;
      // Nobody ends what a killed host had started.
      this.tally.add("commands that outlived a killed host", end(processesWith(this.#tag)));
    }
    const wrong = this.#model.wrong.map((what) => ({ invariant: "every request valid", what }));
    return [...child.broken, ...wrong, ...(await this.#checks.atRest())];
  }
}

/** Copies what of a tree can be copied: files, directories and links as they are. */
function keepTree(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  const filter = (path: string): boolean => {
    const stats = lstatSync(path);
    return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
  };
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter });
}
