import { randomUUID } from "node:crypto";
import type { Gate } from "../gate/gate.js";
import type { Surface } from "../session/events.js";
import { LogError } from "../session/log.js";
import type { SessionRecord } from "../session/record.js";
import { turnIsOpen } from "../session/state.js";
import type { Trash } from "../workspace/remove.js";
import type { Workspace } from "../workspace/types.js";
import { Changes } from "./changes.js";
import type { Undoable, UndoChoice, UndoOutcome, UndoPlan, UndoTarget } from "./live.js";
import { type PlannedUndo, planUndo } from "./undo.js";
import { carryOut, settleUndo } from "./undoing.js";

export interface UndoDeskParts {
  readonly record: SessionRecord;
  readonly workspace: Workspace | undefined;
  readonly gate: Gate;
  readonly trash: Trash | undefined;
  /** Whether a turn is being driven. */
  readonly running: () => boolean;
  /** Why nothing may be written, or undefined. */
  readonly refusal: () => string | undefined;
  /** Hears of files that an undo changed. */
  readonly changed: (paths: readonly string[]) => void;
}

function refused(message: string): UndoOutcome {
  return { outcome: "refused", message };
}

/** The undos of one session: one at a time, and none while a turn is open. */
export class UndoDesk {
  readonly #changes = new Changes();
  #told = 0;
  /** Plans that were made here: no other is carried out. */
  readonly #plans = new WeakMap<UndoPlan, PlannedUndo>();
  #work: Promise<unknown> | undefined;

  constructor(private readonly parts: UndoDeskParts) {}

  get list(): readonly Undoable[] {
    return this.#known().list;
  }

  /** Resolves when no undo is under way, and what became of the last one is in the log. */
  async over(): Promise<void> {
    await this.#work?.catch(() => {});
    if (this.parts.refusal() === undefined) await this.settle();
  }

  undoneBy(target: UndoTarget): string | undefined {
    return this.#known().undoneBy(target);
  }

  async plan(target: UndoTarget): Promise<UndoPlan | string> {
    const { workspace, record } = this.parts;
    const no = this.#refusal();
    if (no !== undefined) return no;
    const set = this.#known().of(target);
    if (set === undefined || workspace === undefined) {
      return "There is nothing to undo: the session has not kept what was there before.";
    }
    const plan = await planUndo({ workspace, kept: (digest) => record.kept(digest) }, set);
    this.#plans.set(plan, plan);
    return plan;
  }

  async undo(
    plan: UndoPlan,
    choices: ReadonlyMap<string, UndoChoice>,
    surface: Surface,
  ): Promise<UndoOutcome> {
    const planned = this.#plans.get(plan);
    if (planned === undefined) throw new Error("this is no plan of this session");
    const no = this.#refusal();
    if (no !== undefined) return refused(no);
    const work = this.#carryOut(planned, choices, surface);
    // Set in the same tick: an ask that comes now waits for the end of it.
    this.#work = work;
    try {
      return await work;
    } finally {
      this.#work = undefined;
    }
  }

  /** Writes down what became of an undo that was cut short. Rejects with `LogError`. */
  settle(): Promise<void> {
    const { record, workspace } = this.parts;
    return settleUndo(record, workspace, record.facts);
  }

  async #carryOut(
    plan: PlannedUndo,
    choices: ReadonlyMap<string, UndoChoice>,
    surface: Surface,
  ): Promise<UndoOutcome> {
    const { record: ledger, workspace, gate, trash, changed } = this.parts;
    if (workspace === undefined) return refused("The workspace folder is gone.");
    try {
      await this.settle();
      const means = { gate, ledger, workspace, trash, newId: () => randomUUID() };
      const done = await carryOut(means, plan, choices, surface);
      if (done.kind === "nothing") return refused("There is nothing to undo.");
      if (done.kind === "changed") return { outcome: "changed" };
      void ledger.refreshMeta();
      return { outcome: "done", undo: done.undo, files: done.files };
    } catch (error) {
      if (error instanceof LogError) return refused(error.message);
      throw error;
    } finally {
      changed(plan.items.map(({ path }) => path));
    }
  }

  #refusal(): string | undefined {
    const { refusal, running, record } = this.parts;
    const readOnly = refusal();
    if (readOnly !== undefined) return readOnly;
    if (this.#work !== undefined) return "An undo is under way.";
    if (running()) return "A turn is running: cancel it or wait for its end, then undo.";
    if (turnIsOpen(record.facts))
      return "A turn is not over: go on with it or cancel it, then undo.";
    return undefined;
  }

  /** The changes up to now; only what is new is added. */
  #known(): Changes {
    const { events } = this.parts.record;
    for (; this.#told < events.length; this.#told++) {
      const event = events[this.#told];
      if (event !== undefined) this.#changes.add(event);
    }
    return this.#changes;
  }
}
