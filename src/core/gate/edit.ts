import { WRITE_BYTES } from "../limits.js";
import type { EventOf, SessionEvent } from "../session/events.js";
import { digest } from "../workspace/digest.js";
import type { CardEdit, CardEdited, CardRaised } from "./card.js";
import { unifiedDiff } from "./diff.js";
import { whyFixed } from "./fixed.js";
import type { PreparedWrite } from "./prepared.js";
import { receiptOf } from "./receipt.js";
import type { Gated } from "./requirement.js";

/** What became of an edit: only `taken` changed anything. */
export type EditOutcome =
  | { readonly outcome: "taken" }
  /** The text cannot be written as it would be shown; the message is for the user. */
  | { readonly outcome: "refused"; readonly message: string }
  | { readonly outcome: "gone"; readonly message: string };

/** What an Approve hears that is about another text than the card has by now. */
export const STALE =
  "The text was edited after this was shown. Nothing was changed; look at it as it is now.";

/** What a new card says where an edit of the one before it is not taken over. */
export const EDIT_DROPPED =
  "You had edited this proposal, and the file has changed since: your edit is not in it. The log keeps the edited text.";

/** Why these bytes cannot take the place of a proposal, or undefined. For the user. */
export function refuseEdit(prepared: PreparedWrite, bytes: Uint8Array): string | undefined {
  if (bytes.length > WRITE_BYTES) {
    return `The edited text has ${bytes.length} bytes, and at most ${WRITE_BYTES} can be written.`;
  }
  const fixed = whyFixed(prepared.after) ?? whyFixed(bytes);
  return fixed === undefined ? undefined : `This proposal cannot be edited so: ${fixed}`;
}

/** Whether an edit leaves the disk as it is: approving it comes to a denial. */
export function nothingIsLeft(prepared: PreparedWrite, edit: CardEdit | undefined): boolean {
  if (edit === undefined) return false;
  const { bytes } = prepared.before;
  // Of a new file whose every line was dropped nothing is left either: it is not made, empty.
  return bytes === null ? edit.after.length === 0 : Buffer.compare(bytes, edit.after) === 0;
}

/** The edit as its event; where `after` is the proposal again, the event says so. */
export async function makeEdit(
  card: string,
  turn: string,
  prepared: PreparedWrite,
  after: Uint8Array,
): Promise<CardEdit> {
  const diff = await unifiedDiff(prepared.before.bytes, after);
  const reverted = Buffer.compare(prepared.after, after) === 0;
  const event: CardEdited = {
    type: "card_edited",
    turn,
    card,
    digest: digest(after),
    ...(reverted ? { reverted } : { edited: Buffer.from(after).toString("utf8") }),
    diff: diff.text,
    ...(diff.cut ? { diffCut: true } : {}),
    added: diff.added,
    removed: diff.removed,
    bytesAfter: after.length,
  };
  return { event, after };
}

/** The edits of the open turn's cards, by the log. */
export class PastEdits {
  readonly #raised = new Map<string, CardRaised>();
  readonly #edited = new Map<string, EventOf<"card_edited">>();

  /** Takes one event of the log into account. */
  take(event: SessionEvent): void {
    if (event.type === "card_raised") this.#raised.set(event.card, event);
    else if (event.type === "card_edited" && event.reverted === true)
      this.#edited.delete(event.card);
    else if (event.type === "card_edited") this.#edited.set(event.card, event);
    else if (event.type === "turn_started" || event.type === "turn_ended") {
      this.#raised.clear();
      this.#edited.clear();
    }
  }

  /**
   * The edit that a new card takes over from the one it stands for: the same proposal on the same
   * bytes of the same file. `dropped` where there was an edit and any of that has changed.
   */
  for(card: CardRaised): Uint8Array | "dropped" | undefined {
    const edited = card.replaces === undefined ? undefined : this.#edited.get(card.replaces);
    const raised = card.replaces === undefined ? undefined : this.#raised.get(card.replaces);
    if (edited?.edited === undefined || raised === undefined) return undefined;
    const same =
      raised.path === card.path &&
      raised.digest === card.digest &&
      raised.proposed === card.proposed &&
      raised.proposedEncoding === card.proposedEncoding;
    const bytes = Buffer.from(edited.edited, "utf8");
    // A log can be changed by others: what it gives back has to be what its digest says.
    return same && digest(bytes) === edited.digest ? bytes : "dropped";
  }
}

/** The write as the user edited it, with the receipt for the model; undefined where it was not. */
export async function editedWrite(
  prepared: Gated,
  edit: CardEdit | undefined,
): Promise<PreparedWrite | undefined> {
  if (prepared.kind !== "write" || edit === undefined) return undefined;
  const { after } = edit;
  const receipt = await receiptOf(prepared.before.bytes, prepared.after, after);
  return { ...prepared, after, receipt };
}
