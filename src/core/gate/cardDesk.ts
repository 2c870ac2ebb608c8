import type { AnswerOutcome, OpenCard } from "./card.js";
import { type End, GONE, isOpen, type Pending } from "./pending.js";
import { Abandoned, type GateLedger } from "./ports.js";

/** A session's cards from before they are logged until they end. A card ends once, by whoever claims it first. */
export class CardDesk {
  readonly #pending = new Map<string, Pending>();
  readonly #ended = new Map<string, End>();

  constructor(private readonly ledger: Pick<GateLedger, "append">) {}

  /** The cards that wait for an answer, oldest first. */
  get open(): readonly OpenCard[] {
    const cards: OpenCard[] = [];
    for (const pending of this.#pending.values()) {
      if (pending.open !== undefined && isOpen(pending)) cards.push(pending.open);
    }
    return cards;
  }

  /** Every card that is not over, oldest first: also one on its way into the log or out of it. */
  get all(): readonly Pending[] {
    return [...this.#pending.values()];
  }

  get(card: string): Pending | undefined {
    return this.#pending.get(card);
  }

  add(pending: Pending): void {
    this.#pending.set(pending.card, pending);
  }

  remove(card: string): void {
    this.#pending.delete(card);
  }

  hasEnded(card: string): boolean {
    return this.#ended.has(card);
  }

  /** Notes how a card ended; the log has it. */
  ended(card: string, end: End): void {
    this.#ended.set(card, end);
  }

  /** Takes an open card for the caller alone; undefined where someone was first. */
  claim(card: string): Pending | undefined {
    const pending = this.#pending.get(card);
    if (pending === undefined || !isOpen(pending)) return undefined;
    pending.claimed = true;
    return pending;
  }

  /** What someone hears who comes too late for `card`. */
  gone(card: string): Extract<AnswerOutcome, { outcome: "gone" }> {
    const pending = this.#pending.get(card);
    // Claimed and not ended yet: by an answer on its way to the log, or by a cancel.
    const deciding = pending?.request.signal.aborted === true ? "withdrawn" : "answered";
    const end = this.#ended.get(card) ?? (pending?.open === undefined ? undefined : deciding);
    const message = end === undefined ? "There is no such card in this session." : GONE[end];
    return { outcome: "gone", message };
  }

  /** Withdraws a card whose turn is cancelled; one of a turn that is abandoned stays open in the log. */
  cancel(pending: Pending): void {
    if (pending.claimed) return;
    pending.claimed = true;
    const { signal, turn } = pending.request;
    if (signal.reason instanceof Abandoned) {
      pending.fail(signal.reason);
      return;
    }
    this.withdraw(pending.card, turn).then(() => pending.fail(signal.reason), pending.fail);
  }

  /** Logs, flushed, that nobody is asked any more. */
  async withdraw(card: string, turn: string): Promise<void> {
    await this.ledger.append({ type: "card_withdrawn", turn, card }, { flush: true });
    this.#ended.set(card, "withdrawn");
  }
}
