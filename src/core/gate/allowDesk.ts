import type { Allow, EventBody } from "../session/events.js";
import { type AllowUse, AllowUses } from "./allows.js";
import type { GateLedger } from "./ports.js";
import { allowOf, type Gated, type NeedOfGated, requirement, sameAllow } from "./requirement.js";
import { ShownAtAllows } from "./shown.js";

/** A session's allows: what reads or changes them goes one after the other, so that none is used once it is gone. */
export class AllowDesk {
  readonly #uses = new AllowUses();
  readonly #shown = new ShownAtAllows();
  /** The allow that each card's answer put on `meta.json`. */
  readonly #added = new Map<string, Allow>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly ledger: GateLedger) {}

  /** The session's allows and how often a call went through by each. */
  get uses(): readonly AllowUse[] {
    return this.ledger.allows().map((allow) => ({ allow, used: this.#uses.of(allow) }));
  }

  /** Takes one event of the log into account. */
  count(event: EventBody): void {
    this.#uses.count(event);
    this.#shown.take(event);
  }

  /** What this call needs by the session's allows as they are now. */
  need(prepared: Gated): NeedOfGated {
    const need = requirement(prepared, this.ledger.allows());
    if (need.kind !== "allowed" || !this.#shown.isWider(prepared)) return need;
    return { kind: "card", card: prepared.kind };
  }

  /** Runs `task` while nothing else reads or changes the allows. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Puts what a card's answer allows on `meta.json`; it is there, flushed, when this resolves. */
  add(card: string, prepared: Gated): Promise<void> {
    return this.inTurn(async () => {
      const allow = allowOf(prepared);
      if (this.ledger.allows().some((one) => sameAllow(one, allow))) return;
      await this.ledger.addAllow(allow);
      this.#added.set(card, allow);
    });
  }

  /** Takes away the allow that came with the answer to `card`, where that answer is spent. */
  async takeBack(card: string): Promise<void> {
    const allow = this.#added.get(card);
    this.#added.delete(card);
    if (allow !== undefined) await this.inTurn(() => this.ledger.removeAllow(allow));
  }

  /** Takes an allow back; false where there is none such. Later calls ask again. */
  revoke(allow: Allow): Promise<boolean> {
    return this.inTurn(async () => {
      if (!this.ledger.allows().some((one) => sameAllow(one, allow))) return false;
      await this.ledger.removeAllow(allow);
      const event: EventBody = { type: "allow_revoked", allow };
      await this.ledger.append(event, { flush: true });
      this.count(event);
      return true;
    });
  }
}
