import { ANSWER_BYTES } from "../limits.js";
import { type ChatAnswer, ChatError } from "./chatClient.js";
import {
  chatError,
  connectionError,
  type ErrorContext,
  faultIn,
  faultOf,
  isRecord,
  scrub,
} from "./errors.js";
import { EventReader, EventTooLong, type StreamEvent } from "./sse.js";
import { byFetch, type Reply, type Transport } from "./transport.js";

export interface ExchangeOptions {
  readonly context: ErrorContext;
  /** Requests go to this origin alone: a key belongs to the server it was given for. */
  readonly origin: string;
  /** All that is sent beside what the protocol itself needs: authorisation, the user's headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Silence in milliseconds after which the exchange counts as broken. */
  readonly idleMs: number;
  /** `byFetch` by default. */
  readonly transport?: Transport | undefined;
}

/** One answer as it grows from the events of a stream. */
interface Reading {
  /** Whether something of it has been shown. */
  readonly delivered: boolean;
  take(data: string, name: string | undefined): void;
  answer(): ChatAnswer;
}

/** Bytes of an error body that are read. */
const ERROR_BYTES = 64 * 1024;
/** Bytes of a whole answer that was not streamed. */
const WHOLE_BYTES = 32 * 1024 * 1024;

/**
 * One request and its answer over HTTP. What leaves and where to is decided here, and nothing of
 * it comes from the environment; the stream of the answer is read here, with a limit on silence.
 */
export class Exchange {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private idle = false;
  private fault: ChatError | undefined;
  private readonly onAbort = (): void => this.controller.abort();

  constructor(private readonly options: ExchangeOptions) {
    options.signal.throwIfAborted();
    options.signal.addEventListener("abort", this.onAbort, { once: true });
    this.touch();
  }

  /** Posts `body` as JSON; see `fetch`. `protocol`: what the server's protocol asks for in headers. */
  post(url: URL, body: unknown, protocol: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.fetch(url, {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json", ...protocol },
      body: JSON.stringify(body),
    });
  }

  /** One request. Throws `ChatError` for every answer that is not a success. */
  async fetch(
    url: URL,
    init: {
      readonly method?: string;
      readonly body?: string;
      readonly headers?: Record<string, string>;
    } = {},
  ): Promise<Reply> {
    if (url.origin !== this.options.origin) {
      throw this.fail(
        new ChatError(
          "request",
          `a request to ${url.origin} was stopped: it is not the server that was set`,
        ),
      );
    }
    const headers = new Headers(init.headers);
    headers.set("user-agent", "Countersign");
    for (const [name, value] of Object.entries(this.options.headers)) headers.set(name, value);
    const { transport = byFetch } = this.options;
    const response = await transport(url, {
      method: init.method ?? "GET",
      headers,
      body: init.body ?? null,
      signal: this.controller.signal,
    });
    this.touch();
    if (response.status >= 200 && response.status < 300) return response;
    if (response.status >= 300 && response.status < 400) {
      const to = response.headers.get("location") ?? "another address";
      throw this.fail(
        new ChatError(
          "connection",
          `${this.options.context.server} redirects to ${scrub(redirectTarget(to, url), this.options.context.secrets)}. Set that as the base URL if you trust it.`,
        ),
      );
    }
    const body = await this.text(response, ERROR_BYTES);
    throw this.fail(
      chatError(faultOf(body, response.status, response.headers), this.options.context),
    );
  }

  /**
   * The events of a streamed answer. An answer that was sent whole (JSON) comes as one event
   * named `whole`. Throws `ChatError` for a page, an error in place of a stream, or a broken
   * connection; `delivered` says whether something has been shown by then.
   */
  async *events(response: Reply, delivered: () => boolean): AsyncGenerator<StreamEvent> {
    const { context } = this.options;
    const type = response.headers.get("content-type") ?? "";
    if (type.includes("text/html")) throw chatError({ page: true, message: "" }, context);
    if (type.includes("application/json")) {
      const body = await this.text(response, WHOLE_BYTES);
      yield* wholeAnswer(body, context);
      return;
    }
    const reader = new EventReader();
    let any = false;
    let size = 0;
    for await (const bytes of response.body) {
      size += bytes.length;
      if (size > ANSWER_BYTES) throw tooLong(context);
      const { events, lines } = reader.push(bytes);
      // A byte now and then is no life: only a finished line is, a keep-alive comment included.
      if (lines) this.touch();
      for (const event of events) {
        any = true;
        yield event;
      }
    }
    for (const event of reader.end()) {
      any = true;
      yield event;
    }
    if (!any && reader.stray !== "") yield* wholeAnswer(reader.stray, context);
    else if (!any) {
      throw new ChatError(
        "stream",
        `${context.server} ended its answer before it began.`,
        !delivered(),
      );
    }
  }

  /**
   * Sends with `send` and feeds every event to `reading`; its answer is the result. Rejects as
   * `failure` says, and ends the request in any case.
   */
  async answer(reading: Reading, send: () => Promise<Reply>): Promise<ChatAnswer> {
    try {
      const response = await send();
      for await (const event of this.events(response, () => reading.delivered)) {
        reading.take(event.data, event.event);
      }
      return reading.answer();
    } catch (error) {
      throw this.failure(error, reading.delivered);
    } finally {
      this.dispose();
    }
  }

  /** What went wrong, as the caller is to reject with: the signal's reason, or a `ChatError`. */
  failure(error: unknown, delivered: boolean): unknown {
    const { signal, context, idleMs } = this.options;
    if (signal.aborted) return signal.reason;
    if (this.idle) {
      return new ChatError(
        "connection",
        `${context.server} has sent nothing for ${Math.round(idleMs / 1000)} seconds. Check whether the server still works on it, then go on to ask again.`,
        !delivered,
      );
    }
    if (this.fault !== undefined) return this.fault;
    if (error instanceof ChatError) return error;
    if (error instanceof EventTooLong) return tooLong(context);
    const broken = connectionError(error, context);
    return delivered ? brokenStream(context) : broken;
  }

  /** Ends the request if it still runs. */
  dispose(): void {
    clearTimeout(this.timer);
    this.options.signal.removeEventListener("abort", this.onAbort);
    this.controller.abort();
  }

  private fail(error: ChatError): ChatError {
    this.fault = error;
    return error;
  }

  private touch(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.idle = true;
      this.controller.abort();
    }, this.options.idleMs);
  }

  /** The first `limit` bytes of a body, as text. */
  async text(response: Reply, limit: number): Promise<string> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const bytes of response.body) {
      parts.push(bytes);
      size += bytes.length;
      if (size > limit) break;
    }
    return Buffer.concat(parts).toString("utf8");
  }
}

/** The JSON of one event; throws `ChatError` where it is an error's plain text, or none. */
export function eventJson(
  data: string,
  name: string | undefined,
  context: ErrorContext,
  delivered: boolean,
): unknown {
  try {
    return JSON.parse(data);
  } catch {
    if (name === "error") throw chatError(faultOf(data), context, delivered);
    throw brokenStream(context);
  }
}

/** A stream that ended in the middle: what came is shown, and nothing of it is carried out. */
export function brokenStream(context: ErrorContext): ChatError {
  return new ChatError(
    "stream",
    `The answer of ${context.server} broke off before it was whole. Nothing of it was carried out; go on to ask again.`,
  );
}

/** A server that never ends; to ask again would bring the same. */
function tooLong(context: ErrorContext): ChatError {
  return new ChatError(
    "stream",
    `${context.server} sent more than an answer can have. Nothing of it was carried out; check the base URL, or pick another model.`,
  );
}

function* wholeAnswer(body: string, context: ErrorContext): Generator<StreamEvent> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw chatError(faultOf(body), context);
  }
  const fault = faultIn(value);
  if (fault !== undefined) throw chatError(fault, context);
  if (!isRecord(value)) throw chatError({ message: body.slice(0, 200) }, context);
  yield { event: "whole", data: body };
}

function redirectTarget(location: string, from: URL): string {
  try {
    const to = new URL(location, from);
    return `${to.origin}${to.pathname}`;
  } catch {
    return "another address";
  }
}
