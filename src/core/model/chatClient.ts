/** A tool as a model is told of it; `parameters` is a JSON schema of type object. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
}

/** One call as the model made it. */
export interface ModelCall {
  /** The provider's id, or one of ours where it gave none; the same in every later request. */
  readonly call: string;
  readonly tool: string;
  /** The arguments; null where they were no JSON object, and then `invalid` has the raw text. */
  readonly args: Record<string, unknown> | null;
  readonly invalid?: string;
}

/** Tokens. `input` counts everything sent, `cached` the part of it that came from a cache. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  /** True where the numbers were counted here and not given by the provider. */
  readonly estimated?: boolean;
}

/** What a provider wants to see again in later requests (thinking blocks, say); opaque to all others. */
export interface ProviderData {
  /** The `ChatClient.provider` that made it; another provider's client leaves it out. */
  readonly provider: string;
  readonly data: unknown;
}

/** The transcript that a client turns into a request. Each call has exactly one `tool` message after it. */
export type Message =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ModelCall[];
      readonly extra?: ProviderData;
    }
  | { readonly role: "tool"; readonly call: string; readonly ok: boolean; readonly text: string };

/** All that a model is told; it knows nothing of the requests before. */
export interface ChatRequest {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
}

/** A piece of an answer as it comes, to be shown and not kept. */
export type ChatDelta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string };

/** One answer, whole. `stop: "length"` means that it was cut by its token limit. */
export interface ChatAnswer {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly usage?: Usage;
  readonly stop: "end" | "length";
  readonly reasoning?: string;
  readonly extra?: ProviderData;
}

/** What went wrong, as far as that says what to do. */
export type ChatErrorKind =
  | "key"
  | "model"
  | "quota"
  | "context"
  | "request"
  | "overloaded"
  | "connection"
  | "consent"
  | "stream";

/**
 * An error meant for the user: `message` says what to do (key, model name, quota, context too
 * long, server not running) and never holds a key.
 */
export class ChatError extends Error {
  constructor(
    readonly kind: ChatErrorKind,
    message: string,
    /** Whether the same request may be tried again by itself. Never after content was delivered. */
    readonly retry: boolean = false,
    /** What the server asked to wait, in milliseconds. */
    readonly retryAfter?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "ChatError";
  }
}

/** How one attempt is cancelled, and who hears of it as it comes. */
export interface SendOptions {
  readonly signal: AbortSignal;
  readonly onDelta: (delta: ChatDelta) => void;
}

/**
 * The port to a model: a transcript becomes a request, a stream becomes deltas and one whole
 * answer. A client knows nothing of what tools mean, of the gate, or of the log.
 */
export interface ChatClient {
  /** `openai`, `anthropic`, `vscode` or `demo`. */
  readonly provider: string;
  /** The model's name as logged and shown. */
  readonly model: string;
  /** The context window, in tokens. */
  readonly contextTokens: number;
  /** One attempt; `retry.ts` makes more of it. Rejects with `ChatError`, or the signal's reason. */
  send(request: ChatRequest, options: SendOptions): Promise<ChatAnswer>;
}
