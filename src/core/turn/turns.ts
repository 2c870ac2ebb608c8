import { randomUUID } from "node:crypto";
import { Abandoned } from "../gate/ports.js";
import { type ChatClient, ChatError } from "../model/chatClient.js";
import { LogError } from "../session/log.js";
import type { SessionRecord } from "../session/record.js";
import { endedByItself, turnIsOpen } from "../session/state.js";
import type { AskOutcome } from "./live.js";
import { driveTurn } from "./loop.js";
import type { AskQueue } from "./queue.js";
import { endCalls, NOT_BEGUN, settle } from "./recover.js";
import { unlessAborted } from "./unlessAborted.js";
import type { TurnWork } from "./work.js";

export interface TurnsParts {
  readonly record: SessionRecord;
  readonly queue: AskQueue;
  readonly work: TurnWork;
  readonly client: () => Promise<ChatClient>;
  readonly report: (message: string) => void;
  /** Resolves when an undo that is under way is over and in the log. Rejects with `LogError`. */
  readonly undone: () => Promise<void>;
  /** Why no turn may start any more, or undefined. */
  readonly refusal: () => string | undefined;
  /** Called when the session may read otherwise than before. */
  readonly stateChanged: () => void;
}

/** What a turn starts from. */
export type Begin =
  | { readonly kind: "ask"; readonly text: string; readonly ask?: string; readonly goesOn?: string }
  /** The open turn, from where it is. */
  | { readonly kind: "resume" };

/** Why a running task was told to stop by the user. */
class Cancelled extends Error {
  constructor() {
    super("cancelled");
    this.name = "Cancelled";
  }
}

interface Task {
  readonly abort: AbortController;
  done: Promise<void>;
}

/** The turns of one session, one after the other: at most one task drives them. */
export class Turns {
  readonly #parts: TurnsParts;
  readonly #record: SessionRecord;
  #task: Task | undefined;
  /** True while the last turn ended by itself, so that a queued ask may follow it. */
  #flows = false;
  /** The ask that was sent after the last stop, and so follows the turn that is being stopped. */
  #after: string | undefined;
  /** The end of a turn that nobody drove is on its way to the log; whatever comes next waits for it. */
  #leaving: Promise<void> = Promise.resolve();

  constructor(parts: TurnsParts) {
    this.#parts = parts;
    this.#record = parts.record;
  }

  get running(): boolean {
    return this.#task !== undefined;
  }

  /** Starts the one task; what it was asked to do has begun, or was refused, when this resolves. */
  begin(first: Begin): Promise<AskOutcome> {
    return new Promise((resolve) => {
      const task: Task = { abort: new AbortController(), done: Promise.resolve() };
      // Set in the same tick as the ask: a second ask is queued, and a cancel finds what to stop.
      this.#task = task;
      task.done = this.#run(first, task.abort.signal, resolve);
    });
  }

  /** Tells the running task why it is to stop; resolves when it has. */
  async stop(reason: Error): Promise<void> {
    this.#after = undefined;
    this.#task?.abort.abort(reason);
    await this.#task?.done;
    await this.#leaving;
  }

  /** Resolves when the running task is over. */
  async over(): Promise<void> {
    await this.#task?.done;
  }

  /** What the first queued ask starts, or the one of this id. */
  nextQueued(ask?: string): Begin | undefined {
    const next = this.#parts.queue.take(ask);
    return next === undefined ? undefined : { kind: "ask", text: next.text, ask: next.ask };
  }

  /** The ask that begins as soon as the turn that was told to stop is over. */
  get after(): string | undefined {
    return this.#after;
  }

  /**
   * Writes an ask to the queue while a turn runs; gives its id. It follows the turns before it where
   * they end by themselves. A turn that was told to stop leaves what was queued until then where it
   * is; the first ask after that is the user's next word, and begins once that turn is over. Rejects
   * with `LogError`.
   */
  async enqueue(text: string): Promise<string> {
    const ask = randomUUID();
    // Before it is written: the turn may end meanwhile, and is not to tell that all wait.
    if (this.#task?.abort.signal.aborted === true) this.#after ??= ask;
    try {
      await this.#parts.queue.add(ask, text);
    } catch (error) {
      this.#forget(ask);
      throw error;
    }
    // The turn may have ended while this was written: then nobody else sends it on.
    this.#sendOn();
    return ask;
  }

  /** False where it is not queued any more. Rejects with `LogError`. */
  async withdraw(ask: string): Promise<boolean> {
    const withdrawn = await this.#parts.queue.withdraw(ask);
    if (withdrawn) this.#forget(ask);
    return withdrawn;
  }

  #forget(ask: string): void {
    if (this.#after === ask) this.#after = undefined;
  }

  /** Starts the queued ask that is to follow, where no turn runs. */
  #sendOn(): void {
    if (this.#task !== undefined || this.#parts.refusal() !== undefined) return;
    const after = this.#after === undefined ? undefined : this.nextQueued(this.#after);
    if (after !== undefined) this.#after = undefined;
    const next = after ?? (this.#flows ? this.nextQueued() : undefined);
    if (next !== undefined) void this.begin(next);
  }

  /** Ends the open turn for the user, whoever drives it; it is in the log when this resolves. */
  cancel(): Promise<void> {
    return this.running ? this.stop(new Cancelled()) : this.#cancelLeft();
  }

  /** Ends the open turn where no task drives it; it is in the log when this resolves. */
  #cancelLeft(): Promise<void> {
    const done = this.#leaving.then(async () => {
      if (turnIsOpen(this.#record.facts)) await this.#endLeftTurn("cancelled");
    });
    this.#leaving = done.catch(() => {});
    return done;
  }

  /** Ends a turn that nobody drives, with a result for each of its calls. */
  async #endLeftTurn(reason: "interrupted" | "cancelled"): Promise<void> {
    const { turn } = this.#record.facts;
    await settle(this.#record);
    if (turn === undefined || turn.ended !== undefined) return;
    await endCalls(this.#record, reason === "cancelled" ? "cancelled" : NOT_BEGUN);
    await this.#record.append({ type: "turn_ended", turn: turn.turn, reason }, { flush: true });
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
      await this.#leaving;
      for (let next: Begin | undefined = first; next !== undefined; ) {
        this.#flows = false;
        const itself = await this.#turn(next, signal, tell);
        tell = () => {};
        this.#flows = itself && !signal.aborted;
        next = this.#flows ? this.nextQueued() : undefined;
      }
    } catch (error) {
      const known = error instanceof LogError || error instanceof ChatError;
      if (!known && !signal.aborted) this.#parts.report(`${(error as Error).stack}`);
      const message = signal.aborted ? "cancelled" : (error as Error).message;
      outcome = { outcome: "refused", message };
    }
    this.#task = undefined;
    this.#sendOn();
    this.#parts.stateChanged();
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
    const { work, report } = this.#parts;
    if (begin.kind === "ask") await this.#start(begin, signal);
    else await settle(record);
    const turn = record.facts.turn?.turn ?? "";
    if (!turnIsOpen(record.facts)) {
      begun({ outcome: "started", turn });
      return true;
    }
    this.#parts.stateChanged();
    begun({ outcome: "started", turn });
    const reason = await driveTurn(
      {
        record,
        signal,
        answer: () => work.answer(signal),
        call: (call) => work.call(call, turn, signal),
        stopHooks: (result) => work.stopHooks(result, turn, signal),
        report,
      },
      (why) => why instanceof Abandoned,
    );
    void record.refreshMeta();
    return endedByItself(reason);
  }

  async #start(begin: Extract<Begin, { kind: "ask" }>, signal: AbortSignal): Promise<void> {
    const { text, ask, goesOn } = begin;
    const { queue } = this.#parts;
    try {
      const client = await unlessAborted(this.#parts.client(), signal);
      await this.#parts.undone();
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
      if (ask !== undefined) queue.giveBack(ask);
    }
    void this.#record.refreshMeta();
  }
}
