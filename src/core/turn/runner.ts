import { randomUUID } from "node:crypto";
import { Gate } from "../gate/gate.js";
import { Abandoned } from "../gate/ports.js";
import type {
  Allow,
  Answer,
  Delta,
  SessionEvent,
  SessionState,
  Surface,
} from "../session/events.js";
import { Listeners } from "../session/listeners.js";
import { LogError } from "../session/log.js";
import type { SessionRecord } from "../session/record.js";
import { stateOf, turnIsOpen } from "../session/state.js";
import { whatGoesOn } from "./goOn.js";
import type {
  AllowUse,
  AnswerOutcome,
  AskOutcome,
  EditOutcome,
  LiveSession,
  OpenCard,
  OpenQuestion,
  QueuedAsk,
  Undoable,
  UndoChoice,
  UndoOutcome,
  UndoPlan,
  UndoTarget,
} from "./live.js";
import { QuestionDesk } from "./questions.js";
import { AskQueue } from "./queue.js";
import { orGone, orRefused, refused, whyNoAsk } from "./refusals.js";
import type { RunnerParts } from "./runnerParts.js";
import type { Sharer } from "./sharing.js";
import { takeUp } from "./takeUp.js";
import { Turns } from "./turns.js";
import { UndoDesk } from "./undoDesk.js";
import { TurnWork } from "./work.js";

/** One open session, as hosts see it. */
export class Runner implements LiveSession {
  readonly id: string;
  readonly #parts: RunnerParts;
  readonly #record: SessionRecord;
  readonly #gate: Gate;
  readonly #queue: AskQueue;
  readonly #questions: QuestionDesk;
  readonly #turns: Turns;
  readonly #undos: UndoDesk;
  readonly #deltas: Listeners<Delta>;
  /** What other sessions see of this one: its cards without what is said there of the others'. */
  readonly #sharer: Sharer;
  readonly #shared: { dispose(): void };
  /** Called when a card or question that an earlier host left is up again. */
  #tellUp: () => void = () => {};
  #lastState: SessionState;
  #closing: Promise<void> | undefined;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#record = parts.record;
    this.id = parts.record.id;
    this.#queue = new AskQueue(parts.record);
    this.#questions = new QuestionDesk(parts.record, () => this.#tellUp());
    this.#deltas = new Listeners(parts.report);
    const emit = (delta: Delta): void => this.#deltas.tell(delta);
    this.#gate = new Gate(parts.record, {
      newId: () => randomUUID(),
      emit,
      events: parts.record.events,
    });
    const { record, client, report } = parts;
    this.#undos = new UndoDesk({
      ...{ record, gate: this.#gate, workspace: parts.workspace, trash: parts.trash },
      running: () => this.#turns.running,
      refusal: () => this.readOnly,
      changed: parts.changed,
    });
    this.#turns = new Turns({
      record,
      queue: this.#queue,
      work: new TurnWork({ ...parts, gate: this.#gate, questions: this.#questions, emit }),
      client,
      report,
      undone: () => this.#undos.over(),
      refusal: () => this.readOnly,
      stateChanged: () => this.#tellState(),
    });
    this.#lastState = this.state;
    this.#sharer = {
      id: this.id,
      title: () => this.title,
      openCards: () => this.#gate.openCards,
      onEvent: (listener) => this.onEvent(listener),
    };
    this.#shared = parts.sharing.join(this.#sharer, {
      emit,
      landed: (path) => this.#landed(path),
    });
    parts.record.onEvent(() => this.#tellState());
    parts.record.onTrouble(() => this.#tellState(true));
  }

  /**
   * Takes up what an earlier host left; a card or question that was open is open again when this
   * resolves. A log that cannot be written is only reported.
   */
  async recover(): Promise<void> {
    if (this.readOnly !== undefined) return;
    const whenUp = (up: () => void): void => {
      this.#tellUp = up;
    };
    await takeUp(this.#record, this.#turns, this.#undos, whenUp, this.#parts.report);
  }

  get events(): readonly SessionEvent[] {
    return this.#record.events;
  }

  get state(): SessionState {
    const { facts, heldElsewhere } = this.#record;
    const { running } = this.#turns;
    const state = stateOf(facts, running || (heldElsewhere && turnIsOpen(facts)));
    // A card that an earlier task left is open in the log, and waits for nobody until it is up again.
    const up = this.#gate.openCards.length > 0 || this.#questions.open !== undefined;
    return state === "waiting" && running && !up ? "running" : state;
  }

  get readOnly(): string | undefined {
    return this.#closing === undefined ? this.#parts.readOnly : "This session is closed.";
  }

  get heldElsewhere(): boolean {
    return this.#record.heldElsewhere;
  }

  get trouble(): string | undefined {
    return this.#record.trouble;
  }

  get damage(): LiveSession["damage"] {
    return this.#record.damage;
  }

  get title(): string {
    return this.#record.title;
  }

  get openCards(): readonly OpenCard[] {
    return this.#gate.openCards.map((card) => {
      const others = this.#parts.sharing.others(this.#sharer, card);
      return others.length === 0 ? card : { ...card, others };
    });
  }

  get openQuestion(): OpenQuestion | undefined {
    return this.#questions.open;
  }

  get queue(): readonly QueuedAsk[] {
    return this.#queue.asks;
  }

  get nextAsk(): string | undefined {
    return this.#turns.after;
  }

  get allows(): readonly AllowUse[] {
    return this.#gate.allowUses;
  }

  get undoable(): readonly Undoable[] {
    return this.#undos.list;
  }

  undoneBy(target: UndoTarget): string | undefined {
    return this.#undos.undoneBy(target);
  }

  planUndo(target: UndoTarget): Promise<UndoPlan | string> {
    return this.#undos.plan(target);
  }

  undo(
    plan: UndoPlan,
    choices: ReadonlyMap<string, UndoChoice>,
    surface: Surface,
  ): Promise<UndoOutcome> {
    return this.#undos.undo(plan, choices, surface);
  }

  async ask(text: string): Promise<AskOutcome> {
    const no = this.#refusal();
    if (no !== undefined) return refused(no);
    if (text.trim() === "") return refused("There is nothing to send.");
    if (!this.#turns.running) return this.#turns.begin({ kind: "ask", text });
    return orRefused(async () => ({ outcome: "queued", ask: await this.#turns.enqueue(text) }));
  }

  async withdraw(ask: string): Promise<boolean> {
    return this.readOnly === undefined && this.#turns.withdraw(ask);
  }

  async goOn(): Promise<AskOutcome> {
    const no = this.#refusal();
    if (no !== undefined) return refused(no);
    if (this.#turns.running) return refused("A turn is running.");
    const next = whatGoesOn(this.#record.facts, () => this.#turns.nextQueued());
    return next === undefined
      ? refused("There is nothing to go on with.")
      : this.#turns.begin(next);
  }

  async answerCard(
    card: string,
    answer: Answer,
    options: { note?: string; surface: Surface; shown?: string },
  ): Promise<AnswerOutcome> {
    return orGone(this.readOnly, () => this.#gate.answer(card, answer, options));
  }

  async editCard(card: string, bytes: Uint8Array): Promise<EditOutcome> {
    return orGone(this.readOnly, () => this.#gate.edit(card, bytes));
  }

  async revertCard(card: string): Promise<EditOutcome> {
    return orGone(this.readOnly, () => this.#gate.revert(card));
  }

  async remakeCard(card: string): Promise<AnswerOutcome> {
    return orGone(this.readOnly, () => this.#gate.remake(card));
  }

  async answerQuestion(question: string, text: string): Promise<AnswerOutcome> {
    return orGone(this.readOnly, () => this.#questions.answer(question, text));
  }

  async revoke(allow: Allow): Promise<boolean> {
    return this.readOnly === undefined && this.#gate.revoke(allow);
  }

  async cancel(): Promise<void> {
    if (this.readOnly === undefined) await this.#turns.cancel();
  }

  onEvent(listener: (event: SessionEvent) => void): { dispose(): void } {
    return this.#record.onEvent(listener);
  }

  onDelta(listener: (delta: Delta) => void): { dispose(): void } {
    return this.#deltas.add(listener);
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#turns.stop(new Abandoned());
      await this.#undos.over().catch(() => {});
      this.#shared.dispose();
      await this.#record.close();
      this.#parts.closed();
    })();
    return this.#closing;
  }

  /** Gives the session a title of the user's. Rejects with the error of the disk. */
  async rename(title: string): Promise<void> {
    if (this.readOnly !== undefined) throw new LogError(this.readOnly);
    await this.#record.rename(title);
  }

  /** Looks again at the files of open cards. */
  filesChanged(paths: readonly string[]): void {
    this.#gate.fileChanged(paths).catch((error: Error) => this.#parts.report(`${error.stack}`));
  }

  #landed(path: string): void {
    // A log that cannot be written tells of itself, by `trouble`.
    this.#gate.landed(path).catch((error: Error) => {
      if (!(error instanceof LogError)) this.#parts.report(`${error.stack}`);
    });
  }

  #refusal(): string | undefined {
    return whyNoAsk(this.readOnly, this.state, this.#record.facts);
  }

  #tellState(always = false): void {
    const { state } = this;
    if (state === this.#lastState && !always) return;
    this.#lastState = state;
    this.#deltas.tell({ type: "state", state });
  }
}
