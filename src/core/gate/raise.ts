import type { SessionEvent } from "../session/events.js";
import { makeCard } from "./card.js";
import type { CardDesk } from "./cardDesk.js";
import { EDIT_DROPPED, makeEdit } from "./edit.js";
import type { EditDesk } from "./editDesk.js";
import { newPending, type Pending } from "./pending.js";
import type { AdmitRequest, GateLedger } from "./ports.js";
import type { Gated } from "./requirement.js";

/** Where a card is put up. */
interface Desks {
  readonly cards: CardDesk;
  readonly edits: EditDesk;
  readonly ledger: Pick<GateLedger, "append">;
}

/**
 * Makes the card of a call, with the edit that it takes over from the card it stands for, and logs
 * both; resolves when they are in the log. Where this rejects (the log cannot be written, or the
 * signal's reason before the card is logged) there is no card.
 */
export async function raiseCard(
  card: string,
  request: AdmitRequest,
  prepared: Gated,
  desks: Desks,
): Promise<Pending> {
  const { cards, edits, ledger } = desks;
  const { call, turn, workspace } = request;
  const replaces = request.replaces === undefined ? {} : { replaces: request.replaces };
  const raised = await makeCard(workspace, prepared, { card, call, turn, ...replaces });
  const past = edits.takenOver(raised);
  if (past === "dropped") raised.reasons = [...(raised.reasons ?? []), EDIT_DROPPED];
  const kept =
    prepared.kind === "write" && past instanceof Uint8Array
      ? await makeEdit(card, turn, prepared, past)
      : undefined;
  request.signal.throwIfAborted();

  const pending = newPending(card, request, prepared);
  const opened = (event: SessionEvent): void => {
    if (event.type !== "card_raised" || pending.open !== undefined) return;
    const [before, after] =
      prepared.kind === "write" ? [prepared.before.bytes, prepared.after] : [null, null];
    const edit = kept === undefined ? {} : { edit: kept };
    pending.open = { card, call, event, before, after, ...edit };
    edits.take(event);
  };
  cards.add(pending);
  try {
    const up = ledger.append(raised, { appended: opened });
    // Right behind its card, before anyone can answer it.
    const logged = kept === undefined ? undefined : edits.log(pending, kept);
    logged?.catch(() => {});
    opened(await up);
    await logged;
  } catch (error) {
    cards.remove(card);
    throw error;
  }
  if (request.replaces !== undefined && !cards.hasEnded(request.replaces)) {
    cards.ended(request.replaces, "withdrawn");
  }
  return pending;
}
