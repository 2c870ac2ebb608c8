import type { Allow, EventOf, SessionEvent, Surface } from "../session/events.js";
import { allowKey } from "../session/state.js";

/** One answer of a person, as the log has it. */
export interface Given {
  readonly card: string;
  readonly at: string;
  readonly surface: Surface | undefined;
  /** From 1; the turn in which it was given. */
  readonly turn: number;
}

/** Why a call went through. */
export type Why =
  | { readonly by: "answer"; readonly given: Given | undefined }
  /** `given` is undefined for an allow that the session began with. */
  | { readonly by: "allow"; readonly allow: Allow; readonly given: Given | undefined };

function allowOf({ kind, path, argv }: EventOf<"card_raised">): Allow | undefined {
  if (kind === "run") return argv && { run: argv };
  if (path === undefined) return undefined;
  return kind === "write" ? { write: path } : { read: path };
}

/** Follows a session's events, in their order, and knows of each effect by what it was allowed. */
export class Provenance {
  readonly #cards = new Map<string, EventOf<"card_raised">>();
  readonly #answers = new Map<string, Given>();
  readonly #allows = new Map<string, Given>();
  #turn = 0;

  /** The number of the turn that the events are in; 0 before the first. */
  get turn(): number {
    return this.#turn;
  }

  take(event: SessionEvent): void {
    switch (event.type) {
      case "turn_started":
        this.#turn++;
        // An answer serves its own turn alone; an allow is kept by what it allows.
        this.#cards.clear();
        this.#answers.clear();
        return;
      case "card_raised":
        // What is proposed can be long, and nobody asks for it here.
        this.#cards.set(event.card, { ...event, proposed: "", diff: "" });
        return;
      case "card_answered":
        this.#answered(event);
        return;
      case "card_spent":
        for (const [key, { card }] of this.#allows) {
          if (card === event.card) this.#allows.delete(key);
        }
        return;
      case "allow_revoked":
        this.#allows.delete(allowKey(event.allow));
        return;
      default:
        return;
    }
  }

  whyStarted({ by, card, allow }: EventOf<"call_started">): Why {
    if (by === "allow" && allow !== undefined) {
      return { by: "allow", allow, given: this.#allows.get(allowKey(allow)) };
    }
    return { by: "answer", given: card === undefined ? undefined : this.#answers.get(card) };
  }

  #answered({ card, at, surface, answer }: EventOf<"card_answered">): void {
    const given = { card, at, surface, turn: this.#turn };
    this.#answers.set(card, given);
    const raised = this.#cards.get(card);
    const allow = answer === "allow_session" && raised ? allowOf(raised) : undefined;
    if (allow === undefined) return;
    const key = allowKey(allow);
    // The one that is there already is the one that counts.
    if (!this.#allows.has(key)) this.#allows.set(key, given);
  }
}
