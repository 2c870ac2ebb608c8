import { draftOf, post, saveDraft, useDrafts } from "./host.js";
import {
  type Approval,
  parseToPanel,
  type Status,
  type ToPanel,
  type ViewEvent,
} from "./protocol.js";
import { t, useTexts } from "./texts.js";
import { Transcript } from "./transcript.js";

/** Where the host wants the reader's eye; taken once by the component it is for. */
export interface Reveal {
  readonly target: "composer" | "last" | "card";
  readonly card?: string | undefined;
  readonly text?: string | undefined;
}

/** Everything the panel shows, fed by the host's messages alone. */
export class Store {
  status: Status | undefined;
  transcript = new Transcript();
  /** Events of before the first one here. */
  earlier = 0;
  approvals: readonly Approval[] | undefined;
  /** For the status region. */
  said = "";
  reveal: Reveal | undefined;
  /** Why the last ask was refused. */
  refused: string | undefined;
  /** How many asks were sent from here. */
  sent = 0;

  #events: ViewEvent[] = [];
  #next = 0;
  readonly #texts = new Map<number, { session: string; text: string }>();
  readonly #listeners = new Set<() => void>();

  get session(): string {
    return this.status?.session?.id ?? "";
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes what the host posted; anything else is ignored. */
  receive(data: unknown): void {
    const message = parseToPanel(data);
    if (!message) return;
    this.#take(message);
    for (const listener of this.#listeners) listener();
  }

  say(text: string): void {
    // The same words twice are not announced: a blank tells them apart.
    this.said = text === this.said ? `${text}\u00a0` : text;
    for (const listener of this.#listeners) listener();
  }

  /** Sends the draft of a session ("" is a new one) on; its text comes back where it is refused. */
  ask(session: string, text: string): void {
    const ref = ++this.sent;
    this.#texts.set(ref, { session, text });
    this.refused = undefined;
    saveDraft(session, "");
    post({ type: "ask", session: session === "" ? null : session, ref, text });
    for (const listener of this.#listeners) listener();
  }

  #take(message: ToPanel): void {
    switch (message.type) {
      case "snapshot":
        useTexts(message.texts);
        // Later on this page is ahead of the host by what is being typed.
        if (!this.status) useDrafts(message.drafts);
        this.#begin(message.status);
        this.status = message.status;
        this.earlier = message.earlier;
        this.#events = message.events;
        // All there is comes with it: what was live before may be another session's.
        this.#rebuild(message.deltas, false);
        this.#next = 1;
        return;
      case "batch":
        if (message.n !== this.#next) {
          // A hidden panel loses messages; a hole in the numbers means to begin anew.
          this.#next = -1;
          post({ type: "ready" });
          return;
        }
        this.#next++;
        for (const part of message.parts) {
          if ("event" in part) {
            this.#events.push(part.event);
            this.transcript.apply(part.event);
            this.#announce(part.event);
          } else if ("delta" in part) this.transcript.applyDelta(part.delta);
          else this.status = part.status;
        }
        return;
      case "earlier":
        if (message.session !== this.session) return;
        this.#events = [...message.events, ...this.#events];
        this.earlier = message.earlier;
        this.#rebuild([], true);
        return;
      case "whole": {
        if (message.session !== this.session) return;
        const at = this.#events.findIndex((event) => event.seq === message.event.seq);
        if (at < 0) return;
        this.#events[at] = message.event;
        this.#rebuild([], true);
        return;
      }
      case "asked": {
        const sent = this.#texts.get(message.ref);
        this.#texts.delete(message.ref);
        if (message.refused === null || !sent) return;
        // An ask without a session begins one: it is shown by now, and its composer gets the text.
        const session = sent.session === "" ? this.session : sent.session;
        const typed = draftOf(session);
        saveDraft(session, typed === "" ? sent.text : `${sent.text}\n${typed}`);
        this.refused = message.refused;
        this.said = message.refused;
        return;
      }
      case "say":
        this.said = message.text === this.said ? `${message.text}\u00a0` : message.text;
        return;
      case "reveal":
        this.reveal = message;
        if (message.text !== undefined) saveDraft(this.session, message.text);
        return;
      case "approvals":
        useTexts(message.texts);
        this.approvals = message.cards;
        return;
      default:
        message satisfies never;
    }
  }

  /** What was typed behind an ask that begins a session is for that session, once it is there. */
  #begin(status: Status): void {
    const id = status.session?.id;
    const asked = [...this.#texts.values()].some(({ session }) => session === "");
    const typed = draftOf("");
    if (id === undefined || this.session !== "" || !asked || typed === "") return;
    saveDraft("", "");
    saveDraft(id, draftOf(id) + typed);
  }

  /** Makes the rows anew; live output and open marks come over from the rows there were. */
  #rebuild(deltas: Parameters<Transcript["applyDelta"]>[0][], sameSession: boolean): void {
    const before = this.transcript;
    this.transcript = new Transcript(this.#events);
    if (sameSession) this.transcript.carryOver(before);
    for (const delta of deltas) this.transcript.applyDelta(delta);
  }

  /** Says what a person who does not look at the panel needs to hear, and no more. */
  #announce(event: ViewEvent): void {
    if (event.type === "card_raised")
      this.said = t(
        "permissionNeeded",
        event.argv?.join(" ") ?? event.relative ?? event.path ?? "",
      );
    else if (event.type === "card_answered")
      this.said = t("saidAnswered", answerText(event.answer));
    else if (event.type === "question") this.said = t("saidQuestion", event.text);
    else if (event.type === "turn_ended") this.said = t("saidTurnEnded", endText(event.reason));
    if (this.said.length > 300) this.said = `${this.said.slice(0, 300)}…`;
  }
}

/** An answer to a card, in the user's language. */
export function answerText(answer: "allow_once" | "allow_session" | "deny"): string {
  if (answer === "allow_once") return t("answeredOnce");
  return answer === "allow_session" ? t("answeredSession") : t("answeredDeny");
}

/** How a turn ended, in the user's language. */
export function endText(
  reason: "finished" | "cancelled" | "failed" | "interrupted" | "limit",
): string {
  const texts = {
    finished: "endFinished",
    cancelled: "endCancelled",
    failed: "endFailed",
    interrupted: "endInterrupted",
    limit: "endLimit",
  } as const;
  return t(texts[reason]);
}
