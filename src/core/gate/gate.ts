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
import { basename } from "node:path";
import type { Allow, Answer, EventBody, SessionEvent, Surface } from "../session/events.js";
import { issuePermit } from "../workspace/permit.js";
import { AllowDesk } from "./allowDesk.js";
import type { AllowUse } from "./allows.js";
import { type AnswerOutcome, makeCard, type OpenCard } from "./card.js";
import { sameBytes, stillShown } from "./disk.js";
import { EDIT_DROPPED, type EditOutcome, editedWrite, makeEdit, STALE } from "./edit.js";
import { EditDesk } from "./editDesk.js";
import { copyOf, effectOf } from "./effect.js";
import { keepChange } from "./keep.js";
import { type End, GONE, isOpen, isStale, newPending, type Pending } from "./pending.js";
import {
  Abandoned,
  type Admission,
  type AdmitRequest,
  type GateLedger,
  type GateOptions,
  type UndoPermit,
  type UndoRequest,
} from "./ports.js";
import { type Gated, requirement } from "./requirement.js";
import { saidOf } from "./said.js";
import { copyOfChange, undoEffect, undoStarted } from "./undo.js";

export type {
  Admission,
  AdmitRequest,
  AppendOptions,
  GateLedger,
  GateOptions,
  UndoChange,
  UndoPermit,
  UndoRequest,
} from "./ports.js";
export { Abandoned };

export class Gate {
  readonly #pending = new Map<string, Pending>();
  readonly #ended = new Map<string, End>();
  readonly #allows: AllowDesk;
  readonly #edits: EditDesk;

  constructor(
    private readonly ledger: GateLedger,
    private readonly options: GateOptions,
  ) {
    this.#allows = new AllowDesk(ledger);
    this.#edits = new EditDesk(ledger);
    for (const event of options.events ?? []) {
      this.#allows.count(event);
      this.#edits.take(event);
    }
  }

  /** The cards that wait for an answer, oldest first. */
  get openCards(): readonly OpenCard[] {
    const cards: OpenCard[] = [];
    for (const pending of this.#pending.values()) {
      if (pending.open !== undefined && isOpen(pending)) cards.push(pending.open);
    }
    return cards;
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
    const need = requirement(prepared, this.ledger.allows());
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
    if (answer !== "deny" && isStale(this.#pending.get(card), options.shown)) {
      return { outcome: "stale", message: STALE };
    }
    const pending = this.#claim(card);
    if (pending === undefined) return this.#gone(card);
    const { request, prepared, logged } = pending;
    const { turn } = request;
    const said = saidOf(answer, pending, options.note);
    try {
      // The edited bytes are in the log before the answer to them.
      await logged;
      const { kind: _, edit, ...fields } = said;
      const approved = edit === undefined ? {} : { digest: edit.event.digest };
      const { surface } = options;
      await this.ledger.append(
        { type: "card_answered", turn, card, ...fields, surface, ...approved },
        { flush: true },
      );
      this.#ended.set(card, "answered");
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
      this.#pending.delete(card);
    }
  }

  /**
   * Makes `bytes` what an Approve of this open card writes; the proposal's own bytes revert it.
   * Resolves when the edit is in the log. Refused for what is no write, for what an editor would
   * not show as it is, and over `WRITE_BYTES`. Rejects where the log cannot be written.
   */
  async edit(card: string, bytes: Uint8Array): Promise<EditOutcome> {
    const pending = this.#pending.get(card);
    if (pending === undefined || !isOpen(pending)) return this.#gone(card);
    const edited = await this.#edits.edit(pending, bytes);
    return edited.outcome === "gone" ? this.#gone(card) : edited;
  }

  /** Brings the proposal back where a card was edited. */
  async revert(card: string): Promise<EditOutcome> {
    const after = this.#pending.get(card)?.open?.after;
    return after == null ? this.#gone(card) : this.edit(card, after);
  }

  /**
   * Permits for an undo of the user's own: who asks for it has shown the user a list with exactly
   * these files and bytes, and the user confirmed it, so no card asks again. It is in the log,
   * flushed, with the bytes on both sides kept, before a permit is made. Rejects where that cannot
   * be written, and while a card of this session waits.
   */
  async admitUndo(request: UndoRequest): Promise<readonly UndoPermit[]> {
    if (this.#pending.size > 0) throw new Error("a card waits: nothing is undone now");
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
    const pending = this.#claim(card);
    if (pending === undefined) return this.#gone(card);
    try {
      await this.#withdraw(card, pending.request.turn);
      pending.decide({ kind: "remake" });
      return { outcome: "taken" };
    } catch (error) {
      pending.fail(error);
      throw error;
    } finally {
      this.#pending.delete(card);
    }
  }

  /**
   * Another session has written the file at `path` (real): a card here that was made from other
   * bytes is made anew at once. Whoever answers meanwhile is told that the card is gone. One that
   * a person has edited is only marked: their text would go with it.
   */
  async landed(path: string): Promise<void> {
    for (const pending of [...this.#pending.values()]) {
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
    await this.ledger.append({ type: "card_spent", turn, card }, { flush: true });
    this.#ended.set(card, "spent");
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
    const names = new Set(paths.map((path) => basename(path).toLowerCase()));
    for (const pending of [...this.#pending.values()]) {
      const { prepared, request, card } = pending;
      if (prepared.kind !== "write" || !isOpen(pending)) continue;
      if (!names.has(basename(prepared.path.real).toLowerCase())) continue;
      const changed = !(await sameBytes(request.workspace, prepared));
      const unsaved = request.workspace.unsaved().has(prepared.path.real);
      const { told } = pending;
      if (!isOpen(pending) || (told.changed === changed && told.unsaved === unsaved)) continue;
      pending.told = { changed, unsaved };
      this.options.emit?.({ type: "card_changed", card, changed, unsaved });
    }
  }

  /** Withdraws the card of an earlier host that `replaces` names, where no new one will stand for it. */
  async letGo(card: string | undefined, turn: string): Promise<void> {
    if (card !== undefined && !this.#ended.has(card)) await this.#withdraw(card, turn);
  }

  #letGo(request: AdmitRequest): Promise<void> {
    return this.letGo(request.replaces, request.turn);
  }

  async #ask(request: AdmitRequest, prepared: Gated): Promise<Admission> {
    const { call, turn, signal, workspace } = request;
    const replaces = request.replaces === undefined ? {} : { replaces: request.replaces };
    const ids = { card: this.options.newId(), call, turn, ...replaces };
    const raised = await makeCard(workspace, prepared, ids);
    const past = this.#edits.takenOver(raised);
    if (past === "dropped") raised.reasons = [...(raised.reasons ?? []), EDIT_DROPPED];
    const kept =
      prepared.kind === "write" && past instanceof Uint8Array
        ? await makeEdit(ids.card, turn, prepared, past)
        : undefined;
    signal.throwIfAborted();

    const pending = newPending(ids.card, request, prepared);
    const opened = (event: SessionEvent): void => {
      if (event.type !== "card_raised" || pending.open !== undefined) return;
      const [before, after] =
        prepared.kind === "write" ? [prepared.before.bytes, prepared.after] : [null, null];
      const edit = kept === undefined ? {} : { edit: kept };
      pending.open = { card: ids.card, call, event, before, after, ...edit };
      this.#edits.take(event);
    };
    this.#pending.set(ids.card, pending);
    const cancelled = (): void => this.#cancel(pending);
    try {
      const up = this.ledger.append(raised, { appended: opened });
      // Right behind its card, before anyone can answer it.
      const logged = kept === undefined ? undefined : this.#edits.log(pending, kept);
      logged?.catch(() => {});
      opened(await up);
      await logged;
      if (request.replaces !== undefined && !this.#ended.has(request.replaces)) {
        this.#ended.set(request.replaces, "withdrawn");
      }
      signal.addEventListener("abort", cancelled, { once: true });
      if (signal.aborted) cancelled();
      const decision = await pending.decision;
      if (decision.kind !== "answered") return { kind: decision.kind, card: ids.card };
      if (decision.answer === "deny") {
        const { kind: _, answer: __, edit: ___, ...said } = decision;
        return { kind: "denied", card: ids.card, ...said };
      }
      const edited = await editedWrite(prepared, decision.edit);
      await this.#start(request, edited ?? prepared, { by: "user", card: ids.card });
      const permit = issuePermit(effectOf(request, edited ?? prepared));
      const own = edited === undefined ? {} : { edited };
      return { kind: "permit", permit, by: "user", card: ids.card, ...own };
    } finally {
      signal.removeEventListener("abort", cancelled);
      this.#pending.delete(ids.card);
    }
  }

  /** A permit by an allow, or undefined where it was taken back in the meantime. */
  async #byAllow(request: AdmitRequest, prepared: Gated): Promise<Admission | undefined> {
    const need = requirement(prepared, this.ledger.allows());
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

  /** Takes an open card for the caller alone; undefined where someone was first. */
  #claim(card: string): Pending | undefined {
    const pending = this.#pending.get(card);
    if (pending === undefined || !isOpen(pending)) return undefined;
    pending.claimed = true;
    return pending;
  }

  #gone(card: string): Extract<AnswerOutcome, { outcome: "gone" }> {
    const pending = this.#pending.get(card);
    // Claimed and not ended yet: by an answer on its way to the log, or by a cancel.
    const deciding = pending?.request.signal.aborted === true ? "withdrawn" : "answered";
    const end = this.#ended.get(card) ?? (pending?.open === undefined ? undefined : deciding);
    const message = end === undefined ? "There is no such card in this session." : GONE[end];
    return { outcome: "gone", message };
  }

  #cancel(pending: Pending): void {
    if (pending.claimed) return;
    pending.claimed = true;
    const { signal, turn } = pending.request;
    if (signal.reason instanceof Abandoned) {
      pending.fail(signal.reason);
      return;
    }
    this.#withdraw(pending.card, turn).then(() => pending.fail(signal.reason), pending.fail);
  }

  async #withdraw(card: string, turn: string): Promise<void> {
    await this.ledger.append({ type: "card_withdrawn", turn, card }, { flush: true });
    this.#ended.set(card, "withdrawn");
  }
}
