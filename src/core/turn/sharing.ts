import type { OpenCard } from "../gate/card.js";
import type { Delta, OtherCard, SessionEvent } from "../session/events.js";

/** An open session, as far as the others of this host have to do with it. */
export interface Sharer {
  readonly id: string;
  readonly title: () => string;
  readonly openCards: () => readonly OpenCard[];
  onEvent(listener: (event: SessionEvent) => void): { dispose(): void };
}

export interface SharerPorts {
  readonly emit: (delta: Delta) => void;
  /** Another session has changed this file (its real path). */
  readonly landed: (path: string) => void;
}

/** The events after which another set of cards may be open. */
const TELLING: ReadonlySet<SessionEvent["type"]> = new Set([
  "card_raised",
  "card_answered",
  "card_spent",
  "card_withdrawn",
  "call_ended",
  "turn_ended",
]);

/** The file (its real path) that this event says was changed. */
function changedBy(event: SessionEvent): string | undefined {
  if (event.type === "call_ended") return event.changed;
  return event.type === "undo_file" && event.outcome !== "failed" ? event.path : undefined;
}

/**
 * What open sessions of one host have in common: files that more than one of them has an open card
 * for. Live state that follows from the open cards; nothing of it is logged or decides anything.
 */
export class Sharing {
  readonly #members = new Map<Sharer, SharerPorts>();
  /** What was last told of each card, by its name. */
  readonly #told = new Map<string, string>();
  #due = false;

  /** Takes part from now on, until disposed of. */
  join(sharer: Sharer, ports: SharerPorts): { dispose(): void } {
    this.#members.set(sharer, ports);
    const listening = sharer.onEvent((event) => {
      if (TELLING.has(event.type)) this.#schedule();
      const path = changedBy(event);
      if (path === undefined) return;
      for (const [other, { landed }] of this.#members) if (other !== sharer) landed(path);
    });
    return {
      dispose: () => {
        listening.dispose();
        this.#members.delete(sharer);
        this.#schedule();
      },
    };
  }

  /** The open cards of other sessions for the file of this one; oldest first. */
  others(sharer: Sharer, { event }: OpenCard): readonly OtherCard[] {
    if (event.kind !== "write") return [];
    const found: OtherCard[] = [];
    for (const other of this.#members.keys()) {
      if (other === sharer) continue;
      for (const { card, event: theirs } of other.openCards()) {
        if (theirs.kind === "write" && theirs.path === event.path) {
          found.push({ session: other.id, title: other.title(), card });
        }
      }
    }
    return found;
  }

  /** Once for many events, and after whoever else listens has heard of them. */
  #schedule(): void {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      this.#tell();
    });
  }

  #tell(): void {
    const open = new Set<string>();
    for (const [sharer, { emit }] of this.#members) {
      for (const card of sharer.openCards()) {
        open.add(card.card);
        const others = this.others(sharer, card);
        const text = JSON.stringify(others);
        if (text === (this.#told.get(card.card) ?? "[]")) continue;
        this.#told.set(card.card, text);
        emit({ type: "card_others", card: card.card, others });
      }
    }
    for (const card of this.#told.keys()) if (!open.has(card)) this.#told.delete(card);
  }
}
