import type { PromptResponse } from "@agentclientprotocol/sdk";
import { RequestError } from "@agentclientprotocol/sdk";
import type { EventOf, SessionEvent } from "../core/session/events.js";
import { endedByItself } from "../core/session/state.js";
import type { LiveSession } from "../core/turn/live.js";

/** How a prompt's turn came out: a response, or an error for the client to show. */
export type End =
  | { readonly stopReason: PromptResponse["stopReason"] }
  | { readonly error: RequestError };

type Told = SessionEvent | "closed" | "state";

/** Prompts that wait for what the log says of their turns. */
export class Turns {
  readonly #waiting = new Set<(told: Told) => void>();
  #closed = false;

  constructor(private readonly live: LiveSession) {}

  /** Tells whoever waits of an event. */
  tell(event: SessionEvent): void {
    for (const told of [...this.#waiting]) told(event);
  }

  /** Tells whoever waits that the session's state is another. */
  state(): void {
    for (const told of [...this.#waiting]) told("state");
  }

  /** No more events come: whoever waits hears "closed". */
  close(): void {
    this.#closed = true;
    for (const told of [...this.#waiting]) told("closed");
  }

  /** Runs `work` and gives what it gave, with every event that came meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<{ value: T; seen: readonly SessionEvent[] }> {
    const seen: SessionEvent[] = [];
    const told = (event: Told): void => {
      if (typeof event === "object") seen.push(event);
    };
    this.#waiting.add(told);
    try {
      return { value: await work(), seen };
    } finally {
      this.#waiting.delete(told);
    }
  }

  /** The turn's end, or its question that the next prompt answers. */
  end(turn: string, seen: readonly SessionEvent[] = []): Promise<End | "closed"> {
    return this.#first<End>(
      (event) => {
        if (event.turn !== turn) return undefined;
        if (event.type === "turn_ended") return this.#ending(event);
        if (event.type === "question" && !event.options?.length) return { stopReason: "end_turn" };
        return undefined;
      },
      seen,
      () => {
        // A turn whose log cannot be written stops without an event of its end.
        const { state, trouble } = this.live;
        const stopped = state === "interrupted" && trouble !== undefined;
        return stopped ? { error: new RequestError(-32603, trouble) } : undefined;
      },
    );
  }

  /**
   * The turn that takes a queued ask, or that it was taken back; "held" where it stays in the queue
   * and nothing runs that would send it on, or it was passed over: the turn that it waited for did not
   * end by itself, and what was asked after its cancel is next.
   */
  start(
    ask: string,
    seen: readonly SessionEvent[],
  ): Promise<EventOf<"turn_started"> | "withdrawn" | "held" | "closed"> {
    return this.#first<EventOf<"turn_started"> | "withdrawn" | "held">(
      (event) => {
        if (event.type === "turn_started" && event.ask === ask) return event;
        if (event.type === "ask_withdrawn" && event.ask === ask) return "withdrawn";
        const over = event.type === "turn_ended" && !endedByItself(event.reason);
        const { nextAsk } = this.live;
        return over && nextAsk !== undefined && nextAsk !== ask ? "held" : undefined;
      },
      seen,
      () => (this.#isHeld(ask) ? "held" : undefined),
    );
  }

  /** What becomes of a prompt whose ask is held: its request ends, and the ask stays queued. */
  held(): End {
    const last = this.live.events.findLast((one) => one.type === "turn_ended");
    if (last?.type !== "turn_ended" || last.reason !== "failed") return { stopReason: "cancelled" };
    const message = "This prompt waits in the queue: the turn before it failed. /go-on goes on.";
    return { error: new RequestError(-32603, message) };
  }

  #isHeld(ask: string): boolean {
    const { state, queue } = this.live;
    return state !== "running" && state !== "waiting" && queue.some((one) => one.ask === ask);
  }

  /**
   * Resolves when the core is done with a turn that has ended, so that what a client sends next
   * is not taken for something sent during it.
   */
  settled(turn: string): Promise<void> {
    const { live } = this;
    const over = live.events.findLast((one) => one.type === "turn_ended" && one.turn === turn);
    const next = live.events.findLast((one) => one.type === "turn_started");
    const going = (): boolean => live.state === "running";
    if (this.#closed || over === undefined || (next?.seq ?? 0) > over.seq || !going()) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const told = (event: Told): void => {
        if (event === "state" && going()) return;
        if (typeof event === "object" && event.type !== "turn_started") return;
        this.#waiting.delete(told);
        resolve();
      };
      this.#waiting.add(told);
    });
  }

  /**
   * The first event, of those seen and those to come, that `pick` makes something of; or what `look`
   * finds, now or when the session's state has changed.
   */
  #first<T>(
    pick: (event: SessionEvent) => T | undefined,
    seen: readonly SessionEvent[],
    look: () => T | undefined = () => undefined,
  ): Promise<T | "closed"> {
    for (const event of seen) {
      const picked = pick(event);
      if (picked !== undefined) return Promise.resolve(picked);
    }
    const found = this.#closed ? "closed" : look();
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      const told = (event: Told): void => {
        const picked = event === "state" ? look() : event === "closed" ? event : pick(event);
        if (picked === undefined) return;
        this.#waiting.delete(told);
        resolve(picked);
      };
      this.#waiting.add(told);
    });
  }

  #ending(event: EventOf<"turn_ended">): End {
    switch (event.reason) {
      case "finished":
        return { stopReason: "end_turn" };
      case "limit": {
        // Of the limits that end a turn one has a name in the protocol: the answer was cut.
        const answer = this.live.events.findLast((one) => one.type === "model_answered");
        const last = answer?.type === "model_answered" ? answer : undefined;
        const cut = last?.stop === "length" && last.calls.length === 0;
        return { stopReason: cut ? "max_tokens" : "max_turn_requests" };
      }
      case "cancelled":
      case "interrupted":
        return { stopReason: "cancelled" };
      case "failed":
        return { error: new RequestError(-32603, event.message ?? "The turn failed.") };
    }
  }
}
