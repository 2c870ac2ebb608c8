import { RequestError } from "@agentclientprotocol/sdk";
import type { SessionEvent } from "../core/session/events.js";
import type { AskOutcome, LiveSession, OpenQuestion } from "../core/turn/live.js";
import type { End, Turns } from "./turns.js";

/** What waiting for an end needs of its session. */
interface PromptHost {
  /** Aborts when the client is gone: nothing that fails then is an answer. */
  readonly gone: AbortSignal;
  readonly report: (message: string) => void;
  /** Says what waits in the queue, at the event with this number. */
  readonly tellQueue: (seq: number) => void;
}

/** What comes of each prompt of one session on one connection. */
export class PromptEnds {
  /** Asks that a prompt of this connection queued. */
  readonly #queued = new Set<string>();
  /** How often the client has cancelled: a prompt that came before the last time is cancelled too. */
  #cancels = 0;
  #closed = false;

  constructor(
    private readonly live: LiveSession,
    private readonly turns: Turns,
    private readonly host: PromptHost,
  ) {}

  /** Whether this ask waits in the queue for a prompt of this connection. */
  hasQueued(ask: string): boolean {
    return this.#queued.has(ask);
  }

  /** The client has cancelled: what is on its way is cancelled too. */
  cancelled(): void {
    this.#cancels++;
  }

  /** The session leaves this connection: a request that is taken back cancels nothing any more. */
  close(): void {
    this.#closed = true;
  }

  /** Asks, and waits for the end of the turn that comes of it, now or out of the queue. */
  async ofAsk(ask: () => Promise<AskOutcome>, signal: AbortSignal): Promise<End> {
    const cancels = this.#cancels;
    // A turn may have ended by the time that the core says it started.
    const { value: outcome, seen } = await this.turns.during(ask);
    const cancelled = cancels !== this.#cancels;
    switch (outcome.outcome) {
      case "refused":
        if (cancelled) return { stopReason: "cancelled" };
        throw RequestError.invalidRequest(undefined, outcome.message);
      case "started":
        return this.#ofTurn(outcome.turn, seen, signal);
      case "queued":
        return this.#ofQueued(outcome.ask, cancelled, seen, signal);
    }
  }

  /** Answers an open question, and waits for the end of the turn that asked it. */
  async ofAnswer(question: OpenQuestion, text: string, signal: AbortSignal): Promise<End> {
    const asked = this.live.events.findLast(
      (one) => one.type === "question" && one.question === question.question,
    );
    const cancels = this.#cancels;
    const { value: outcome, seen } = await this.turns.during(() =>
      this.live.answerQuestion(question.question, text),
    );
    if (outcome.outcome !== "gone") return this.#ofTurn(asked?.turn ?? "", seen, signal);
    if (cancels !== this.#cancels) return { stopReason: "cancelled" };
    throw RequestError.invalidRequest(undefined, outcome.message);
  }

  async #ofQueued(
    ask: string,
    cancelled: boolean,
    seen: readonly SessionEvent[],
    signal: AbortSignal,
  ): Promise<End> {
    this.#queued.add(ask);
    const started = this.turns.start(ask, seen);
    const start = await this.#until(started, signal, () => this.live.withdraw(ask));
    this.#queued.delete(ask);
    if (start === "held") {
      const { events } = this.live;
      const last = events.findLast(
        (one) => one.type === "turn_ended" || (one.type === "ask_queued" && one.ask === ask),
      );
      // It was not in the queue yet when the turn's end told of that.
      if (last?.type === "ask_queued") this.host.tellQueue(last.seq);
      return this.turns.held();
    }
    if (start === "closed" || start === "withdrawn") return { stopReason: "cancelled" };
    // The cancel came after this prompt, and found nothing that ran yet.
    if (cancelled) await this.live.cancel();
    const later = this.live.events.filter((event) => event.seq > start.seq);
    return this.#ofTurn(start.turn ?? "", later, signal);
  }

  async #ofTurn(turn: string, seen: readonly SessionEvent[], signal: AbortSignal): Promise<End> {
    const ended = this.turns.end(turn, seen);
    const end = await this.#until(ended, signal, () => this.live.cancel());
    await this.turns.settled(turn);
    return end === "closed" ? { stopReason: "cancelled" } : end;
  }

  /** Calls `abort` when the client takes its request back, and waits for what comes of it. */
  async #until<T>(
    value: Promise<T>,
    signal: AbortSignal,
    abort: () => Promise<unknown>,
  ): Promise<T> {
    const aborted = (): void => {
      // The same signal says that the client is gone, which leaves open cards open.
      if (this.#closed || this.host.gone.aborted) return;
      abort().catch((error: unknown) => this.host.report(String(error)));
    };
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    try {
      return await value;
    } finally {
      signal.removeEventListener("abort", aborted);
    }
  }
}
