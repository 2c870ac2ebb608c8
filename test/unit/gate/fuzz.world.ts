import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { exclusively } from "../../../src/core/gate/exclusive.js";
import { Gate } from "../../../src/core/gate/gate.js";
import { Abandoned, type AppendOptions } from "../../../src/core/gate/ports.js";
import type { Allow, Answer, EventBody, SessionEvent } from "../../../src/core/session/events.js";
import * as realTools from "../../../src/core/tools/index.js";
import type { Tool, ToolContext } from "../../../src/core/tools/tool.js";
import { runCall, type ToolSet } from "../../../src/core/turn/call.js";
import { digest } from "../../../src/core/workspace/digest.js";
import type { Effect, EffectOf, Permit } from "../../../src/core/workspace/permit.js";
import { ToolError, type ToolResult } from "../../../src/core/workspace/types.js";
import { type Begun, Undoer } from "./fuzz.undo.js";
import { type makeWorkspace, TestLedger } from "./support.js";

/** Numbers that look random and come again with the same seed. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }
  of<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0];
  }
}

/** A log whose host can die: from then on nothing more is written, and nobody is told. */
class MortalLedger extends TestLedger {
  dead = false;
  #end: () => void = () => {};
  /** Resolves when its host is dead, or its run over: what was asked of it gets no answer any more. */
  readonly over = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  kill(): void {
    this.dead = true;
    this.#end();
  }

  override append(event: EventBody, options: AppendOptions = {}): Promise<SessionEvent> {
    return this.#alive(() => super.append(event, options));
  }
  override addAllow(allow: Allow): Promise<void> {
    return this.#alive(() => super.addAllow(allow));
  }
  override removeAllow(allow: Allow): Promise<void> {
    return this.#alive(() => super.removeAllow(allow));
  }
  async #alive<T>(task: () => Promise<T>): Promise<T> {
    const never = new Promise<T>(() => {});
    if (this.dead) return never;
    const done = await task();
    return this.dead ? never : done;
  }
}

/** The same kind and the same words; by its own means, since the gate's are on trial. */
function sameAllow(a: Allow, b: Allow): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What a call really did, and the log as it was when it did it. */
interface Done {
  readonly effect: Effect;
  readonly log: readonly SessionEvent[];
}

/** The allows that a log accounts for, by the words of the specification. */
function allowsOf(log: readonly SessionEvent[]): Allow[] {
  let allows: Allow[] = [];
  const spent = new Set(log.flatMap((event) => (event.type === "card_spent" ? [event.card] : [])));
  const remove = (allow: Allow) => {
    allows = allows.filter((one) => !sameAllow(one, allow));
  };
  for (const event of log) {
    if (event.type === "allow_revoked") remove(event.allow);
    if (event.type !== "card_answered" || event.answer !== "allow_session") continue;
    const card = log.find((one) => one.type === "card_raised" && one.card === event.card);
    ok(card?.type === "card_raised", `${event.card} was answered and never raised`);
    if (spent.has(event.card)) continue;
    const allow: Allow =
      card.kind === "run"
        ? { run: card.argv ?? [] }
        : card.kind === "write"
          ? { write: card.path ?? "" }
          : { read: card.path ?? "" };
    remove(allow);
    allows.push(allow);
  }
  return allows;
}

/** Why this effect was right, from the log alone; throws where it was not. */
function justify({ effect, log }: Done): void {
  ok(effect.kind !== "remove", "a call removed a file");
  const starts = log.filter((event) => event.type === "call_started" && event.call === effect.call);
  const start = starts.at(-1);
  ok(start?.type === "call_started", `${effect.call} did something before it was started`);
  if (effect.kind === "write") {
    const { path, before, after } = start.write ?? {};
    deepStrictEqual([path, before, after], [effect.path.real, effect.before, effect.after]);
  }
  const own: Allow =
    effect.kind === "run"
      ? { run: [...effect.argv] }
      : effect.kind === "write"
        ? { write: effect.path.real }
        : { read: effect.path.real };
  if (start.by === "allow") {
    const before = log.slice(0, log.indexOf(start));
    ok(start.allow !== undefined && sameAllow(start.allow, own), "by an allow for something else");
    ok(
      allowsOf(before).some((one) => sameAllow(one, own)),
      "by an allow that nobody gave",
    );
    return;
  }
  const cards = log.filter((event) => event.type === "card_raised" && event.call === effect.call);
  const card = cards.at(-1);
  ok(
    card?.type === "card_raised" && card.card === start.card,
    "not by the newest card of the call",
  );
  const said = log
    .filter((event) => "card" in event && event.card === card.card)
    .map((event) => (event.type === "card_answered" ? event.answer : event.type))
    .filter((one) => one !== "card_edited");
  deepStrictEqual(
    said.filter((one) => one !== "allow_once" && one !== "allow_session"),
    ["card_raised", "call_started"],
  );
  strictEqual(said.length, 3, "not by exactly one yes");
  strictEqual(card.kind, effect.kind);
  if (effect.kind === "run") {
    deepStrictEqual([card.argv, card.timeout ?? 120], [[...effect.argv], effect.timeout]);
    return;
  }
  strictEqual(card.path, effect.path.real);
  if (effect.kind === "read") return;
  strictEqual(card.digest, effect.before);
  const proposed = Buffer.from(card.proposed ?? "", card.proposedEncoding ?? "utf8");
  const answer = log.find((event) => event.type === "card_answered" && event.card === card.card);
  ok(answer?.type === "card_answered");
  const edits = log.filter((event) => event.type === "card_edited" && event.card === card.card);
  const edit = edits.at(-1);
  const edited = edit?.type === "card_edited" ? edit.edited : undefined;
  if (edit !== undefined) ok(edit.seq < answer.seq, "edited after its answer");
  strictEqual(answer.digest, edited === undefined ? undefined : effect.after, "not that edit");
  const shown = edited === undefined ? proposed : Buffer.from(edited);
  strictEqual(digest(shown), effect.after, "other bytes than the card showed");
}

/** One session: its log outlives its hosts. */
export class Session {
  ledger = new MortalLedger();
  gate: Gate;
  #cancel = new AbortController();
  /** The call at work, or undefined. */
  current: Promise<void> | undefined;
  #call: { call: string; tool: string; args: Record<string, unknown> } | undefined;
  #calls = 0;
  #cards = 0;
  hosts = 1;
  readonly made: string[] = [];
  /** Answers that were taken, by the person's own count. */
  taken = 0;
  /** Edits that were taken. */
  edited = 0;
  /** The undo at work, or undefined. */
  undoing: Promise<void> | undefined;
  readonly #undoer: Undoer;

  constructor(
    readonly name: string,
    private readonly world: World,
  ) {
    this.ledger.log.push({
      ...{ type: "turn_started", turn: "t1", text: "go", model: "m" },
      ...{ seq: 1, at: "2026-01-01T00:00:00.000Z" },
    });
    this.gate = this.#newGate();
    this.#undoer = new Undoer(name, world);
  }

  /** Takes back something that it did, or brings back what it took; gives what that is. */
  undo(dice: Dice): string {
    const target = this.#undoer.target(this.ledger.log, dice);
    const undoing: Promise<void> = this.#undoer
      .run(this.ledger, this.gate, target, dice)
      .finally(() => {
        if (this.undoing === undoing) this.undoing = undefined;
      });
    undoing.catch((error) => this.world.faults.push(error));
    this.undoing = undoing;
    return `${target.kind} ${target.id}`;
  }

  #newGate(): Gate {
    const newId = () => {
      this.#cards += 1;
      return `${this.name}-k${this.#cards}`;
    };
    return new Gate(this.ledger, { newId, events: this.ledger.log });
  }

  start(tool: string, args: Record<string, unknown>): void {
    this.#calls += 1;
    this.#call = { call: `${this.name}-c${this.#calls}`, tool, args };
    this.made.push(this.#call.call);
    this.#run();
  }

  #run(replaces?: string): void {
    const call = this.#call;
    if (call === undefined) return;
    const { ledger, gate } = this;
    this.#cancel = new AbortController();
    const context: ToolContext = {
      workspace: this.world.workspace,
      signal: this.#cancel.signal,
      turn: {
        ask: async () => "",
        finish: async (text) => ({ ok: true, text }),
        useSkill: async (text) => ({ ok: true, text }),
      },
      onOutput: () => {},
    };
    const running = runCall({
      call,
      turn: "t1",
      context,
      gate,
      ledger,
      toolSet: this.world.toolsFor(this),
      trusted: () => true,
      emit: () => {},
      ...(replaces === undefined ? {} : { replaces }),
    }).then(
      (outcome) => {
        if (outcome.bug !== undefined) throw outcome.bug;
      },
      (error) => {
        if (!(error instanceof Abandoned)) throw error;
      },
    );
    const current: Promise<void> = running.finally(() => {
      if (this.current === current) this.current = undefined;
    });
    current.catch((error) => this.world.faults.push(error));
    this.current = current;
  }

  cancel(): void {
    this.#cancel.abort(new Error("the user cancelled"));
  }

  /** Answers what is on the screen now, or what was there before the card was edited. */
  async answer(card: string, answer: Answer, seen: "now" | "before" = "now"): Promise<void> {
    const { ledger } = this;
    const before = ledger.ofType("card_answered").filter((event) => event.card === card).length;
    const open = this.gate.openCards.find((one) => one.card === card);
    const digests = ledger.ofType("card_edited").filter((event) => event.card === card);
    const old = digests.at(-2)?.digest;
    const shown = seen === "now" ? open?.edit?.event.digest : old;
    const outcome = await this.gate.answer(card, answer, {
      surface: "test",
      ...(shown === undefined ? {} : { shown }),
    });
    if (outcome.outcome === "taken") this.taken += 1;
    if (outcome.outcome === "taken") strictEqual(before, 0, `${card} was answered twice`);
    const given = ledger.ofType("card_answered").find((event) => event.card === card);
    if (outcome.outcome !== "taken" || given === undefined || given.answer === "deny") return;
    // What was approved, by the log, is the text that this person saw, whatever was on its way.
    const proposal = open?.after ? digest(open.after) : undefined;
    strictEqual(given.digest ?? proposal, shown ?? proposal, `${card}: another text was approved`);
  }

  async edit(card: string, text: string): Promise<void> {
    const outcome = await this.gate.edit(card, Buffer.from(text));
    if (outcome.outcome === "taken") this.edited += 1;
  }

  /** The host is killed in the middle of whatever it does, and another opens the log. */
  async restart(): Promise<void> {
    const old = this.ledger;
    const { call } = this.#call ?? {};
    const wasRunning = this.current !== undefined;
    old.kill();
    this.#cancel.abort(new Abandoned());
    this.current = undefined;
    this.undoing = undefined;
    this.hosts += 1;
    // Only what was whole in the log when the host died is there for the next one.
    this.ledger = new MortalLedger();
    this.ledger.log.push(...old.log);
    for (const [name, content] of old.blobs) this.ledger.blobs.set(name, content);
    await this.#undoer.settle(this.ledger);
    for (const allow of old.allows()) await TestLedger.prototype.addAllow.call(this.ledger, allow);
    this.gate = this.#newGate();
    if (!wasRunning || call === undefined) return;
    const own = this.ledger.log.filter((event) => "call" in event && event.call === call);
    if (own.some((event) => event.type === "call_ended")) return;
    const last = own.at(-1);
    if (last?.type === "call_started" && !this.#spent(last.card)) {
      const result = "interrupted: it may or may not have happened";
      await this.ledger.append({ type: "call_ended", call, ok: false, result });
      return;
    }
    this.#run(this.#openCards(own)[0]);
  }

  #spent(card: string | undefined): boolean {
    return this.ledger.ofType("card_spent").some((event) => event.card === card);
  }

  #openCards(events: readonly SessionEvent[]): string[] {
    const closed = new Set<string>();
    for (const event of this.ledger.log) {
      if (event.type === "card_raised" && event.replaces !== undefined) closed.add(event.replaces);
      else if (event.type === "card_answered") closed.add(event.card);
      else if (event.type === "card_spent" || event.type === "card_withdrawn")
        closed.add(event.card);
    }
    return events.flatMap((event) =>
      event.type === "card_raised" && !closed.has(event.card) ? [event.card] : [],
    );
  }

  /** What must hold once nothing is at work any more. */
  check(): void {
    const { log } = this.ledger;
    Undoer.check(log, this.world.undone);
    for (const call of this.made) {
      const results = log.filter((event) => event.type === "call_ended" && event.call === call);
      strictEqual(results.length, 1, `${call} has ${results.length} results`);
    }
    deepStrictEqual(this.#openCards(log), [], "a card is open and nobody waits for it");
    deepStrictEqual(this.gate.openCards, []);
    for (const [index, event] of log.entries()) {
      if (event.type !== "card_spent" && event.type !== "card_withdrawn") continue;
      const of = log.find((one) => one.type === "card_raised" && one.card === event.card);
      const next = log
        .slice(index)
        .find(
          (one) => one.type === "card_raised" && of?.type === "card_raised" && one.call === of.call,
        );
      // Only a host that died in between does not know what its card takes the place of.
      if (next?.type === "card_raised" && this.hosts === 1) strictEqual(next.replaces, event.card);
    }
    const answered = this.ledger.ofType("card_answered").map((event) => event.card);
    strictEqual(new Set(answered).size, answered.length, "a card was answered twice");
    const known = allowsOf(log);
    const there = this.ledger.allows();
    for (const allow of there) {
      ok(
        known.some((one) => sameAllow(one, allow)),
        `nobody gave ${JSON.stringify(allow)}`,
      );
    }
    if (this.hosts === 1) {
      strictEqual(answered.length, this.taken, "the person counts other answers than the log");
      strictEqual(there.length, known.length, "the log has allows that are not on disk");
    }
    for (const { allow, used } of this.gate.allowUses) {
      const since = log.findLastIndex(
        (event) => event.type === "allow_revoked" && sameAllow(event.allow, allow),
      );
      const calls = log
        .slice(since + 1)
        .flatMap((event) =>
          event.type === "call_started" &&
          event.allow !== undefined &&
          sameAllow(event.allow, allow)
            ? [event.call]
            : [],
        );
      strictEqual(used, new Set(calls).size, `${JSON.stringify(allow)} was used otherwise`);
    }
  }
}

/** Two sessions, the files they share, and someone else who changes them. */
export class World {
  readonly workspace;
  readonly sessions: readonly [Session, Session];
  readonly done: Done[] = [];
  readonly faults: unknown[] = [];
  /** What undos have begun with, oldest first. */
  readonly undone: Begun[] = [];
  /** What each file must hold (null: it must not be there). */
  readonly files = new Map<string, Buffer | null>();

  constructor(readonly place: Awaited<ReturnType<typeof makeWorkspace>>) {
    this.workspace = place.workspace;
    this.sessions = [new Session("s1", this), new Session("s2", this)];
  }

  path(name: string): string {
    return name.startsWith("/")
      ? join(this.place.outside, name.slice(1))
      : join(this.place.root, name);
  }

  async fresh(): Promise<void> {
    await rm(this.place.root, { recursive: true });
    await rm(this.place.outside, { recursive: true });
    await mkdir(this.place.root);
    await mkdir(this.place.outside);
    for (const name of ["a", "b", "/o"]) await this.change(name, "one\ntwo\n");
  }

  /** Someone else writes or removes a file, never in the instant between a last check and a rename. */
  change(name: string, content: string | null): Promise<void> {
    const real = this.path(name);
    return exclusively(real, async () => {
      this.settleUndos(real);
      if (content === null) await rm(real, { force: true });
      else {
        await mkdir(dirname(real), { recursive: true });
        await writeFile(real, content);
      }
      this.files.set(real, content === null ? null : Buffer.from(content));
    });
  }

  /**
   * Looks what became of the undos of a file; for whoever has it exclusively. A file is what it was
   * or what the undo leaves, and never anything between.
   */
  settleUndos(real: string): void {
    for (const begun of this.undone) {
      if (begun.path !== real || begun.happened !== undefined) continue;
      const was = this.files.get(real) ?? null;
      const now = existsSync(real) ? readFileSync(real) : null;
      const same = (bytes: Buffer | null) =>
        bytes === null || now === null ? bytes === now : bytes.equals(now);
      ok(same(was) || same(begun.bytes), `${real} is neither before nor after`);
      begun.happened = same(begun.bytes) && !same(was);
      if (!begun.happened) continue;
      strictEqual(was === null ? null : digest(was), begun.before, "undid over other bytes");
      this.files.set(real, now);
    }
  }

  /** The real tools, watched: each effect is checked the moment it happens. */
  toolsFor(session: Session): ToolSet {
    return {
      findTool: (name) => {
        const tool = realTools.findTool(name);
        return tool instanceof ToolError ? tool : this.#watched(tool, session);
      },
      parseArgs: realTools.parseArgs,
    };
  }

  #watched(tool: Tool, { ledger }: Session): Tool {
    const did = (effect: Effect) => this.done.push({ effect, log: [...ledger.log] });
    return {
      ...tool,
      prepare: (args, context) => tool.prepare(args, context),
      execute: async (args, prepared, permit, context) => {
        if (prepared.kind === "run") {
          // The command itself is the workspace's business; here it counts that it would run.
          const { argv, ...rest } = (permit as unknown as Permit<"run">).spend();
          did({ ...rest, argv } as EffectOf<"run">);
          await setImmediate();
          return { ok: true, text: argv.join(" ") } satisfies ToolResult;
        }
        const effect = permit?.allows;
        if (prepared.kind === "write") this.settleUndos(prepared.path.real);
        const result = await tool.execute(args, prepared, permit, context);
        if (prepared.kind === "write" && effect?.kind === "write") {
          const { real } = prepared.path;
          const was = this.files.get(real) ?? null;
          const now = await readFile(real).catch(() => null);
          if ("ok" in result && result.ok) {
            strictEqual(was === null ? null : digest(was), effect.before, "wrote over other bytes");
            deepStrictEqual(now, Buffer.from(prepared.after), "wrote other bytes than approved");
            this.files.set(real, now);
            did(effect);
          } else {
            deepStrictEqual(now, was, "changed the file and says that it did not");
          }
        } else if (prepared.kind === "read" && prepared.path.kind === "outside" && effect) {
          did(effect);
        }
        return result;
      },
    };
  }

  /** A killed host's write that was under way ends all the same, since its process lives on here. */
  async #stillness(): Promise<void> {
    for (let ticks = 0; ticks < 10; ticks += 1) await setImmediate();
    for (const name of ["a", "b", "new/c", "/o", "/none"]) {
      await exclusively(this.path(name), async () => this.settleUndos(this.path(name)));
    }
  }

  async check(): Promise<void> {
    await this.#stillness();
    for (const fault of this.faults) throw fault;
    const calls = new Map<string, number>();
    for (const done of this.done) {
      justify(done);
      const { call } = done.effect;
      calls.set(call, (calls.get(call) ?? 0) + 1);
      strictEqual(calls.get(call), 1, `${call} was done twice`);
    }
    for (const session of this.sessions) session.check();
    for (const [path, bytes] of this.files) {
      deepStrictEqual(
        await readFile(path).catch(() => null),
        bytes,
        `${path} is not as last written`,
      );
    }
    for (const event of this.sessions.flatMap(({ ledger }) => ledger.ofType("call_ended"))) {
      if (event.changed === undefined) continue;
      const effect = this.done.find((done) => done.effect.call === event.call)?.effect;
      ok(
        effect?.kind === "write" && effect.path.real === event.changed,
        "changed by the log alone",
      );
    }
  }
}
