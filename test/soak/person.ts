import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { EventOf, SessionEvent } from "../../src/core/session/events.js";
import type { AnswerOutcome, LiveSession, OpenCard } from "../../src/core/turn/live.js";
import { marked, readMarked } from "./files.js";
import type { Random } from "./random.js";

const surface = "test" as const;
/** What a command of the scripted model ends with; no other is ever approved. */
export const OURS = "# soak";

export interface Situation {
  readonly workspace: string;
  readonly random: Random;
  /** Says yes to all it may, at once. */
  readonly calm: boolean;
  readonly did: (what: string) => void;
  readonly broken: (invariant: string, what: string) => void;
  /** A way to answer that may fail with the disk; false where it did. */
  readonly attempt: <T>(work: () => Promise<T>) => Promise<T | undefined>;
}

/** Whether this is one that a sensible person would approve; everything else is denied. */
function sensible(event: EventOf<"card_raised">, workspace: string): boolean {
  if (event.kind === "read") return true;
  if (event.kind === "run") return event.argv?.at(-1)?.endsWith(OURS) === true;
  if (event.path?.startsWith(`${workspace}/files/`) !== true) return false;
  const { proposed = "", proposedEncoding } = event;
  const text = proposedEncoding === "base64" ? "" : proposed;
  return text === "" ? false : "mark" in readMarked(text);
}

/** Answers the cards and questions of a session as they come, as a person would who is not at their best. */
export class Person {
  readonly #asked = new Set<string>();
  constructor(
    readonly session: LiveSession,
    private readonly now: Situation,
  ) {
    session.onEvent((event) => this.#hear(event));
    for (const { event } of session.openCards) this.#hear(event);
    const question = session.openQuestion;
    if (question !== undefined) this.#question(question.question);
  }

  #hear(event: SessionEvent): void {
    if (event.type === "card_raised") void this.now.attempt(() => this.#card(event));
    if (event.type === "question") this.#question(event.question);
  }

  #question(question: string): void {
    if (this.#asked.has(question)) return;
    this.#asked.add(question);
    const { random, calm, did, attempt } = this.now;
    if (!calm && random.chance(0.1)) return;
    const pause = calm ? 0 : random.below(60);
    void attempt(async () => {
      await delay(pause);
      const { outcome } = await this.session.answerQuestion(question, "the second one");
      did(`question ${outcome}`);
    });
  }

  async #card(event: EventOf<"card_raised">): Promise<void> {
    if (this.#asked.has(event.card)) return;
    this.#asked.add(event.card);
    const { random, calm, workspace, did } = this.now;
    const right = sensible(event, workspace);
    const kind = calm ? 0 : random.next();
    if (!calm) await delay(random.pick([0, 0, 5, 20, 60]));
    if (!right) {
      did(`deny what is not sensible: ${(await this.#answer(event.card, "deny", "No.")).outcome}`);
    } else if (kind < 0.5) {
      did(`allow once: ${(await this.#answer(event.card, "allow_once")).outcome}`);
    } else if (kind < 0.7) {
      did(`allow for the session: ${(await this.#answer(event.card, "allow_session")).outcome}`);
    } else if (kind < 0.76 && event.kind === "write") {
      await this.#edited(event.card);
    } else if (kind < 0.82) {
      did(`deny: ${(await this.#answer(event.card, "deny", "Not like this.")).outcome}`);
    } else if (kind < 0.92) {
      await this.#twice(event.card);
    } else {
      const { outcome } = await this.session.ask("a message while a card is open");
      did(`leave a card open: ${outcome}`);
    }
  }

  /** Says yes to a text of their own in place of the proposal. */
  async #edited(card: string): Promise<void> {
    const { random, did } = this.now;
    const mark = `[p${random.below(1_000_000_000)}]`;
    const bytes = Buffer.from(marked(mark, random));
    const edit = await this.session.editCard(card, bytes);
    const shown = createHash("sha256").update(bytes).digest("hex");
    const stale = await this.session.answerCard(card, "allow_once", { surface, shown: "0" });
    if (stale.outcome === "taken") this.now.broken("one answer a card", "a yes to another text");
    const { outcome } = await this.session.answerCard(card, "allow_once", { surface, shown });
    did(`edit a card: ${edit.outcome}, ${outcome}`);
  }

  /** Answers what the card shows by now; where that changed in the same moment, looks and answers again. */
  async #answer(
    card: string,
    answer: "allow_once" | "allow_session" | "deny",
    note?: string,
  ): Promise<AnswerOutcome> {
    for (let tries = 1; ; tries++) {
      const open = this.session.openCards.find((one) => one.card === card);
      const shown = open?.edit?.event.digest;
      const outcome = await this.session.answerCard(card, answer, {
        surface,
        ...(note === undefined ? {} : { note }),
        ...(shown === undefined ? {} : { shown }),
      });
      // A card that comes up again after a kill brings its edit along a moment later.
      if (outcome.outcome !== "stale" || tries === 5) return outcome;
      this.now.did("answer what was edited meanwhile");
      await delay(20);
    }
  }

  /** Two answers at once, and one to a card that never was: at most one counts. */
  async #twice(card: string): Promise<void> {
    const outcomes = await Promise.all([
      this.#answer(card, "allow_once"),
      this.#answer(card, "deny"),
      this.#answer("no such card", "allow_session"),
    ]);
    const taken = outcomes.filter(({ outcome }) => outcome === "taken").length;
    this.now.did(`answer twice: ${taken} taken`);
    if (taken > 1 || outcomes[2]?.outcome === "taken") {
      this.now.broken("one answer a card", JSON.stringify(outcomes));
    }
  }

  /** An open card, where there is one. */
  get open(): OpenCard | undefined {
    return this.session.openCards[0];
  }

  /** Two answers at once to an open card, where there is one that may be approved. */
  async twice(): Promise<void> {
    const may = ({ event }: OpenCard): boolean => sensible(event, this.now.workspace);
    const open = this.session.openCards.find(may);
    if (open !== undefined) await this.#twice(open.card);
  }
}
