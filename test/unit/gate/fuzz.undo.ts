import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { rm } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import type { Gate } from "../../../src/core/gate/gate.js";
import type { UndoPermit, UndoRequest } from "../../../src/core/gate/ports.js";
import type { SessionEvent } from "../../../src/core/session/events.js";
import { factsOf } from "../../../src/core/session/state.js";
import { Changes } from "../../../src/core/turn/changes.js";
import type { UndoChoice, UndoTarget } from "../../../src/core/turn/live.js";
import { type PlannedUndo, planUndo } from "../../../src/core/turn/undo.js";
import { carryOut, settleUndo } from "../../../src/core/turn/undoing.js";
import { digest } from "../../../src/core/workspace/digest.js";
import type { Dice, World } from "./fuzz.world.js";
import type { TestLedger } from "./support.js";

/** A change of an undo that has begun: on the disk is what was there, or what it leaves. */
export interface Begun {
  readonly undo: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly bytes: Buffer | null;
  /** The log of the host that began it. */
  readonly by: TestLedger;
  /** Known once somebody looks, and before anybody else changes the file. */
  happened?: boolean;
}

const CHOICES = ["restore", "restore", "merge", "keep"] as const;

function digestOrNull(bytes: Uint8Array | null | undefined): string | null {
  return bytes === null || bytes === undefined ? null : digest(bytes);
}

/** Everything that a log says some call or undo of its session left of a file. */
function leftOf(log: readonly SessionEvent[], path: string): Set<string | null> {
  const left = new Set<string | null>();
  for (const event of log) {
    if (event.type === "call_started" && event.write?.path === path) left.add(event.write.after);
    if (event.type !== "undo_started") continue;
    for (const file of event.files) if (file.path === path) left.add(file.after);
  }
  return left;
}

/** The undos of one session, watched: each change is checked the moment it is about to happen. */
export class Undoer {
  #undos = 0;

  constructor(
    private readonly name: string,
    private readonly world: World,
  ) {}

  /** Something that may or may not have changed a file. */
  target(log: readonly SessionEvent[], dice: Dice): UndoTarget {
    const undos = log.flatMap((event) => (event.type === "undo_started" ? [event.undo] : []));
    const calls = log.flatMap((event) =>
      event.type === "call_started" && event.write !== undefined ? [event.call] : [],
    );
    const latest = (all: readonly string[]) => all.at(-1 - dice.below(3)) ?? all.at(-1) ?? "none";
    const any = dice.of(["turn", "call", "call", "undo", "undo"] as const);
    const kind = any === "undo" && undos.length === 0 ? "call" : any;
    return { kind, id: kind === "turn" ? "t1" : latest(kind === "call" ? calls : undos) };
  }

  async run(ledger: TestLedger, gate: Gate, target: UndoTarget, dice: Dice): Promise<void> {
    const { workspace } = this.world;
    const changes = new Changes();
    for (const event of ledger.log) changes.add(event);
    const set = changes.of(target);
    if (set === undefined) return;
    const plan = await planUndo({ workspace, kept: (name) => ledger.kept(name) }, set);
    const paths = new Set(set.changes.map(({ path }) => path));
    deepStrictEqual(plan.items.map(({ path }) => path).sort(), [...paths].sort());
    const choices = new Map<string, UndoChoice>();
    for (const { path } of plan.items) if (dice.below(4) > 0) choices.set(path, dice.of(CHOICES));
    // The person looks at the list for a while.
    for (let ticks = dice.below(6); ticks > 0; ticks -= 1) await setImmediate();
    const trash = dice.below(2) === 0 ? undefined : (file: string) => rm(file);
    const admitUndo = (request: UndoRequest) => this.#watched(ledger, gate, plan, choices, request);
    const newId = () => {
      this.#undos += 1;
      return `${this.name}-u${this.#undos}`;
    };
    const means = { gate: { admitUndo }, ledger, workspace, trash, newId };
    const done = await carryOut(means, plan, choices, "test");
    if (done.kind !== "done") return;
    for (const { path, outcome } of done.files) {
      const begun: Begun | undefined = this.world.undone.find(
        (one) => one.undo === done.undo && one.path === path,
      );
      if (begun === undefined) strictEqual(outcome, "failed", "done without a permit");
      else if (begun.happened !== undefined) strictEqual(begun.happened, outcome !== "failed");
    }
  }

  /** Another host opens the log: what the last one had begun with is found out, and not done again. */
  async settle(ledger: TestLedger): Promise<void> {
    await settleUndo(ledger, this.world.workspace, factsOf(ledger.log));
    // What the killed host was about to do it may still do here, where its process lives on.
    const own = this.world.undone.filter((begun) => begun.by === ledger);
    strictEqual(own.length, 0, "an undo went on by itself");
    strictEqual(factsOf(ledger.log).undo, undefined);
  }

  async #watched(
    ledger: TestLedger,
    gate: Gate,
    plan: PlannedUndo,
    choices: ReadonlyMap<string, UndoChoice>,
    request: UndoRequest,
  ): Promise<readonly UndoPermit[]> {
    const permits = await gate.admitUndo(request);
    for (const permitted of permits) {
      const { permit } = permitted;
      const spend = permit.spend.bind(permit);
      const watched = () => {
        // Before the change, while nobody else has the file.
        this.world.settleUndos(permitted.path.real);
        const effect = spend();
        this.#justify(ledger, plan, choices, request.undo, permitted);
        return effect;
      };
      Object.assign(permit, { spend: watched });
    }
    return permits;
  }

  /** Why this change is right, from the log and from what the person was shown and said. */
  #justify(
    ledger: TestLedger,
    plan: PlannedUndo,
    choices: ReadonlyMap<string, UndoChoice>,
    undo: string,
    permitted: UndoPermit,
  ): void {
    const path = permitted.path.real;
    const { before } = permitted.permit.allows;
    const bytes = permitted.kind === "write" ? Buffer.from(permitted.bytes) : null;
    const after = digestOrNull(bytes);
    const started = ledger.log.find(
      (event) => event.type === "undo_started" && event.undo === undo,
    );
    ok(started?.type === "undo_started", "an undo changed something before it was in the log");
    const logged = started.files.find((file) => file.path === path);
    deepStrictEqual([logged?.before, logged?.after], [before, after]);
    if (before !== null) ok(ledger.blobs.has(before), "what it replaces is not kept");
    const item = plan.items.find((one) => one.path === path);
    ok(item !== undefined, "not on the list");
    strictEqual(before, digestOrNull(item.now), "not the bytes that were shown");
    const choice = choices.get(path);
    ok(choice !== "keep", "the person said to keep it");
    const wanted = choice === "merge" && item.state === "conflict" ? item.merged : item.before;
    strictEqual(after, digestOrNull(wanted), "other bytes than were shown");
    if (choice === undefined || item.state !== "conflict") {
      // Nobody was asked, so what goes away is what this session itself left there.
      ok(item.state !== "conflict" && item.state !== "same" && item.state !== "impossible");
      ok(leftOf(ledger.log, path).has(before), "someone else's bytes went, and nobody was asked");
    }
    this.world.undone.push({ undo, path, before, after, bytes, by: ledger });
  }

  /** What must hold of a log once nothing is at work any more. */
  static check(log: readonly SessionEvent[], undone: readonly Begun[]): void {
    for (const started of log) {
      if (started.type !== "undo_started") continue;
      const told = log.flatMap((event) =>
        event.type === "undo_file" && event.undo === started.undo ? [event] : [],
      );
      deepStrictEqual(
        told.map(({ path }) => path),
        started.files.map(({ path }) => path),
        "not exactly one outcome for each file",
      );
      const ended = log.filter(
        (event) => event.type === "undo_ended" && event.undo === started.undo,
      );
      strictEqual(ended.length, 1, `${started.undo} has ${ended.length} ends`);
      for (const { path, outcome, found } of told) {
        if (found === true) continue;
        const begun: Begun | undefined = undone.find(
          (one) => one.undo === started.undo && one.path === path,
        );
        strictEqual(begun?.happened ?? false, outcome !== "failed", `${path} is told otherwise`);
      }
    }
  }
}
