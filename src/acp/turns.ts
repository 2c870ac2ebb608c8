import type { PromptResponse } from "@agentclientprotocol/sdk";
import { RequestError } from "@agentclientprotocol/sdk";
import type { EventOf, SessionEvent } from "../core/session/events.js";
import type { LiveSession } from "../core/turn/live.js";

/** How a prompt's turn came out: a response, or an error for the client to show. */
export type End =
  | { readonly stopReason: PromptResponse["stopReason"] }
  | { readonly error: RequestError };

type Told = SessionEvent | "closed" | "state";

/** Something that events decide; `stop` gives up waiting. */
export interface Awaited<T> {
  readonly value: Promise<T | "closed">;
  readonly stop: () => void;
}

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
  end(turn: string, seen: readonly SessionEvent[] = []): Awaited<End> {
    return this.first((event) => {
      if (event.turn !== turn) return undefined;
      if (event.type === "turn_ended") return this.#ending(event);
      if (event.type === "question" && !event.options?.length) return { stopReason: "end_turn" };
      return undefined;
    }, seen);
  }

  /** The turn that takes a queued ask, or that it was taken back. */
  start(
    ask: string,
    seen: readonly SessionEvent[],
  ): Awaited<EventOf<"turn_started"> | "withdrawn"> {
    return this.first((event) => {
      if (event.type === "turn_started" && event.ask === ask) return event;
      if (event.type === "ask_withdrawn" && event.ask === ask) return "withdrawn";
      return undefined;
    }, seen);
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

  /** The first event, of those seen and those to come, that `pick` makes something of. */
  first<T>(
    pick: (event: SessionEvent) => T | undefined,
    seen: readonly SessionEvent[],
  ): Awaited<T> {
    for (const event of seen) {
      const picked = pick(event);
      if (picked !== undefined) return { value: Promise.resolve(picked), stop: () => {} };
    }
    if (this.#closed) return { value: Promise.resolve("closed"), stop: () => {} };
    let stop = (): void => {};
    const value = new Promise<T | "closed">((resolve) => {
      const told = (event: Told): void => {
        const picked = typeof event === "object" ? pick(event) : event;
        if (picked === undefined || picked === "state") return;
        stop();
        resolve(picked);
      };
      stop = () => this.#waiting.delete(told);
      this.#waiting.add(told);
    });
    return { value, stop: () => stop() };
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
