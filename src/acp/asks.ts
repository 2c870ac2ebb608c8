import {
  type AgentContext,
  methods,
  RequestError,
  type RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import type { Delta, SessionEvent } from "../core/session/events.js";
import type { LiveSession, OpenCard } from "../core/turn/live.js";
import type { Mode } from "./options.js";
import type { Outbox } from "./outbox.js";
import {
  cardChanged,
  cardOutcome,
  cardRequest,
  cardShared,
  questionOutcome,
  questionRequest,
} from "./permission.js";
import { FileWatch } from "./watch.js";

const READ_ONLY_NOTE = "this session denies whatever would ask; do without it";

/** What asking needs of its session. */
export interface AsksHost {
  readonly client: AgentContext;
  readonly outbox: Outbox;
  /** The arguments that the model gave to a call. */
  readonly input: (call: string) => unknown;
  /** A card is about to be shown. */
  readonly shown: (card: OpenCard) => void;
  /** The file of an open card (absolute) may change on disk. */
  readonly filesChanged: (paths: readonly string[]) => void;
  /** Aborts when the client is gone: nothing that fails then is an answer. */
  readonly gone: AbortSignal;
  readonly report: (message: string) => void;
}

/**
 * Cards and questions as requests to the client. Only an option's own id is an answer; whatever
 * else comes back (cancelled, an error, nonsense) cancels the turn and lets nothing through.
 */
export class Asks {
  #mode: Mode = "ask";
  /** Requests that the client has not answered, by card or question. */
  readonly #asked = new Map<string, AbortController>();
  readonly #files: FileWatch;
  #held = true;

  constructor(
    private readonly live: LiveSession,
    private readonly host: AsksHost,
  ) {
    this.#files = new FileWatch((path) => host.filesChanged([path]));
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** What is open follows the new mode. */
  setMode(mode: Mode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    if (mode !== "deny" || this.#held) return;
    this.close();
    this.askOpen();
  }

  /** From here on asks for whatever is open and not asked yet. */
  askOpen(): void {
    this.#held = false;
    if (this.live.readOnly !== undefined) return;
    for (const card of this.live.openCards) {
      if (!this.#asked.has(card.card)) this.#askCard(card);
    }
    const question = this.live.openQuestion;
    if (question?.options?.length && !this.#asked.has(question.question)) this.#askQuestion();
  }

  /** Takes every request back and asks nothing until `askOpen`: the client does not know the session. */
  hold(): void {
    this.close();
    this.#held = true;
  }

  /** Asks what an event opens, and takes back what it closes. */
  event(event: SessionEvent): void {
    switch (event.type) {
      case "card_raised": {
        if (event.replaces !== undefined) this.#withdraw(event.replaces);
        const card = this.live.openCards.find((one) => one.card === event.card);
        if (card !== undefined && !this.#held) this.#askCard(card);
        break;
      }
      case "card_answered":
      case "card_spent":
      case "card_withdrawn":
        this.#withdraw(event.card);
        break;
      case "question":
        if (event.options?.length && !this.#held) this.#askQuestion();
        break;
      case "question_answered":
        this.#withdraw(event.question);
        break;
      case "turn_ended":
        // A question that was cancelled has no event of its own.
        this.close();
        break;
      default:
        break;
    }
  }

  /** Says on an open card that its file has changed, or is again as the card shows it. */
  changed(delta: Extract<Delta, { type: "card_changed" }>): void {
    const card = this.live.openCards.find((one) => one.card === delta.card);
    if (card === undefined || !this.#asked.has(delta.card)) return;
    this.host.outbox.push({
      sessionUpdate: "tool_call_update",
      toolCallId: card.call,
      content: cardChanged(card, delta.changed ?? true),
    });
  }

  /** Says on an open card that other sessions have one for the same file, or do not any more. */
  others(delta: Extract<Delta, { type: "card_others" }>): void {
    const card = this.live.openCards.find((one) => one.card === delta.card);
    if (card === undefined || !this.#asked.has(delta.card)) return;
    this.host.outbox.push({
      sessionUpdate: "tool_call_update",
      toolCallId: card.call,
      content: cardShared(card, delta.others),
    });
  }

  /** Takes every request back; nothing is answered by it. */
  close(): void {
    for (const asked of this.#asked.values()) asked.abort();
    this.#asked.clear();
    this.#files.close();
  }

  #withdraw(id: string): void {
    this.#asked.get(id)?.abort();
    this.#asked.delete(id);
    this.#files.remove(id);
  }

  #askCard(card: OpenCard): void {
    if (this.#mode === "deny") {
      const options = { note: READ_ONLY_NOTE, surface: "acp" } as const;
      this.#settle(this.live.answerCard(card.card, "deny", options));
      return;
    }
    this.host.shown(card);
    if (card.event.kind === "write" && card.event.path !== undefined) {
      this.#files.add(card.card, card.event.path);
    }
    const request = cardRequest(this.live.id, card, this.host.input(card.call));
    this.#request(card.card, request, async (response) => {
      const outcome = cardOutcome(response);
      if ("none" in outcome) return this.#unanswered(outcome.none);
      const note = outcome.note === undefined ? {} : { note: outcome.note };
      // The text that the request showed: another host may have left it edited.
      const shown = card.edit === undefined ? {} : { shown: card.edit.event.digest };
      await this.live.answerCard(card.card, outcome.answer, { ...note, ...shown, surface: "acp" });
    });
  }

  #askQuestion(): void {
    const question = this.live.openQuestion;
    if (question === undefined) return;
    const request = questionRequest(this.live.id, question);
    this.#request(question.question, request, async (response) => {
      const outcome = questionOutcome(question, response);
      if ("none" in outcome) return this.#unanswered(outcome.none);
      await this.live.answerQuestion(question.question, outcome.answer);
    });
  }

  #request(
    id: string,
    request: RequestPermissionRequest,
    answered: (response: unknown) => Promise<void>,
  ): void {
    const asked = new AbortController();
    this.#asked.set(id, asked);
    const { client, outbox, gone } = this.host;
    outbox.after(() => {
      if (asked.signal.aborted || gone.aborted) return;
      client
        .request(methods.client.session.requestPermission, request, {
          cancellationSignal: asked.signal,
          stopWaitingOnCancel: true,
        })
        .then(
          (response: unknown) => {
            // An answer that comes after its card is gone changes nothing.
            if (asked.signal.aborted) return;
            this.#asked.delete(id);
            this.#settle(answered(response));
          },
          (error: unknown) => {
            if (asked.signal.aborted || gone.aborted) return;
            this.#asked.delete(id);
            const said = error instanceof RequestError ? error.message : String(error);
            this.#settle(this.#unanswered(`the client could not ask: ${said}`));
          },
        );
    });
  }

  /** No answer is never a yes: the turn stops, and whoever reads stderr hears why. */
  async #unanswered(why: string): Promise<void> {
    this.host.report(`session ${this.live.id}: ${why}; the turn is cancelled`);
    await this.live.cancel();
  }

  #settle(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.host.report(`session ${this.live.id}: ${error instanceof Error ? error.stack : error}`);
    });
  }
}
