import type { SessionEvent } from "../session/events.js";
import type { CardEdit, CardRaised } from "./card.js";
import { makeEdit, PastEdits, refuseEdit } from "./edit.js";
import { isOpen, type Pending } from "./pending.js";
import type { GateLedger } from "./ports.js";

/** What came of an edit; `gone`: the card was not open any more. */
type Edited =
  | { readonly outcome: "taken" }
  | { readonly outcome: "gone" }
  | { readonly outcome: "refused"; readonly message: string };

/** What people make of open cards' proposals, in the log before anyone can approve it. */
export class EditDesk {
  readonly #past = new PastEdits();

  constructor(private readonly ledger: Pick<GateLedger, "append">) {}

  /** Takes one event of the log into account. */
  take(event: SessionEvent): void {
    this.#past.take(event);
  }

  /** The edit that a new card takes over from the one it stands for: see `PastEdits.for`. */
  takenOver(card: CardRaised): Uint8Array | "dropped" | undefined {
    return this.#past.for(card);
  }

  /** Makes a copy of `bytes` what an Approve writes, after the edits of this card that came before. */
  edit(pending: Pending, bytes: Uint8Array): Promise<Edited> {
    const after = Uint8Array.from(bytes);
    const edited = pending.editing.then(() => this.#edit(pending, after));
    pending.editing = edited.catch(() => {});
    return edited;
  }

  /** From this moment on, in the same tick, the card is about the edited text. */
  log(pending: Pending, edit: CardEdit): Promise<unknown> {
    pending.edit = edit.event.reverted === true ? undefined : edit;
    const appended = (event: SessionEvent): void => {
      this.#past.take(event);
      if (pending.open === undefined) return;
      const { edit: _, ...open } = pending.open;
      pending.open = { ...open, ...(pending.edit === undefined ? {} : { edit: pending.edit }) };
    };
    pending.logged = this.ledger.append(edit.event, { appended });
    return pending.logged;
  }

  async #edit(pending: Pending, after: Uint8Array): Promise<Edited> {
    const { card, prepared, request } = pending;
    if (!isOpen(pending)) return { outcome: "gone" };
    if (prepared.kind !== "write") {
      return { outcome: "refused", message: "Only a change of a file can be edited." };
    }
    if (Buffer.compare(pending.edit?.after ?? prepared.after, after) === 0) {
      return { outcome: "taken" };
    }
    const message = refuseEdit(prepared, after);
    if (message !== undefined) return { outcome: "refused", message };
    const edit = await makeEdit(card, request.turn, prepared, after);
    if (!isOpen(pending)) return { outcome: "gone" };
    const was = pending.edit;
    try {
      await this.log(pending, edit);
      return { outcome: "taken" };
    } catch (error) {
      pending.edit = was;
      pending.logged = Promise.resolve();
      throw error;
    }
  }
}
