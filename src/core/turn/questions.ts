import { randomUUID } from "node:crypto";
import type { SessionRecord } from "../session/record.js";
import type { AnswerOutcome, OpenQuestion } from "./live.js";

interface Pending {
  readonly open: OpenQuestion;
  readonly turn: string;
  readonly signal: AbortSignal;
  readonly resolve: (text: string) => void;
}

/** The one question that may be open in a session. */
export class QuestionDesk {
  #pending: Pending | undefined;
  constructor(
    private readonly record: SessionRecord,
    /** Called when a question can be answered. */
    private readonly opened: () => void,
  ) {}

  get open(): OpenQuestion | undefined {
    return this.#pending?.open;
  }

  /**
   * Opens the question of a call and waits for its answer; one that an earlier host left open is
   * the same question. Rejects with the signal's reason, or `LogError`.
   */
  async ask(
    call: string,
    turn: string,
    text: string,
    options: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const known = this.record.facts.turn?.calls.find((one) => one.call === call);
    if (known?.reply !== undefined) return known.reply;
    const question = known?.question?.question ?? randomUUID();
    const open = { question, call, text, ...(options === undefined ? {} : { options }) };
    signal.throwIfAborted();
    let give: (text: string) => void = () => {};
    const answer = new Promise<string>((resolve) => {
      give = resolve;
    });
    const listen = (): void => {
      this.#pending = { open, turn, signal, resolve: give };
      this.opened();
    };
    let cancelled: () => void = () => {};
    const cancel = new Promise<never>((_, reject) => {
      cancelled = () => {
        // At once: what is said from now on is no answer.
        this.#pending = undefined;
        reject(signal.reason);
      };
    });
    cancel.catch(() => {});
    signal.addEventListener("abort", cancelled, { once: true });
    try {
      if (known?.question === undefined) {
        const list = options === undefined ? {} : { options: [...options] };
        // A listener may answer at once: the question is open before it hears of it.
        await this.record.append(
          { type: "question", turn, question, call, text, ...list },
          { appended: listen },
        );
      } else listen();
      signal.throwIfAborted();
      return await Promise.race([answer, cancel]);
    } finally {
      signal.removeEventListener("abort", cancelled);
      this.#pending = undefined;
    }
  }

  /** Only the first answer to the open question counts. Rejects with `LogError`; it stays open. */
  async answer(question: string, text: string): Promise<AnswerOutcome> {
    const pending = this.#pending;
    if (pending === undefined || pending.open.question !== question) {
      return { outcome: "gone", message: "This question is not open any more." };
    }
    this.#pending = undefined;
    const { call } = pending.open;
    try {
      const { turn } = pending;
      await this.record.append(
        { type: "question_answered", turn, question, call, text },
        { flush: true },
      );
    } catch (error) {
      if (!pending.signal.aborted) this.#pending = pending;
      throw error;
    }
    pending.resolve(text);
    return { outcome: "taken" };
  }
}
