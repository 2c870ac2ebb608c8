import { ok } from "node:assert/strict";
import { tmpdir } from "node:os";
import { setImmediate } from "node:timers/promises";
import type { Answer } from "../../../src/core/session/events.js";
import { Dice, type Session, World } from "./fuzz.world.js";
import { makeWorkspace } from "./support.js";

/** How many runs, and how long at most where that is not said. */
const RUNS = Number(process.env.COUNTERSIGN_FUZZ_RUNS ?? 1_000);
const LONGEST_MS = process.env.COUNTERSIGN_FUZZ_RUNS === undefined ? 12_000 : 3_600_000;
const FIRST_SEED = Number(process.env.COUNTERSIGN_FUZZ_SEED ?? Date.now() % 1_000_000_000);
const STEPS = 24;

const ANSWERS: readonly [Answer, ...Answer[]] = ["allow_once", "allow_session", "deny"];
const CONTENTS = ["one\ntwo\n", "one\r\n2\r\n", "", "two\n", "caf\u00e9\n", null] as const;
const EDITS = ["one\ntwo\n", "mine\n", "", "one\n2\n", "a\rb", "x\n", "mine\r\n"] as const;
const NAMES = ["a", "b", "new/c"] as const;

/** One of the calls a model makes, those that fail included. */
function someCall(world: World, dice: Dice): [string, Record<string, unknown>] {
  const path = dice.of<string>([...NAMES, world.path("/o"), world.path("/none")]);
  switch (dice.below(8)) {
    case 0:
    case 1:
      return ["write_file", { path, content: dice.of(["x\n", "y\n", "one\ntwo\n", ""]) }];
    case 2:
    case 3:
      return ["search_replace", { path, old: "two", new: dice.of(["2", "two and more", "II"]) }];
    case 4:
    case 5:
      return ["run", { argv: dice.of([["make"], ["make"], ["make", ""]]) }];
    case 6:
      return ["read_file", { path }];
    default:
      return ["finish", { result: "done" }];
  }
}

class Run {
  readonly steps: string[] = [];
  readonly #later: Promise<unknown>[] = [];

  constructor(
    private readonly world: World,
    private readonly dice: Dice,
  ) {}

  #do(step: string, task: Promise<unknown>): Promise<unknown> | undefined {
    this.steps.push(step);
    this.#later.push(task);
    task.catch(() => {});
    return this.dice.below(3) === 0 ? task : undefined;
  }

  async #cardOrEnd(session: Session): Promise<void> {
    while (session.current !== undefined && session.gate.openCards.length === 0)
      await setImmediate();
  }

  async #step(): Promise<void> {
    const { dice, world } = this;
    const session = dice.of(world.sessions);
    const { name } = session;
    // One at a time, and none while a call is at work: the session sees to that.
    if (session.undoing !== undefined) {
      const file = dice.of(["a", "b", "new/c", "/o"]);
      const content = dice.of<string | null>([...CONTENTS]);
      if (dice.below(3) === 0) await this.#quiet(`${name} restarts in an undo`, session.restart());
      else await this.#do(`someone changes ${file} in an undo`, world.change(file, content));
      return;
    }
    const wrote = session.ledger.ofType("call_started").some((event) => event.write !== undefined);
    if (session.current === undefined && wrote && dice.below(2) === 0) {
      this.steps.push(`${name} undoes ${session.undo(dice)}`);
      if (dice.below(3) > 0) await this.#undone(session);
      return;
    }
    if (session.current === undefined && dice.below(4) > 0) {
      const [tool, args] = someCall(world, dice);
      this.steps.push(`${name} calls ${tool} ${JSON.stringify(args)}`);
      session.start(tool, args);
      if (dice.below(4) > 0) await this.#cardOrEnd(session);
      return;
    }
    switch (dice.below(19)) {
      case 0:
      case 14:
      case 13: {
        const open = session.gate.openCards[0]?.event.path;
        const at = ["a", "b", "/o"].find((one) => world.path(one) === open);
        const file = dice.below(4) > 0 && at !== undefined ? at : dice.of(["a", "b", "/o"]);
        const content = dice.of<string | null>([...CONTENTS]);
        await this.#do(
          `someone changes ${file} to ${JSON.stringify(content)}`,
          world.change(file, content),
        );
        return;
      }
      case 1: {
        if (session.current === undefined) return;
        this.steps.push(`${name} is cancelled`);
        session.cancel();
        return;
      }
      case 2:
        await this.#quiet(`${name} restarts`, session.restart());
        return;
      case 3: {
        const [allow] = session.ledger.allows();
        if (allow === undefined) return;
        const { ledger } = session;
        const task = session.gate.revoke(allow);
        await this.#do(
          `${name} takes back ${JSON.stringify(allow)}`,
          Promise.race([task, ledger.over]),
        );
        return;
      }
      case 4: {
        const old = session.ledger.ofType("card_raised").at(-dice.below(3) - 1)?.card ?? "none";
        const answer = dice.of(ANSWERS);
        await this.#answer(session, old, answer);
        return;
      }
      case 5: {
        const card = session.gate.openCards[0]?.card;
        if (card === undefined) return;
        const { ledger } = session;
        const task = Promise.race([session.gate.remake(card), ledger.over]);
        await this.#do(`${name} remakes ${card}`, task);
        return;
      }
      case 15:
      case 16:
      case 17:
      case 18: {
        if (dice.below(2) > 0) await this.#cardOrEnd(session);
        const card = session.gate.openCards.find(({ event }) => event.kind === "write")?.card;
        if (card === undefined) return;
        const text = dice.of<string>(EDITS);
        const { ledger } = session;
        const task = Promise.race([session.edit(card, text), ledger.over]);
        await this.#do(`${name} edits ${card} to ${JSON.stringify(text)}`, task);
        return;
      }
      case 6:
        await this.#do(`${name} hears of changes`, session.gate.fileChanged(["a", "b", "o"]));
        return;
      case 7: {
        const card = session.gate.openCards[0]?.card;
        if (card === undefined) return;
        await Promise.all([
          this.#answer(session, card, dice.of(ANSWERS)),
          this.#answer(session, card, dice.of(ANSWERS)),
        ]);
        return;
      }
      default: {
        if (dice.below(4) > 0) await this.#cardOrEnd(session);
        const card = session.gate.openCards[0]?.card;
        if (card !== undefined) await this.#answer(session, card, dice.of(ANSWERS));
      }
    }
  }

  async #undone(session: Session): Promise<void> {
    await Promise.race([session.undoing, session.ledger.over]);
  }

  async #answer(session: Session, card: string, answer: Answer): Promise<void> {
    const seen = this.dice.below(5) > 0 ? "now" : "before";
    const task = Promise.race([session.answer(card, answer, seen), session.ledger.over]);
    await this.#do(`${session.name} answers ${card} with ${answer}, as seen ${seen}`, task);
  }

  async #quiet(step: string, task: Promise<unknown>): Promise<void> {
    this.steps.push(step);
    await task;
  }

  async all(): Promise<void> {
    for (let step = 0; step < STEPS; step += 1) {
      await this.#step();
      for (let ticks = this.dice.below(4); ticks > 0; ticks -= 1) await setImmediate();
    }
    for (const session of this.world.sessions) {
      await this.#undone(session);
      while (session.current !== undefined) {
        await this.#cardOrEnd(session);
        const card = session.gate.openCards[0]?.card;
        if (card === undefined) continue;
        await session.answer(card, this.dice.of(ANSWERS));
        // The file may change for ever under a fuzz; a person gives up at some point.
        const tired = this.dice.below(8) === 0;
        if (tired) session.cancel();
      }
    }
    await Promise.all(this.#later);
    await this.world.check();
  }
}

describe("whatever a model, a person and others do, in any order", () => {
  it("nothing happens without an explicit answer or an exact allow, and log and disk agree", async function () {
    this.timeout(LONGEST_MS + 30_000);
    const place = await makeWorkspace();
    const started = performance.now();
    const kinds = { write: 0, read: 0, run: 0, remove: 0 };
    let edited = 0;
    let undone = 0;
    let runs = 0;
    try {
      for (; runs < RUNS && performance.now() - started < LONGEST_MS; runs += 1) {
        const seed = FIRST_SEED + runs;
        const world = new World(place);
        const run = new Run(world, new Dice(seed));
        await world.fresh();
        try {
          await run.all();
          for (const { effect } of world.done) kinds[effect.kind] += 1;
          undone += world.undone.filter(({ happened }) => happened === true).length;
          for (const { ledger } of world.sessions) {
            edited += ledger.ofType("card_answered").filter(({ digest }) => digest).length;
          }
        } catch (error) {
          const steps = run.steps.map((step) => step.replaceAll(tmpdir(), "…")).join("\n");
          const logs = world.sessions.map(({ name, ledger }) =>
            ledger.log
              .map(
                (event) => `${name} ${event.seq} ${JSON.stringify({ ...event, diff: undefined })}`,
              )
              .join("\n"),
          );
          const again = `COUNTERSIGN_FUZZ_SEED=${seed} COUNTERSIGN_FUZZ_RUNS=1`;
          throw new Error(`${again}\n${steps}\n${logs.join("\n")}`, { cause: error });
        } finally {
          for (const { ledger } of world.sessions) ledger.kill();
        }
      }
      // A gate that lets nothing through would be safe and of no use.
      if (runs >= 50) ok(edited > runs / 8, `${edited} edits were approved in ${runs} runs`);
      if (runs >= 50) ok(undone > runs / 20, `${undone} files were undone in ${runs} runs`);
      if (runs >= 50)
        ok(kinds.write > runs / 4 && kinds.read > 0 && kinds.run > runs / 4, JSON.stringify(kinds));
    } finally {
      await place.remove();
    }
  });
});
