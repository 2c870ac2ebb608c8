import { MAX_OUTPUT_TOKENS } from "../limits.js";
import type { Message, ModelCall, ToolSpec } from "../model/chatClient.js";

/** Bytes of UTF-8 that count as one token: on the safe side for code and for most languages. */
const TOKEN_BYTES = 3;
/** When the window is full this much of it is freed, so that most requests share their beginning. */
const KEPT_SHARE = 0.6;
/** Texts up to this many bytes are not worth shortening. */
const SMALL_BYTES = 512;
/** What stays of a long text or argument. */
const EXCERPT_CHARS = 200;

/** Tokens a text counts for; an estimate. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / TOKEN_BYTES);
}

/** Messages do not change, and a long session has many: each is measured once. */
const measured = new WeakMap<Message, number>();

function bytesOf(message: Message): number {
  const known = measured.get(message);
  if (known !== undefined) return known;
  const bytes = measure(message);
  measured.set(message, bytes);
  return bytes;
}

function measure(message: Message): number {
  switch (message.role) {
    case "user":
    case "tool":
      return Buffer.byteLength(message.text) + 16;
    case "assistant":
      return (
        Buffer.byteLength(message.text) +
        Buffer.byteLength(JSON.stringify(message.calls)) +
        (message.extra === undefined ? 0 : Buffer.byteLength(JSON.stringify(message.extra.data))) +
        16
      );
    default:
      return message satisfies never;
  }
}

function excerpt(text: string): string {
  return [...text.slice(0, EXCERPT_CHARS * 2)].slice(0, EXCERPT_CHARS).join("");
}

type Assistant = Extract<Message, { role: "assistant" }>;
type ToolMessage = Extract<Message, { role: "tool" }>;

function shortResult(message: ToolMessage, call: ModelCall | undefined): ToolMessage {
  const bytes = Buffer.byteLength(message.text);
  const what = call === undefined ? "a call" : `${call.tool} ${excerpt(JSON.stringify(call.args))}`;
  const text = `[Left out to save space: the result (${bytes} bytes) of ${what}. To see it again, make the call again if it only reads; else read what it changed.]`;
  return { ...message, text };
}

function shortArguments(message: Assistant): Assistant {
  return {
    ...message,
    calls: message.calls.map((call) => {
      const { args, invalid } = call;
      return {
        ...call,
        args: args && Object.fromEntries(Object.entries(args).map(([k, v]) => [k, shortValue(v)])),
        ...(invalid === undefined ? {} : { invalid: shortText(invalid) }),
      };
    }),
  };
}

function shortText(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= SMALL_BYTES) return text;
  return `${excerpt(text)} [Left out to save space: ${bytes} bytes in all.]`;
}

function shortValue(value: unknown): unknown {
  if (typeof value === "string") return shortText(value);
  const text = JSON.stringify(value);
  return Buffer.byteLength(text) <= SMALL_BYTES ? value : shortText(text);
}

type Way = (message: Message, calls: ReadonlyMap<string, ModelCall>) => Message;

/** The ways of making one message smaller, the mildest first. */
const WAYS: readonly Way[] = [
  (message, calls) => {
    if (message.role !== "tool" || Buffer.byteLength(message.text) <= SMALL_BYTES) return message;
    return shortResult(message, calls.get(message.call));
  },
  (message) =>
    message.role === "assistant" && message.calls.length > 0 ? shortArguments(message) : message,
  (message) => (message.role === "tool" ? message : { ...message, text: shortText(message.text) }),
];

/** A list of messages that knows how much it is. */
class Carried {
  readonly messages: Message[] = [];
  readonly #sizes: number[] = [];
  readonly #calls = new Map<string, ModelCall>();
  bytes = 0;

  add(message: Message): void {
    const size = bytesOf(message);
    this.messages.push(message);
    this.#sizes.push(size);
    this.bytes += size;
    if (message.role === "assistant") {
      for (const call of message.calls) this.#calls.set(call.call, call);
    }
  }

  /** Shortens the first `count` messages, oldest first, until all fit into `target` bytes. */
  shorten(count: number, target: number): void {
    for (const way of WAYS) {
      for (let index = 0; index < count && this.bytes > target; index++) {
        const message = this.messages[index];
        if (message === undefined) return;
        const shorter = way(message, this.#calls);
        if (shorter === message) continue;
        const size = bytesOf(shorter);
        const before = this.#sizes[index] ?? 0;
        if (size >= before) continue;
        this.messages[index] = shorter;
        this.#sizes[index] = size;
        this.bytes += size - before;
      }
    }
  }

  /** Makes room before a request: what the model has just asked for is the last to go. */
  makeRoom(budget: number): void {
    if (this.bytes <= budget) return;
    const news = this.messages.findLastIndex((message) => message.role === "assistant");
    this.shorten(Math.max(news, 0), budget * KEPT_SHARE);
    const ask = this.messages.findLastIndex((message) => message.role === "user");
    const last = this.messages.length - 1;
    this.shorten(ask === last ? last : last + 1, budget);
  }
}

/** Bytes that the messages of a request may have, beside `system` and `tools`. */
export function messageBudget(
  contextTokens: number,
  system: string,
  tools: readonly ToolSpec[],
): number {
  const answer = Math.min(MAX_OUTPUT_TOKENS, contextTokens / 4);
  const fixed = estimateTokens(system) + estimateTokens(JSON.stringify(tools));
  return Math.max(contextTokens - answer - fixed, 0) * TOKEN_BYTES;
}

/**
 * What is sent of `messages` where they are more than `budget` bytes: the oldest tool results are
 * replaced by what they were and how to get them again, then long arguments of old calls, then
 * long old texts. A pure function that goes through the requests as they were made, so that two
 * of them in a row differ at their end alone, except where one had to make room. May still be too
 * much; then the provider says so.
 */
export function shorten(messages: readonly Message[], budget: number): readonly Message[] {
  const carried = new Carried();
  for (const message of messages) {
    if (message.role === "assistant") carried.makeRoom(budget);
    carried.add(message);
  }
  carried.makeRoom(budget);
  return carried.messages;
}
