import type { Answer } from "../session/events.js";
import { digest } from "../workspace/digest.js";
import type { CardEdit, OpenCard } from "./card.js";
import type { AdmitRequest } from "./ports.js";
import type { Gated } from "./requirement.js";

/** How a card ended. */
export type End = "answered" | "spent" | "withdrawn";

/** What became of a card, for the call that waits for it. */
export type Decision =
  | {
      readonly kind: "answered";
      readonly answer: Answer;
      readonly note?: string;
      /** What was approved, where that is not what was proposed. */
      readonly edit?: CardEdit;
      readonly nothingLeft?: true;
    }
  | { readonly kind: "spent" }
  | { readonly kind: "remake" };

/** A card from before it is logged until it is decided. */
export interface Pending {
  readonly card: string;
  readonly prepared: Gated;
  readonly request: AdmitRequest;
  /** Undefined until the card is in the log. */
  open: OpenCard | undefined;
  /** True from the moment that an answer, a cancel or a remake has taken the card. */
  claimed: boolean;
  /** What an Approve would write instead of the proposal, from the moment its event is on its way. */
  edit: CardEdit | undefined;
  /** When that event is in the log; rejects where it could not be written. */
  logged: Promise<unknown>;
  /** The edit that is being made: the next one waits for it. */
  editing: Promise<unknown>;
  /** What was last said of its file. */
  told: { changed: boolean; unsaved: boolean };
  readonly decision: Promise<Decision>;
  readonly decide: (decision: Decision) => void;
  readonly fail: (error: unknown) => void;
}

/** What someone hears who comes too late. */
export const GONE: Record<End, string> = {
  answered: "This card has been answered already.",
  spent: "This card is spent: the file changed, and a new card took its place.",
  withdrawn: "This card has been withdrawn.",
};

/** Whether it can still be answered: a cancel has the card from the moment of the cancel. */
export function isOpen(pending: Pending): boolean {
  return pending.open !== undefined && !pending.claimed && !pending.request.signal.aborted;
}

/** Whether a yes to `shown` (SHA-256, absent: the proposal) is about another text than the card has. */
export function isStale(pending: Pending | undefined, shown: string | undefined): boolean {
  if (pending === undefined || !isOpen(pending) || pending.prepared.kind !== "write") return false;
  const edited = pending.edit?.event.digest;
  if (edited !== undefined || shown === undefined) return shown !== edited;
  return shown !== digest(pending.prepared.after);
}

/** A card that is about to be logged. */
export function newPending(card: string, request: AdmitRequest, prepared: Gated): Pending {
  let decide: (decision: Decision) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const decision = new Promise<Decision>((resolve, reject) => {
    decide = resolve;
    fail = reject;
  });
  // Where logging the card fails no one awaits the decision, and a cancel may still reject it.
  decision.catch(() => {});
  const unsaved = prepared.kind === "write" && request.workspace.unsaved().has(prepared.path.real);
  const told = { changed: false, unsaved };
  return {
    card,
    request,
    prepared,
    open: undefined,
    claimed: false,
    edit: undefined,
    logged: Promise.resolve(),
    editing: Promise.resolve(),
    told,
    decision,
    decide,
    fail,
  };
}
