import { randomUUID } from "node:crypto";
import { Abandoned, Gate } from "../gate/gate.js";
import { type ChatClient, ChatError, type ToolSpec } from "../model/chatClient.js";
import type {
  Allow,
  Answer,
  Delta,
  SessionEvent,
  SessionState,
  Surface,
} from "../session/events.js";
import { LogError } from "../session/log.js";
import type { SessionRecord } from "../session/record.js";
import { type CallState, stateOf, turnIsOpen } from "../session/state.js";
import type { TurnPort } from "../tools/tool.js";
import type { ToolResult, Workspace } from "../workspace/types.js";
import { runCall, type ToolSet } from "./call.js";
import type {
  AllowUse,
  AnswerOutcome,
  AskOutcome,
  CoreSettings,
  LiveSession,
  OpenCard,
  OpenQuestion,
  QueuedAsk,
} from "./live.js";
import { driveTurn } from "./loop.js";
import type { PromptSource } from "./promptSource.js";
import { QuestionDesk } from "./questions.js";
import { AskQueue } from "./queue.js";
import { endCalls, NOT_BEGUN, settle, waitsForSomeone } from "./recover.js";
import { ModelDesk } from "./request.js";
import { runStopHooks } from "./stopHooks.js";
import { GO_ON } from "./transcript.js";
import { unlessAborted } from "./unlessAborted.js";

export interface RunnerParts {
  readonly record: SessionRecord;
  /** Undefined where the folder is gone: the session can only be read. */
  readonly workspace: Workspace | undefined;
  readonly prompt: PromptSource | undefined;
  readonly readOnly: string | undefined;
  readonly toolSet: ToolSet;
  readonly toolSpecs: readonly ToolSpec[];
  readonly settings: () => CoreSettings;
  readonly client: () => Promise<ChatClient>;
  readonly report: (message: string) => void;
  /** Called once, when the session is closed. */
  readonly closed: () => void;
}

/** What a turn starts from. */
type Begin =
  | { readonly kind: "ask"; readonly text: string; readonly ask?: string; readonly goesOn?: string }
  /** The open turn, from where it is. */
  | { readonly kind: "resume" };

interface Task {
  readonly abort: AbortController;
  done: Promise<void>;
}

/** Why a running task was told to stop by the user. */
class Cancelled extends Error {
  constructor() {
    super("cancelled");
    this.name = "Cancelled";
  }
}

function refused(message: string): AskOutcome {
  return { outcome: "refused", message };
}

/** One open session: at most one task drives its turns, one after the other. */
export class Runner implements LiveSession {
  readonly id: string;
  readonly #parts: RunnerParts;
  readonly #record: SessionRecord;
  readonly #gate: Gate;
  readonly #queue: AskQueue;
  readonly #questions: QuestionDesk;
  readonly #models = new ModelDesk();
  readonly #deltaListeners = new Set<(delta: Delta) => void>();
  #task: Task | undefined;
  /** Called when a card or question that an earlier host left is up again. */
  #tellUp: () => void = () => {};
  /** True while the last turn ended by itself, so that a queued ask may follow it. */
  #flows = false;
  #lastState: SessionState;
  #closing: Promise<void> | undefined;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#record = parts.record;
    this.id = parts.record.id;
    this.#queue = new AskQueue(parts.record);
    this.#questions = new QuestionDesk(parts.record, () => this.#tellUp());
    this.#gate = new Gate(parts.record, {
      newId: () => randomUUID(),
      emit: (delta) => this.#emit(delta),
      events: parts.record.events,
    });
    this.#lastState = this.state;
    parts.record.onEvent(() => this.#tellState());
    parts.record.onTrouble(() => this.#tellState(true));
  }

  /**
   * Takes up what an earlier host left; a card or question that was open is open again when this
   * resolves. A log that cannot be written is only reported.
   */
  async recover(): Promise<void> {
    if (this.readOnly !== undefined) return;
    try {
      await settle(this.#record);
    } catch (error) {
      this.#parts.report(`session ${this.id}: ${(error as Error).message}`);
      return;
    }
    if (!waitsForSomeone(this.#record)) return;
    const up = new Promise<void>((resolve) => {
      this.#tellUp = resolve;
    });
    const listening = this.#record.onEvent(({ type }) => {
      if (type === "card_raised" || type === "call_ended") this.#tellUp();
    });
    await this.#begin({ kind: "resume" });
    await Promise.race([up, this.#task?.done]);
    listening.dispose();
  }

  get events(): readonly SessionEvent[] {
    return this.#record.events;
  }

  get state(): SessionState {
    const { facts, heldElsewhere } = this.#record;
    return stateOf(facts, this.#task !== undefined || (heldElsewhere && turnIsOpen(facts)));
  }

  get readOnly(): string | undefined {
    return this.#closing === undefined ? this.#parts.readOnly : "This session is closed.";
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
    return this.#gate.openCards;
  }

  get openQuestion(): OpenQuestion | undefined {
    return this.#questions.open;
  }

  get queue(): readonly QueuedAsk[] {
    return this.#queue.asks;
  }

  get allows(): readonly AllowUse[] {
    return this.#gate.allowUses;
  }

  async ask(text: string): Promise<AskOutcome> {
    const no = this.#refusal();
    if (no !== undefined) return refused(no);
    if (text.trim() === "") return refused("There is nothing to send.");
    if (this.#task === undefined) return this.#begin({ kind: "ask", text });
    return this.#orRefused(async () => {
      const ask = await this.#queue.add(text);
      // The turn may have ended while this was written: then nobody else sends it on.
      if (this.#task === undefined && this.#flows) this.#sendOn();
      return { outcome: "queued", ask };
    });
  }

  async withdraw(ask: string): Promise<boolean> {
    return this.readOnly === undefined && this.#queue.withdraw(ask);
  }

  async goOn(): Promise<AskOutcome> {
    const no = this.#refusal();
    if (no !== undefined) return refused(no);
    if (this.#task !== undefined) return refused("A turn is running.");
    const { turn } = this.#record.facts;
    if (turnIsOpen(this.#record.facts)) return this.#begin({ kind: "resume" });
    const reason = turn?.ended?.reason;
    const cutShort = reason === "failed" || reason === "limit" || reason === "interrupted";
    if (!cutShort) {
      const next = this.#nextQueued();
      if (next !== undefined) return this.#begin(next);
    }
    if (turn === undefined || reason === undefined || reason === "finished") {
      return refused("There is nothing to go on with.");
    }
    return this.#begin({ kind: "ask", text: GO_ON, goesOn: turn.turn });
  }

  async answerCard(
    card: string,
    answer: Answer,
    options: { note?: string; surface: Surface },
  ): Promise<AnswerOutcome> {
    return this.#orGone(() => this.#gate.answer(card, answer, options));
  }

  async remakeCard(card: string): Promise<AnswerOutcome> {
    return this.#orGone(() => this.#gate.remake(card));
  }

  async answerQuestion(question: string, text: string): Promise<AnswerOutcome> {
    return this.#orGone(() => this.#questions.answer(question, text));
  }

  async revoke(allow: Allow): Promise<boolean> {
    return this.readOnly === undefined && this.#gate.revoke(allow);
  }

  async cancel(): Promise<void> {
    if (this.readOnly !== undefined) return;
    const task = this.#task;
    if (task !== undefined) {
      task.abort.abort(new Cancelled());
      await task.done;
      return;
    }
    if (turnIsOpen(this.#record.facts)) await this.#endLeftTurn("cancelled");
  }

  onEvent(listener: (event: SessionEvent) => void): { dispose(): void } {
    return this.#record.onEvent(listener);
  }

  onDelta(listener: (delta: Delta) => void): { dispose(): void } {
    this.#deltaListeners.add(listener);
    return { dispose: () => void this.#deltaListeners.delete(listener) };
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#task?.abort.abort(new Abandoned());
      await this.#task?.done;
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

  #refusal(): string | undefined {
    if (this.readOnly !== undefined) return this.readOnly;
    if (this.state !== "waiting") return undefined;
    return this.#record.facts.question === undefined
      ? "A card is open: approve or deny it first, or cancel the turn."
      : "A question is open: answer it first, or cancel the turn.";
  }

  async #orRefused(work: () => Promise<AskOutcome>): Promise<AskOutcome> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof LogError) return refused(error.message);
      throw error;
    }
  }

  async #orGone(work: () => Promise<AnswerOutcome>): Promise<AnswerOutcome> {
    if (this.readOnly !== undefined) return { outcome: "gone", message: this.readOnly };
    try {
      return await work();
    } catch (error) {
      if (error instanceof LogError) return { outcome: "gone", message: error.message };
      throw error;
    }
  }

  #sendOn(): void {
    const next = this.readOnly === undefined ? this.#nextQueued() : undefined;
    if (next !== undefined) void this.#begin(next);
  }

  #nextQueued(): Begin | undefined {
    const next = this.#queue.take();
    return next === undefined ? undefined : { kind: "ask", text: next.text, ask: next.ask };
  }

  /** Starts the one task; what it was asked to do has begun, or was refused, when this resolves. */
  #begin(first: Begin): Promise<AskOutcome> {
    return new Promise((resolve) => {
      const task: Task = { abort: new AbortController(), done: Promise.resolve() };
      // Set in the same tick as the ask: a second ask is queued, and a cancel finds what to stop.
      this.#task = task;
      task.done = this.#run(first, task.abort.signal, resolve);
    });
  }

  /** One turn, and those of the queued asks for as long as turns end by themselves. Never rejects. */
  async #run(
    first: Begin,
    signal: AbortSignal,
    begun: (outcome: AskOutcome) => void,
  ): Promise<void> {
    let tell = begun;
    let outcome: AskOutcome | undefined;
    try {
      for (let next: Begin | undefined = first; next !== undefined; ) {
        this.#flows = false;
        const itself = await this.#turn(next, signal, tell);
        tell = () => {};
        this.#flows = itself && !signal.aborted;
        next = this.#flows ? this.#nextQueued() : undefined;
      }
    } catch (error) {
      const known = error instanceof LogError || error instanceof ChatError;
      if (!known && !signal.aborted) this.#parts.report(`${(error as Error).stack}`);
      outcome = refused(signal.aborted ? "cancelled" : (error as Error).message);
    }
    this.#task = undefined;
    this.#tellState();
    // Once it has begun, a turn tells of its end in the log, or by `trouble`.
    if (outcome !== undefined) tell(outcome);
  }

  /** True where the turn ended by itself and the next queued ask may follow. */
  async #turn(
    begin: Begin,
    signal: AbortSignal,
    begun: (outcome: AskOutcome) => void,
  ): Promise<boolean> {
    const record = this.#record;
    if (begin.kind === "ask") await this.#startTurn(begin, signal);
    else await settle(record);
    if (!turnIsOpen(record.facts)) {
      begun({ outcome: "started", turn: record.facts.turn?.turn ?? "" });
      return true;
    }
    const turn = record.facts.turn?.turn ?? "";
    this.#tellState();
    begun({ outcome: "started", turn });
    const reason = await driveTurn(
      {
        record,
        signal,
        answer: () => this.#answer(signal),
        call: (call) => this.#call(call, turn, signal),
        stopHooks: (result) => this.#stopHooks(result, turn, signal),
        report: this.#parts.report,
      },
      (why) => why instanceof Abandoned,
    );
    void record.refreshMeta();
    return reason === "finished" || reason === "limit";
  }

  async #startTurn(begin: Extract<Begin, { kind: "ask" }>, signal: AbortSignal): Promise<void> {
    const { text, ask, goesOn } = begin;
    try {
      const client = await unlessAborted(this.#parts.client(), signal);
      if (turnIsOpen(this.#record.facts)) await this.#endLeftTurn("interrupted");
      await this.#record.append({
        type: "turn_started",
        turn: randomUUID(),
        text,
        model: client.model,
        ...(ask === undefined ? {} : { ask }),
        ...(goesOn === undefined ? {} : { goesOn }),
      });
    } finally {
      if (ask !== undefined) this.#queue.giveBack(ask);
    }
    void this.#record.refreshMeta();
  }

  /** Ends a turn that nobody drives, with a result for each of its calls. */
  async #endLeftTurn(reason: "interrupted" | "cancelled"): Promise<void> {
    const { turn } = this.#record.facts;
    await settle(this.#record);
    if (turn === undefined || turn.ended !== undefined) return;
    await endCalls(this.#record, reason === "cancelled" ? "cancelled" : NOT_BEGUN);
    await this.#record.append({ type: "turn_ended", turn: turn.turn, reason }, { flush: true });
  }

  async #answer(signal: AbortSignal) {
    const { prompt, toolSpecs: tools } = this.#parts;
    const client = await unlessAborted(this.#parts.client(), signal);
    const system = (await prompt?.system()) ?? "";
    const emit = (delta: Delta): void => this.#emit(delta);
    return this.#models.request({ record: this.#record, client, system, tools, signal, emit });
  }

  async #call(call: CallState, turn: string, signal: AbortSignal): Promise<{ bug?: unknown }> {
    const { workspace, toolSet, settings } = this.#parts;
    if (workspace === undefined) throw new Error("there is no workspace");
    const emit = (delta: Delta): void => this.#emit(delta);
    const replaces = call.lastCard === undefined ? {} : { replaces: call.lastCard };
    return runCall({
      call: {
        call: call.call,
        tool: call.tool,
        args: call.args,
        ...(call.invalid === undefined ? {} : { invalid: call.invalid }),
      },
      turn,
      context: {
        workspace,
        signal,
        turn: this.#port(call, turn, signal),
        onOutput: (stream, text) => emit({ type: "output", call: call.call, stream, text }),
      },
      gate: this.#gate,
      ledger: this.#record,
      toolSet,
      trusted: () => settings().trusted,
      emit,
      ...replaces,
    });
  }

  #port(call: CallState, turn: string, signal: AbortSignal): TurnPort {
    return {
      ask: (question, options) => this.#questions.ask(call.call, turn, question, options, signal),
      finish: async (result): Promise<ToolResult> => {
        const verdict = await this.#stopHooks(result, turn, signal);
        if (verdict !== undefined) return { ok: false, text: verdict };
        await this.#record.append({ type: "result", turn, text: result }, { flush: true });
        return { ok: true, text: "The turn is finished." };
      },
      useSkill: async (name) =>
        (await this.#parts.prompt?.useSkill(name)) ?? { ok: false, text: "There are no skills." },
    };
  }

  async #stopHooks(result: string, turn: string, signal: AbortSignal): Promise<string | undefined> {
    const { settings, workspace } = this.#parts;
    const { trusted, stopHooks } = settings();
    if (!trusted || workspace === undefined) return undefined;
    return runStopHooks(stopHooks, { record: this.#record, workspace, turn, result, signal });
  }

  #emit(delta: Delta): void {
    for (const listener of [...this.#deltaListeners]) {
      try {
        listener(delta);
      } catch (error) {
        this.#parts.report(`a listener failed: ${(error as Error).stack}`);
      }
    }
  }

  #tellState(always = false): void {
    const { state } = this;
    if (state === this.#lastState && !always) return;
    this.#lastState = state;
    this.#emit({ type: "state", state });
  }
}
