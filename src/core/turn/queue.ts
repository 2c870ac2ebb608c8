import { randomUUID } from "node:crypto";
import type { SessionRecord } from "../session/record.js";
import type { QueuedAsk } from "./live.js";

/** The asks that wait for the live turn to end. They live in the log, so they survive a restart. */
export class AskQueue {
  /** Asks that are on their way out of the queue: neither the turn nor the user takes one twice. */
  readonly #taken = new Set<string>();
  constructor(private readonly record: SessionRecord) {}

  get asks(): readonly QueuedAsk[] {
    return this.record.facts.queue.filter(({ ask }) => !this.#taken.has(ask));
  }

  /** Rejects with `LogError`. */
  async add(text: string): Promise<string> {
    const ask = randomUUID();
    await this.record.append({ type: "ask_queued", ask, text });
    return ask;
  }

  /** The first one, for a turn that is about to start; give it back where that fails. */
  take(): QueuedAsk | undefined {
    const first = this.asks[0];
    if (first !== undefined) this.#taken.add(first.ask);
    return first;
  }

  giveBack(ask: string): void {
    this.#taken.delete(ask);
  }

  /** False where it is not queued any more. Rejects with `LogError`. */
  async withdraw(ask: string): Promise<boolean> {
    const queued = this.asks.find((one) => one.ask === ask);
    if (queued === undefined) return false;
    this.#taken.add(ask);
    try {
      await this.record.append({ type: "ask_withdrawn", ask, text: queued.text });
      return true;
    } finally {
      this.#taken.delete(ask);
    }
  }
}
