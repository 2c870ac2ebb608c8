import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import {
  type ChatAnswer,
  type ChatClient,
  ChatError,
  type Message,
  type ModelCall,
  type ToolSpec,
} from "../model/chatClient.js";
import { sendWithRetry } from "../model/retry.js";
import type { Delta } from "../session/events.js";
import type { SessionRecord } from "../session/record.js";
import { messageBudget, Shortener } from "./context.js";
import { Transcript } from "./transcript.js";

/** How far the context is made smaller, step by step, where the provider says that it is too long. */
const SMALLEST_SHARE = 1 / 16;

/** Events that are read at a stretch. */
const SLICE = 10_000;

export interface ModelRequest {
  readonly record: SessionRecord;
  readonly client: ChatClient;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly signal: AbortSignal;
  readonly emit: (delta: Delta) => void;
}

/**
 * Asks the model for its next answer. Keeps how much of the window the provider really takes, for
 * a session as long as it is open.
 */
export class ModelDesk {
  #share = 1;
  readonly #transcript = new Transcript();
  #told = 0;
  readonly #shortener = new Shortener();

  /** Rejects with `ChatError`, or the signal's reason. */
  async request(request: ModelRequest): Promise<ChatAnswer> {
    const { record, client, system, tools, signal, emit } = request;
    const all = await this.#messages(record);
    const budget = messageBudget(client.contextTokens, system, tools);
    for (;;) {
      const messages = await this.#shortener.shorten(all, budget * this.#share);
      try {
        return await sendWithRetry(
          client,
          { system, tools, messages },
          {
            signal,
            onDelta: emit,
            onRetry: (retry) => emit({ type: "retry", ...retry }),
          },
        );
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ChatError) || error.kind !== "context") throw error;
        if (!(await this.#shrink(all, messages, budget))) throw error;
      }
    }
  }

  /** The transcript up to now; only what is new since the last request is added. */
  async #messages(record: SessionRecord): Promise<readonly Message[]> {
    while (this.#told < record.events.length) {
      const slice = record.events.slice(this.#told, this.#told + SLICE);
      for (const event of slice) this.#transcript.add(event);
      this.#told += slice.length;
      // A long log must not hold the extension host.
      if (slice.length === SLICE) await setImmediate();
    }
    return [...this.#transcript.messages];
  }

  /** Takes the next smaller share that changes what is sent; false where there is none. */
  async #shrink(
    all: readonly Message[],
    sent: readonly Message[],
    budget: number,
  ): Promise<boolean> {
    const before = JSON.stringify(sent).length;
    let share = this.#share;
    while (share > SMALLEST_SHARE) {
      share /= 2;
      const smaller = await new Shortener().shorten(all, budget * share);
      if (JSON.stringify(smaller).length < before) {
        this.#share = share;
        return true;
      }
    }
    return false;
  }
}

/**
 * The calls of an answer, each with a name that no call of the session had before: some servers
 * number them anew in every answer, and a result must belong to one call.
 */
export function withOwnNames(
  calls: readonly ModelCall[],
  used: ReadonlySet<string>,
): readonly ModelCall[] {
  const taken = new Set<string>();
  return calls.map((one) => {
    let call = one.call;
    while (call === "" || used.has(call) || taken.has(call)) {
      call = `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
    }
    taken.add(call);
    return call === one.call ? one : { ...one, call };
  });
}
