import type { Delta, EventOf, OtherCard } from "../core/session/events.js";
import type { CardItem } from "./items.js";
import type { ViewEvent } from "./protocol.js";

type Mark = Extract<Delta, { type: "card_changed" | "card_others" }>;

/** The cards of a session: what became of each, and the marks on it. */
export class CardItems {
  readonly #byId = new Map<string, CardItem>();
  /** Marks on cards that are on their way: a card is open before it is in the log. */
  readonly #early = new Map<string, { changed: boolean; unsaved: boolean }>();
  readonly #earlyOthers = new Map<string, readonly OtherCard[]>();

  get(card: string): CardItem | undefined {
    return this.#byId.get(card);
  }

  /** A new card; the one that it stands for is over. */
  raise(event: ViewEvent & { type: "card_raised" }): CardItem {
    const marks = this.#early.get(event.card) ?? { changed: false, unsaved: false };
    const others = this.#earlyOthers.get(event.card) ?? [];
    const card: CardItem = { event, state: "open", ...marks, others };
    const replaced = event.replaces === undefined ? undefined : this.get(event.replaces);
    if (replaced?.state === "open") replaced.state = "withdrawn";
    this.#byId.set(event.card, card);
    return card;
  }

  /** Takes in an event about a card; gives the card, undefined where its page is not loaded. */
  apply(
    event: EventOf<"card_edited" | "card_answered" | "card_spent" | "card_withdrawn">,
  ): CardItem | undefined {
    const card = this.get(event.card);
    if (card === undefined) return undefined;
    switch (event.type) {
      case "card_edited":
        if (event.reverted === true) delete card.edit;
        else card.edit = event;
        return card;
      case "card_answered":
        card.state = "answered";
        card.answered = event;
        return card;
      case "card_spent":
        card.state = "spent";
        return card;
      case "card_withdrawn":
        card.state = "withdrawn";
        return card;
    }
  }

  /** Takes in a mark on a card; gives the card, undefined where it is still on its way. */
  mark(delta: Mark): CardItem | undefined {
    const card = this.get(delta.card);
    if (delta.type === "card_others") {
      if (card === undefined) this.#earlyOthers.set(delta.card, delta.others);
      else card.others = delta.others;
      return card;
    }
    const changed = delta.changed !== false;
    const { unsaved } = delta;
    if (card === undefined) this.#early.set(delta.card, { changed, unsaved });
    else {
      card.changed = changed;
      card.unsaved = unsaved;
    }
    return card;
  }

  /** Takes the marks, which only deltas told, from the cards of before. */
  carryOver(before: CardItems): void {
    for (const [id, card] of before.#byId) {
      const now = this.get(id);
      if (now === undefined) continue;
      now.changed = card.changed;
      now.unsaved = card.unsaved;
      now.others = card.others;
    }
  }
}
