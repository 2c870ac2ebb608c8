/**
 * The only place that can say yes. `admit` decides on one prepared call; `answer` takes a
 * person's word for one card. The order is always:
 *
 *   card_raised → card_edited, as often as a person likes → card_answered (flushed) → the file is
 *   read again → card_spent, or the allow (on disk) → the bytes before and after are kept →
 *   call_started (flushed) → a permit for exactly what the card showed.
 *
 * A yes names the text it is about; one about another text than the card has changes nothing.
 *
 * A card ends once: by its answer, by a cancel, or by being made anew. Whoever comes first
 * claims it in the same tick, and everyone after finds it gone.
 */
import type { Allow, Answer, EventBody, Surface } from "../session/events.js";
import { issuePermit } from "../workspace/permit.js";
import { AllowDesk } from "./allowDesk.js";
import type { AllowUse } from "./allows.js";
import type { AnswerOutcome, OpenCard } from "./card.js";
import { CardDesk } from "./cardDesk.js";
import { sameBytes, stillShown } from "./disk.js";
import { type EditOutcome, editedWrite, STALE } from "./edit.js";
import { EditDesk } from "./editDesk.js";
import { copyOf, effectOf } from "./effect.js";
import { tellChanged } from "./fileMarks.js";
import { keepChange } from "./keep.js";
import { isOpen, isStale } from "./pending.js";
import type {
  Admission,
  AdmitRequest,
  GateLedger,
  GateOptions,
  UndoPermit,
  UndoRequest,
} from "./ports.js";
import { raiseCard } from "./raise.js";
import type { Gated } from "./requirement.js";
import { answered, saidOf } from "./said.js";
import { copyOfChange, undoEffect, undoStarted } from "./undo.js";

/** The gate of one session. */
export class Gate {
  readonly #cards: CardDesk;
  readonly #allows: AllowDesk;
  readonly #edits: EditDesk;

  constructor(
    private readonly ledger: GateLedger,
    private readonly options: GateOptions,
  ) {
    this.#cards = new CardDesk(ledger);
    this.#allows = new AllowDesk(ledger);
    this.#edits = new EditDesk(ledger);
    for (const event of options.events ?? []) {
      this.#allows.count(event);
      this.#edits.take(event);
    }
  }

  /** The cards that wait for an answer, oldest first. */
  get openCards(): readonly OpenCard[] {
    return this.#cards.open;
  }

  /** The session's allows and how often a call went through by each. */
  get allowUses(): readonly AllowUse[] {
    return this.#allows.uses;
  }

  /**
   * Decides on one prepared call, asking with a card where it must. Rejects with the signal's
   * reason on cancel (the card is withdrawn first), and where the log cannot be written.
   */
  async admit(request: AdmitRequest): Promise<Admission> {
    request.signal.throwIfAborted();
    // A copy: what a tool does to its argv or bytes later changes neither card, allow nor permit.
    const prepared = copyOf(request.prepared);
    if (prepared.kind === "free") {
      await this.#letGo(request);
      return { kind: "free" };
    }
    const need = this.#allows.need(prepared);
    switch (need.kind) {
      case "card":
        return this.#ask(request, prepared);
      case "allowed": {
        const admission = await this.#allows.inTurn(() => this.#byAllow(request, prepared));
        return admission ?? this.#ask(request, prepared);
      }
      case "none": {
        await this.#letGo(request);
        const permit = issuePermit(effectOf(request, prepared));
        return { kind: "permit", permit, by: need.by };
      }
    }
    return need satisfies never;
  }

  /**
   * A person's answer to an open card. Only the first one counts; it is in the log, flushed,
   * before anything else happens. Resolves when its consequences are in the log too. `shown` is
   * the SHA-256 of the bytes that the person saw as what would be written; without it they saw the
   * proposal. A yes to anything else is stale; one to a card of which nothing is left is a denial.
   */
  async answer(
    card: string,
    answer: Answer,
    options: { note?: string; surface: Surface; shown?: string },
  ): Promise<AnswerOutcome> {
    if (answer !== "deny" && isStale(this.#cards.get(card), options.shown)) {
      return { outcome: "stale", message: STALE };
    }
    const pending = this.#cards.claim(card);
    if (pending === undefined) return this.#cards.gone(card);
    const { request, prepared, logged } = pending;
    const { turn } = request;
    const said = saidOf(answer, pending, options.note);
    try {
      // The edited bytes are in the log before the answer to them.
      await logged;
      const event = answered(said, { turn, card, surface: options.surface });
      await this.ledger.append(event, { flush: true });
      for (const one of [pending.open?.event, event]) if (one) this.#allows.count(one);
      this.#cards.ended(card, "answered");
      if (said.answer !== "deny" && !(await stillShown(request.workspace, prepared))) {
        // No allow is added: one that came with this answer is spent with it.
        await this.spend(card, turn);
        pending.decide({ kind: "spent" });
      } else {
        if (said.answer === "allow_session") await this.#allows.add(card, prepared);
        pending.decide(said);
      }
      return { outcome: "taken" };
    } catch (error) {
      pending.fail(error);
      throw error;
    } finally {
      this.#cards.remove(card);
    }
  }

  /**
   * Makes `bytes` what an Approve of this open card writes; the proposal's own bytes revert it.
   * Resolves when the edit is in the log. Refused for what is no write, for what an editor would
   * not show as it is, and over `WRITE_BYTES`. Rejects where the log cannot be written.
   */
  async edit(card: string, bytes: Uint8Array): Promise<EditOutcome> {
    const pending = this.#cards.get(card);
    if (pending === undefined || !isOpen(pending)) return this.#cards.gone(card);
    const edited = await this.#edits.edit(pending, bytes);
    return edited.outcome === "gone" ? this.#cards.gone(card) : edited;
  }

  /** Brings the proposal back where a card was edited. */
  async revert(card: string): Promise<EditOutcome> {
    const after = this.#cards.get(card)?.open?.after;
    return after == null ? this.#cards.gone(card) : this.edit(card, after);
  }

  /**
   * Permits for an undo of the user's own: who asks for it has shown the user a list with exactly
   * these files and bytes, and the user confirmed it, so no card asks again. It is in the log,
   * flushed, with the bytes on both sides kept, before a permit is made. Rejects where that cannot
   * be written, and while a card of this session waits.
   */
  async admitUndo(request: UndoRequest): Promise<readonly UndoPermit[]> {
    if (this.#cards.all.length > 0) throw new Error("a card waits: nothing is undone now");
    const changes = request.files.map(copyOfChange);
    const started = await undoStarted(this.ledger, request, changes);
    await this.ledger.append(started, { flush: true });
    return changes.map((change): UndoPermit => {
      const effect = undoEffect(request.undo, change);
      const { path } = change;
      if (effect.kind === "remove") return { kind: "remove", permit: issuePermit(effect), path };
      const bytes = change.after ?? new Uint8Array();
      return { kind: "write", permit: issuePermit(effect), path, bytes };
    });
  }

  /** Takes an open card back to make it anew from the disk as it is now. */
  async remake(card: string): Promise<AnswerOutcome> {
    const pending = this.#cards.claim(card);
    if (pending === undefined) return this.#cards.gone(card);
    try {
      await this.#cards.withdraw(card, pending.request.turn);
      pending.decide({ kind: "remake" });
      return { outcome: "taken" };
    } catch (error) {
      pending.fail(error);
      throw error;
    } finally {
      this.#cards.remove(card);
    }
  }

  /**
   * Another session has written the file at `path` (real): a card here that was made from other
   * bytes is made anew at once. Whoever answers meanwhile is told that the card is gone. One that
   * a person has edited is only marked: their text would go with it.
   */
  async landed(path: string): Promise<void> {
    for (const pending of this.#cards.all) {
      const { prepared, request, card } = pending;
      if (prepared.kind !== "write" || prepared.path.real !== path || !isOpen(pending)) continue;
      if (await sameBytes(request.workspace, prepared)) continue;
      await (pending.edit === undefined ? this.remake(card) : this.fileChanged([path]));
    }
  }

  /**
   * Logs that the answer to `card` was about a file that is no longer there. An allow that came
   * with the answer is taken off `meta.json` first: it goes with it.
   */
  async spend(card: string, turn: string): Promise<void> {
    await this.#allows.takeBack(card);
    const event: EventBody = { type: "card_spent", turn, card };
    await this.ledger.append(event, { flush: true });
    this.#allows.count(event);
    this.#cards.ended(card, "spent");
  }

  /** Takes an allow back; false where there is none such. Later calls ask again. */
  revoke(allow: Allow): Promise<boolean> {
    return this.#allows.revoke(allow);
  }

  /**
   * Looks again at the files of open cards that bear the name of one of `paths` (in any
   * spelling), and says with a delta what became of each card's file.
   */
  async fileChanged(paths: readonly string[]): Promise<void> {
    await tellChanged(this.#cards.all, paths, (delta) => this.options.emit?.(delta));
  }

  /** Withdraws the card of an earlier host that `replaces` names, where no new one will stand for it. */
  async letGo(card: string | undefined, turn: string): Promise<void> {
    if (card !== undefined && !this.#cards.hasEnded(card)) await this.#cards.withdraw(card, turn);
  }

  #letGo(request: AdmitRequest): Promise<void> {
    return this.letGo(request.replaces, request.turn);
  }

  async #ask(request: AdmitRequest, prepared: Gated): Promise<Admission> {
    const { signal } = request;
    const card = this.options.newId();
    const desks = { cards: this.#cards, edits: this.#edits, ledger: this.ledger };
    const pending = await raiseCard(card, request, prepared, desks);
    const cancelled = (): void => this.#cards.cancel(pending);
    try {
      signal.addEventListener("abort", cancelled, { once: true });
      if (signal.aborted) cancelled();
      const decision = await pending.decision;
      if (decision.kind !== "answered") return { kind: decision.kind, card };
      if (decision.answer === "deny") {
        const { kind: _, answer: __, edit: ___, ...said } = decision;
        return { kind: "denied", card, ...said };
      }
      const edited = await editedWrite(prepared, decision.edit);
      await this.#start(request, edited ?? prepared, { by: "user", card });
      const permit = issuePermit(effectOf(request, edited ?? prepared));
      const own = edited === undefined ? {} : { edited };
      return { kind: "permit", permit, by: "user", card, ...own };
    } finally {
      signal.removeEventListener("abort", cancelled);
      this.#cards.remove(card);
    }
  }

  /** A permit by an allow, or undefined where it was taken back in the meantime. */
  async #byAllow(request: AdmitRequest, prepared: Gated): Promise<Admission | undefined> {
    const need = this.#allows.need(prepared);
    if (need.kind !== "allowed") return undefined;
    await this.#letGo(request);
    const effect = effectOf(request, prepared);
    await this.#start(request, prepared, { by: "allow", allow: need.allow });
    return { kind: "permit", permit: issuePermit(effect), by: "allow", allow: need.allow };
  }

  /** Logs, flushed, that an effect begins; no permit is made before. */
  async #start(
    request: AdmitRequest,
    prepared: Gated,
    why: { by: "user"; card: string } | { by: "allow"; allow: Allow },
  ): Promise<void> {
    request.signal.throwIfAborted();
    const { call, turn } = request;
    const write =
      prepared.kind === "write" ? { write: await keepChange(this.ledger, prepared) } : {};
    request.signal.throwIfAborted();
    const event: EventBody = { type: "call_started", turn, call, ...why, ...write };
    await this.ledger.append(event, { flush: true });
    this.#allows.count(event);
    request.signal.throwIfAborted();
  }
}
