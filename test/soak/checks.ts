import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseMeta } from "../../src/core/session/meta.js";
import { verifySession } from "../../src/core/session/verify.js";
import { readMarked } from "./files.js";
import { type Fault, faultsOf, type Log, readLogs, startedCalls } from "./logs.js";

const TEMPORARY = /^\.countersign-.*\.tmp$/;

/** Every name under a directory, relative to it; links are not followed. */
export function namesUnder(at: string): string[] {
  return readdirSync(at, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? [entry.name, ...namesUnder(join(at, entry.name)).map((name) => join(entry.name, name))]
      : [entry.name],
  );
}

/** All there is to know of a tree, to tell whether anything in it was touched. */
export function snapshot(at: string): string {
  return [".", ...namesUnder(at)]
    .map((name) => {
      const path = join(at, name);
      const stats = lstatSync(path);
      const { mode, ino, nlink, size, mtimeMs } = stats;
      const content = stats.isFile() ? readFileSync(path, "base64") : "";
      const target = stats.isSymbolicLink() ? readlinkSync(path) : "";
      return JSON.stringify([name, mode, ino, nlink, size, mtimeMs, content, target]);
    })
    .join("\n");
}

/** The invariants of a world, looked at from outside while nothing moves. */
export class Checks {
  readonly #outside: string;
  readonly #seen = new Map<string, Buffer>();
  constructor(
    private readonly base: string,
    /** Names that a person has moved along with their folder: no sweep can know where to. */
    private readonly carried: ReadonlySet<string>,
  ) {
    this.#outside = snapshot(join(base, "outside"));
  }

  /**
   * What holds at any time, also right after a kill. A host that has just opened its sessions may be
   * at work by then: an effect that is seen has begun in the log that is read after it, and only what
   * had ended in the log of before must be seen. `moment` is for tests of that.
   */
  async atRest(moment: (which: "beforeFiles" | "afterFiles") => void = () => {}): Promise<Fault[]> {
    const faults: Fault[] = [];
    const home = join(this.base, "home");
    const earlier = readLogs(home, []);
    moment("beforeFiles");
    const marks = this.#marks(faults);
    const ran = readRan(join(this.base, "ws/ran"));
    moment("afterFiles");
    const logs = readLogs(home, faults);
    if (snapshot(join(this.base, "outside")) !== this.#outside) {
      faults.push({ invariant: "nothing written outside", what: "the tree outside has changed" });
    }
    for (const log of logs) {
      faults.push(...faultsOf(log), ...this.#grown(log), ...this.#meta(log));
      faults.push(...(await this.#chain(log)));
    }
    faults.push(...begun(marks, logs), ...commands(ran, earlier, logs));
    return faults;
  }

  /**
   * What holds besides once every session is open again. The temporary files that are there then
   * have `patience` milliseconds to go: a host that took a turn up by an allow writes at once.
   */
  async opened(patience = 0): Promise<Fault[]> {
    const left = await this.#left(patience);
    const faults = await this.atRest();
    const home = join(this.base, "home");
    for (const { id, torn } of readLogs(home, [])) {
      if (torn.length > 0) faults.push({ invariant: "every log whole", what: `${id} ends torn` });
    }
    if (left.length > 0)
      faults.push({ invariant: "no temporary file left", what: left.join(", ") });
    return faults;
  }

  /** Temporary files that stay; those that come while it looks are another writer's, and go as well. */
  async #left(patience: number): Promise<string[]> {
    const end = performance.now() + patience;
    let left = this.#temporaries();
    while (left.length > 0 && performance.now() < end) {
      await delay(20);
      const now = new Set(this.#temporaries());
      left = left.filter((name) => now.has(name));
    }
    return left;
  }

  #temporaries(): string[] {
    const files = namesUnder(join(this.base, "ws")).filter((name) =>
      TEMPORARY.test(name.split("/").at(-1) ?? ""),
    );
    const own = namesUnder(join(this.base, "home")).filter((name) => name.endsWith(".tmp"));
    return [...files, ...own].filter(
      (name) => !name.includes("sub.away/") && !this.carried.has(name.split("/").at(-1) ?? ""),
    );
  }

  /** A log only grows: what was written is never rewritten. */
  #grown({ id, whole }: Log): Fault[] {
    const before = this.#seen.get(id) ?? Buffer.alloc(0);
    this.#seen.set(id, whole);
    if (whole.subarray(0, before.length).equals(before)) return [];
    return [{ invariant: "events are never rewritten", what: id }];
  }

  /** Each line is the one that the next was written after; a torn end is for the next host. */
  async #chain({ id }: Log): Promise<Fault[]> {
    const verdict = await verifySession(join(this.base, "home/sessions", id));
    const wrong = verdict.faults.filter(({ kind }) => kind !== "cut").map(({ text }) => text);
    if (verdict.lines > 1 && verdict.chainFrom !== 2) wrong.push("it has no chain");
    return wrong.map((text) => ({ invariant: "the chain of every log", what: `${id}: ${text}` }));
  }

  /** Each allow on `meta.json` was given by an answer, and not taken back. */
  #meta({ id, events }: Log): Fault[] {
    const path = join(this.base, "home/sessions", id, "meta.json");
    const text = readFileSync(path, "utf8");
    const meta = parseMeta(text);
    if (meta === undefined) return [{ invariant: "meta.json whole", what: text.slice(0, 200) }];
    const given = new Set<string>();
    const cards = new Map<string, string>();
    for (const event of events) {
      if (event.type === "card_raised") {
        const { kind, argv, path: at } = event;
        cards.set(event.card, JSON.stringify({ [kind]: kind === "run" ? argv : at }));
      }
      if (event.type === "card_answered" && event.answer === "allow_session") {
        given.add(cards.get(event.card) ?? "");
      }
      if (event.type === "allow_revoked") given.delete(JSON.stringify(event.allow));
    }
    return meta.allows
      .map((allow) => JSON.stringify(allow))
      .filter((allow) => !given.has(allow))
      .map((allow) => ({ invariant: "no allow that nobody gave", what: `${id}: ${allow}` }));
  }

  /** The mark of every file that the model wrote last; a file that is not whole is a fault. */
  #marks(faults: Fault[]): Map<string, string> {
    const marks = new Map<string, string>();
    const at = join(this.base, "ws/files");
    for (const name of namesUnder(at)) {
      const path = join(at, name);
      if (TEMPORARY.test(name.split("/").at(-1) ?? "") || !lstatSync(path).isFile()) continue;
      const found = readMarked(readFileSync(path, "utf8"));
      if ("wrong" in found) {
        faults.push({ invariant: "every file before or after", what: `${name}: ${found.wrong}` });
      } else if (!found.mark.startsWith("[e")) marks.set(name, found.mark);
    }
    return marks;
  }
}

/** A call's bytes are in a file only where its effect had begun. */
function begun(marks: ReadonlyMap<string, string>, logs: readonly Log[]): Fault[] {
  const started = startedCalls(logs)
    .map(({ args }) => args)
    .join("\n");
  return [...marks]
    .filter(([, mark]) => !started.includes(mark))
    .map(([name, mark]) => ({
      invariant: "no effect without its answer or allow",
      what: `${name} has ${mark}, and its call had not begun`,
    }));
}

/** Every command that ran had begun, as often, and ran as often as it is said to have ended well. */
function commands(ran: readonly string[], earlier: readonly Log[], logs: readonly Log[]): Fault[] {
  const faults: Fault[] = [];
  const [began, ended] = [
    tokens(startedCalls(logs)),
    tokens(startedCalls(earlier).filter(({ ok }) => ok)),
  ];
  for (const token of new Set([...ran, ...began, ...ended])) {
    const of = (list: readonly string[]): number => list.filter((one) => one === token).length;
    const times = of(ran);
    if (times > of(began)) {
      const what = `the command ${token} ran ${times} times and began ${of(began)} times`;
      faults.push({ invariant: "no effect without its answer or allow", what });
    } else if (times < of(ended)) {
      const what = `the command ${token} ran ${times} times, and ${of(ended)} are said to have ended well`;
      faults.push({ invariant: "a result says what happened", what });
    }
  }
  return faults;
}

/** What each of these calls writes into `ran`. */
function tokens(calls: readonly { readonly args: string }[]): string[] {
  return calls.flatMap(({ args }) => /echo (T\w+) >> ran/.exec(args)?.[1] ?? []);
}

function readRan(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
