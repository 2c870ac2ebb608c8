/**
 * The only place that can say yes. `admit` decides on one prepared call; `answer` takes a
 * person's word for one card. The order is always:
 *
 *   card_raised → card_answered (flushed) → the file is read again → card_spent, or the allow
 *   (on disk) → call_started (flushed) → a permit for exactly what the card showed.
 *
 * A card ends once: by its answer, by a cancel, or by being made anew. Whoever comes first
 * claims it in the same tick, and everyone after finds it gone.
 */
import { basename } from "node:path";
import type { Allow, Answer, Delta, EventBody, SessionEvent, Surface } from "../session/events.js";
import { digest } from "../workspace/digest.js";
import { type Effect, issuePermit, type Permit } from "../workspace/permit.js";
import type { Workspace } from "../workspace/types.js";
import { type AllowUse, AllowUses } from "./allows.js";
import { type AnswerOutcome, makeCard, type OpenCard } from "./card.js";
import { sameBytes, stillShown } from "./disk.js";
import type { Prepared } from "./prepared.js";
import { allowOf, type Gated, requirement, sameAllow } from "./requirement.js";

export interface AppendOptions {
  /** The line is on the disk, flushed, before the promise resolves. */
  readonly flush?: boolean;
  /** Called when the line is in the log, before any listener hears of it. */
  readonly appended?: (event: SessionEvent) => void;
}

/** What the gate needs of a session: its log and the allows on its `meta.json`. */
export interface GateLedger {
  /** Rejects where the line could not be written; then nothing that it was to permit happens. */
  append(event: EventBody, options?: AppendOptions): Promise<SessionEvent>;
  allows(): readonly Allow[];
  /** Resolves when the line is flushed on `meta.json`. */
  addAllow(allow: Allow): Promise<void>;
  /** The same for taking one away. */
  removeAllow(allow: Allow): Promise<void>;
}

export interface GateOptions {
  /** A new id for a card, never given before. */
  readonly newId: () => string;
  /** Hears that the file under an open card changed. */
  readonly emit?: (delta: Delta) => void;
  /** The log so far, for how often each allow was used. */
  readonly events?: Iterable<SessionEvent>;
}

export interface AdmitRequest {
  readonly call: string;
  readonly tool: string;
  readonly prepared: Prepared;
  readonly workspace: Workspace;
  readonly turn: string;
  /** The card that a new one takes the place of: spent, made anew, or open when the host died. */
  readonly replaces?: string;
  readonly signal: AbortSignal;
}

export type Admission =
  /** The call touches nothing that needs a permit. */
  | { readonly kind: "free" }
  | {
      readonly kind: "permit";
      readonly permit: Permit;
      readonly by: "inside" | "user" | "allow";
      readonly card?: string;
      readonly allow?: Allow;
    }
  | { readonly kind: "denied"; readonly card: string; readonly note?: string }
  /** It was allowed, but for a file that is no longer there: prepare again, with `replaces: card`. */
  | { readonly kind: "spent"; readonly card: string }
  /** Someone wants the card made anew: prepare again, with `replaces: card`. */
  | { readonly kind: "remake"; readonly card: string };

/**
 * The reason to abort with where the host goes away rather than the user cancels: cards stay
 * open in the log, calls stay without a result, and a later host takes them up again.
 */
export class Abandoned extends Error {
  constructor() {
    super("the session was closed");
    this.name = "Abandoned";
  }
}

type End = "answered" | "spent" | "withdrawn";

type Decision =
  | { readonly kind: "answered"; readonly answer: Answer; readonly note?: string }
  | { readonly kind: "spent" }
  | { readonly kind: "remake" };

/** A card from before it is logged until it is decided. */
interface Pending {
  readonly card: string;
  readonly prepared: Gated;
  readonly request: AdmitRequest;
  /** Undefined until the card is in the log. */
  open: OpenCard | undefined;
  /** True from the moment that an answer, a cancel or a remake has taken the card. */
  claimed: boolean;
  /** What was last said of its file. */
  told: { changed: boolean; unsaved: boolean };
  readonly decision: Promise<Decision>;
  readonly decide: (decision: Decision) => void;
  readonly fail: (error: unknown) => void;
}

const GONE: Record<End, string> = {
  answered: "This card has been answered already.",
  spent: "This card is spent: the file changed, and a new card took its place.",
  withdrawn: "This card has been withdrawn.",
};

function effectOf(call: string, prepared: Gated): Effect {
  switch (prepared.kind) {
    case "read":
      return { kind: "read", call, path: prepared.path };
    case "write": {
      const { path, before, after } = prepared;
      return { kind: "write", call, path, before: before.digest, after: digest(after) };
    }
    case "run":
      return {
        kind: "run",
        call,
        argv: Object.freeze([...prepared.argv]),
        timeout: prepared.timeout,
      };
  }
  return prepared satisfies never;
}

export class Gate {
  readonly #pending = new Map<string, Pending>();
  readonly #ended = new Map<string, End>();
  readonly #uses = new AllowUses();
  /** What reads or changes the allows goes one after the other, so that none is used once it is gone. */
  #allowsTurn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly ledger: GateLedger,
    private readonly options: GateOptions,
  ) {
    for (const event of options.events ?? []) this.#uses.count(event);
  }

  /** The cards that wait for an answer, oldest first. */
  get openCards(): readonly OpenCard[] {
    const cards: OpenCard[] = [];
    for (const { open, claimed } of this.#pending.values()) {
      if (open !== undefined && !claimed) cards.push(open);
    }
    return cards;
  }

  /** The session's allows and how often a call went through by each. */
  get allowUses(): readonly AllowUse[] {
    return this.ledger.allows().map((allow) => ({ allow, used: this.#uses.of(allow) }));
  }

  /**
   * Decides on one prepared call, asking with a card where it must. Rejects with the signal's
   * reason on cancel (the card is withdrawn first), and where the log cannot be written.
   */
  async admit(request: AdmitRequest): Promise<Admission> {
    const { prepared, signal } = request;
    signal.throwIfAborted();
    const need = requirement(prepared, this.ledger.allows());
    if (need.kind === "card") {
      return prepared.kind === "free" ? { kind: "free" } : this.#ask(request, prepared);
    }
    if (need.kind === "allowed" && prepared.kind !== "free") {
      const admission = await this.#inTurn(() => this.#byAllow(request, prepared));
      return admission ?? this.#ask(request, prepared);
    }
    await this.#letGo(request);
    if (prepared.kind === "free") return { kind: "free" };
    const permit = issuePermit(effectOf(request.call, prepared));
    return { kind: "permit", permit, by: "inside" };
  }

  /**
   * A person's answer to an open card. Only the first one counts; it is in the log, flushed,
   * before anything else happens. Resolves when its consequences are in the log too.
   */
  async answer(
    card: string,
    answer: Answer,
    options: { note?: string; surface: Surface },
  ): Promise<AnswerOutcome> {
    const pending = this.#claim(card);
    if (pending === undefined) return this.#gone(card);
    const { request, prepared } = pending;
    const { turn } = request;
    try {
      const note = options.note === undefined || options.note === "" ? {} : { note: options.note };
      await this.ledger.append(
        { type: "card_answered", turn, card, answer, ...note, surface: options.surface },
        { flush: true },
      );
      this.#ended.set(card, "answered");
      if (answer !== "deny" && !(await stillShown(request.workspace, prepared))) {
        // The answer was about a file that is no longer there; an allow that came with it goes too.
        await this.spend(card, turn);
        pending.decide({ kind: "spent" });
      } else {
        if (answer === "allow_session") await this.#inTurn(() => this.#addAllow(prepared));
        pending.decide({ kind: "answered", answer, ...note });
      }
      return { outcome: "taken" };
    } catch (error) {
      pending.fail(error);
      throw error;
    } finally {
      this.#pending.delete(card);
    }
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

  /** Logs that the file changed between the answer to `card` and the rename. */
  async spend(card: string, turn: string): Promise<void> {
    await this.ledger.append({ type: "card_spent", turn, card }, { flush: true });
    this.#ended.set(card, "spent");
  }

  /** Takes an allow back; false where there is none such. Later calls ask again. */
  revoke(allow: Allow): Promise<boolean> {
    return this.#inTurn(async () => {
      if (!this.ledger.allows().some((one) => sameAllow(one, allow))) return false;
      await this.ledger.removeAllow(allow);
      const event: EventBody = { type: "allow_revoked", allow };
      await this.ledger.append(event, { flush: true });
      this.#uses.count(event);
      return true;
    });
  }

  /**
   * Looks again at the files of open cards that bear the name of one of `paths` (in any
   * spelling), and says with a delta what became of each card's file.
   */
  async fileChanged(paths: readonly string[]): Promise<void> {
    const names = new Set(paths.map((path) => basename(path).toLowerCase()));
    for (const pending of [...this.#pending.values()]) {
      const { prepared, request, card } = pending;
      if (prepared.kind !== "write" || pending.open === undefined) continue;
      if (!names.has(basename(prepared.path.real).toLowerCase())) continue;
      const changed = !(await sameBytes(request.workspace, prepared));
      const unsaved = request.workspace.unsaved().has(prepared.path.real);
      const { told } = pending;
      if (pending.claimed || (told.changed === changed && told.unsaved === unsaved)) continue;
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
    // Fixed before anyone is asked: what a tool does to its bytes later cannot change what is permitted.
    const effect = effectOf(call, prepared);
    const replaces = request.replaces === undefined ? {} : { replaces: request.replaces };
    const ids = { card: this.options.newId(), call, turn, ...replaces };
    const raised = await makeCard(workspace, prepared, ids);
    signal.throwIfAborted();

    const pending = this.#newPending(ids.card, request, prepared);
    const opened = (event: SessionEvent): void => {
      if (event.type !== "card_raised" || pending.open !== undefined) return;
      const [before, after] =
        prepared.kind === "write" ? [prepared.before.bytes, prepared.after] : [null, null];
      pending.open = { card: ids.card, call, event, before, after };
    };
    this.#pending.set(ids.card, pending);
    const cancelled = (): void => this.#cancel(pending);
    try {
      opened(await this.ledger.append(raised, { appended: opened }));
      if (request.replaces !== undefined && !this.#ended.has(request.replaces)) {
        this.#ended.set(request.replaces, "withdrawn");
      }
      signal.addEventListener("abort", cancelled, { once: true });
      if (signal.aborted) cancelled();
      const decision = await pending.decision;
      if (decision.kind !== "answered") return { kind: decision.kind, card: ids.card };
      if (decision.answer === "deny") {
        const note = decision.note === undefined ? {} : { note: decision.note };
        return { kind: "denied", card: ids.card, ...note };
      }
      await this.#start(request, { by: "user", card: ids.card });
      return { kind: "permit", permit: issuePermit(effect), by: "user", card: ids.card };
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
    const effect = effectOf(request.call, prepared);
    await this.#start(request, { by: "allow", allow: need.allow });
    return { kind: "permit", permit: issuePermit(effect), by: "allow", allow: need.allow };
  }

  /** Logs, flushed, that an effect begins; no permit is made before. */
  async #start(
    request: AdmitRequest,
    why: { by: "user"; card: string } | { by: "allow"; allow: Allow },
  ): Promise<void> {
    request.signal.throwIfAborted();
    const { call, turn } = request;
    const event: EventBody = { type: "call_started", turn, call, ...why };
    await this.ledger.append(event, { flush: true });
    this.#uses.count(event);
    request.signal.throwIfAborted();
  }

  async #addAllow(prepared: Gated): Promise<void> {
    const allow = allowOf(prepared);
    if (this.ledger.allows().some((one) => sameAllow(one, allow))) return;
    await this.ledger.addAllow(allow);
  }

  #newPending(card: string, request: AdmitRequest, prepared: Gated): Pending {
    let decide: (decision: Decision) => void = () => {};
    let fail: (error: unknown) => void = () => {};
    const decision = new Promise<Decision>((resolve, reject) => {
      decide = resolve;
      fail = reject;
    });
    // Where logging the card fails no one awaits the decision, and a cancel may still reject it.
    decision.catch(() => {});
    const unsaved =
      prepared.kind === "write" && request.workspace.unsaved().has(prepared.path.real);
    const told = { changed: false, unsaved };
    return {
      card,
      request,
      prepared,
      open: undefined,
      claimed: false,
      told,
      decision,
      decide,
      fail,
    };
  }

  /** Takes an open card for the caller alone; undefined where someone was first. */
  #claim(card: string): Pending | undefined {
    const pending = this.#pending.get(card);
    if (pending?.open === undefined || pending.claimed) return undefined;
    pending.claimed = true;
    return pending;
  }

  #gone(card: string): AnswerOutcome {
    if (this.#pending.get(card)?.claimed === true) {
      return { outcome: "gone", message: this.#endOf(card) ?? GONE.answered };
    }
    const message = this.#endOf(card) ?? "There is no such card in this session.";
    return { outcome: "gone", message };
  }

  #endOf(card: string): string | undefined {
    const end = this.#ended.get(card);
    return end === undefined ? undefined : GONE[end];
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

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#allowsTurn.then(task);
    this.#allowsTurn = result.catch(() => {});
    return result;
  }
}
