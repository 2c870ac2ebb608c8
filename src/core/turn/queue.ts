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
  async add(ask: string, text: string): Promise<void> {
    await this.record.append({ type: "ask_queued", ask, text });
  }

  /** The first one, or that of this id, for a turn that is about to start; give it back where that fails. */
  take(ask?: string): QueuedAsk | undefined {
    const next = this.asks.find((one) => ask === undefined || one.ask === ask);
    if (next !== undefined) this.#taken.add(next.ask);
    return next;
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
