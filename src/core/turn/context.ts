import { setImmediate } from "node:timers/promises";
import { MAX_OUTPUT_TOKENS } from "../limits.js";
import type { Message, ModelCall, ToolSpec } from "../model/chatClient.js";

/** Bytes of UTF-8 that count as one token: on the safe side for code and for most languages. */
const TOKEN_BYTES = 3;
/** When the window is full this much of it is freed, so that most requests share their beginning. */
const KEPT_SHARE = 0.6;
/** Messages that are measured at a stretch: a few milliseconds. */
const SLICE = 500;
/** Texts up to this many bytes are not worth shortening. */
const SMALL_BYTES = 512;
/** What stays of a long text or argument. */
const EXCERPT_CHARS = 200;

/** Tokens a text counts for; an estimate. */
function estimateTokens(text: string): number {
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

/**
 * The ways of making one message smaller, the mildest first. A message of `SMALL_BYTES` has nothing
 * to lose; what became of a longer one is kept, since it is the same in every request.
 */
const WAYS: readonly Way[] = [
  once((message, calls) => {
    if (message.role !== "tool" || Buffer.byteLength(message.text) <= SMALL_BYTES) return message;
    return shortResult(message, calls.get(message.call));
  }),
  once((message) =>
    message.role === "assistant" && message.calls.length > 0 ? shortArguments(message) : message,
  ),
  once((message) =>
    message.role === "tool" ? message : { ...message, text: shortText(message.text) },
  ),
];

function once(way: Way): Way {
  const made = new WeakMap<Message, Message>();
  return (message, calls) => {
    if (bytesOf(message) <= SMALL_BYTES) return message;
    const known = made.get(message);
    if (known !== undefined) return known;
    const shorter = way(message, calls);
    made.set(message, shorter);
    return shorter;
  };
}

type UserMessage = Extract<Message, { role: "user" }>;

/** Stands for the messages before an answer of the model: the ask it belongs to, and a note. */
function leftOut(count: number, ask: UserMessage): UserMessage {
  const note = `[Left out to save space: ${count} earlier messages of this session. Look at the files for what was done.]`;
  return { role: "user", text: `${note}\n\n${ask.text}` };
}

/** A list of messages that knows how much it is. Each message is looked at a few times in all. */
class Carried {
  readonly #messages: Message[] = [];
  readonly #sizes: number[] = [];
  readonly #calls = new Map<string, ModelCall>();
  /** For each way, before which message all have been tried. */
  readonly #tried = WAYS.map(() => 0);
  /** Messages before this one are left out, and `#first` stands for them, with their last ask. */
  #from = 0;
  #ask: UserMessage | undefined;
  #first: UserMessage | undefined;
  #lastAssistant = 0;
  #lastUser = 0;
  #bytes = 0;

  get messages(): readonly Message[] {
    if (this.#first === undefined) return [...this.#messages];
    return [this.#first, ...this.#messages.slice(this.#from)];
  }

  /** Adds what comes next; before an answer of the model stood a request, which had its room. */
  follow(message: Message, budget: number): void {
    if (message.role === "assistant") this.makeRoom(budget);
    this.#add(message);
  }

  #add(message: Message): void {
    const size = bytesOf(message);
    const index = this.#messages.push(message) - 1;
    this.#sizes.push(size);
    this.#bytes += size;
    if (message.role === "user") this.#lastUser = index;
    if (message.role !== "assistant") return;
    this.#lastAssistant = index;
    for (const call of message.calls) this.#calls.set(call.call, call);
  }

  /** Makes room before a request: what the model has just asked for is the last to go. */
  makeRoom(budget: number): void {
    if (this.#bytes <= budget) return;
    this.#shorten(this.#lastAssistant, budget * KEPT_SHARE);
    if (this.#bytes > budget) this.#leaveOut(budget * KEPT_SHARE);
    const last = this.#messages.length - 1;
    this.#shorten(this.#lastUser === last ? last : last + 1, budget);
  }

  /** Shortens the first `count` messages, oldest first, until all fit into `target` bytes. */
  #shorten(count: number, target: number): void {
    for (const [number, way] of WAYS.entries()) {
      let index = Math.max(this.#tried[number] ?? 0, this.#from);
      for (; index < count && this.#bytes > target; index++) {
        const message = this.#messages[index];
        if (message === undefined) break;
        const shorter = way(message, this.#calls);
        const size = bytesOf(shorter);
        const before = this.#sizes[index] ?? 0;
        if (size >= before) continue;
        this.#messages[index] = shorter;
        this.#sizes[index] = size;
        this.#bytes += size - before;
      }
      this.#tried[number] = index;
    }
  }

  /** Leaves the oldest messages out, up to an answer of the model; not the ask that it belongs to. */
  #leaveOut(target: number): void {
    let bytes = this.#bytes - (this.#first === undefined ? 0 : bytesOf(this.#first));
    let ask = this.#ask;
    for (let index = this.#from; index <= this.#lastAssistant; index++) {
      const message = this.#messages[index];
      if (message?.role === "assistant" && index > this.#from && ask !== undefined) {
        this.#from = index;
        this.#ask = ask;
        this.#first = leftOut(index - 1, ask);
        this.#bytes = bytes + bytesOf(this.#first);
        if (this.#bytes <= target) return;
      }
      if (message?.role === "user") ask = message;
      bytes -= this.#sizes[index] ?? 0;
    }
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
 * What is sent of a session's messages where they are more than `budget` bytes: the oldest tool
 * results are replaced by what they were and how to get them again, then long arguments of old
 * calls, then long old texts. Where that is not enough the oldest messages are left out, up to an
 * answer of the model, and the ask that it belongs to says so. May still be too much; then the
 * provider says so.
 *
 * What is sent follows from the messages and the budget alone: it goes through the requests as they
 * were made, so that two of them in a row differ at their end alone, except where one had to make
 * room. What was made for the last request is gone on with, and a long transcript does not hold the
 * event loop.
 */
export class Shortener {
  #budget = 0;
  #carried = new Carried();
  #seen: Message[] = [];

  async shorten(messages: readonly Message[], budget: number): Promise<readonly Message[]> {
    const goesOn = budget === this.#budget && this.#seen.every((one, n) => one === messages[n]);
    const carried = goesOn ? this.#carried : new Carried();
    const seen = goesOn ? this.#seen : [];
    for (let next = seen.length; next < messages.length; next += SLICE) {
      for (const message of messages.slice(next, next + SLICE)) carried.follow(message, budget);
      if (next + SLICE < messages.length) await setImmediate();
    }
    carried.makeRoom(budget);
    this.#budget = budget;
    this.#carried = carried;
    this.#seen = [...messages];
    return carried.messages;
  }
}
