import type OpenAI from "openai";
import { CONTEXT_TOKENS, MODEL_IDLE_MS } from "../limits.js";
import { CallAssembler } from "./assemble.js";
import {
  type ChatAnswer,
  type ChatClient,
  ChatError,
  type ChatRequest,
  type SendOptions,
  type Usage,
} from "./chatClient.js";
import { type OpenAiConfig, type Server, serverOf } from "./config.js";
import { chatError, faultIn, faultOf, isRecord } from "./errors.js";
import { brokenStream, Exchange } from "./exchange.js";
import { type OpenAiMemory, openaiBody, type WireQuirks } from "./openaiRequest.js";
import { chunkSchema, contentOf, piecesOf, usageOf } from "./openaiWire.js";
import { estimateUsage, usedIds } from "./request.js";

/**
 * Chat completions, for OpenAI and every server that speaks as it does: Azure, OpenRouter,
 * Ollama, LM Studio, vLLM, llama.cpp.
 */
export class OpenAiClient implements ChatClient {
  readonly provider = "openai";
  readonly model: string;
  readonly contextTokens: number;
  private readonly server: Server;
  private quirks: WireQuirks;

  constructor(private readonly config: OpenAiConfig) {
    this.server = serverOf(config);
    this.model = config.model;
    this.contextTokens = config.contextTokens ?? CONTEXT_TOKENS;
    const { hostname } = new URL(this.server.origin);
    const own = hostname === "api.openai.com" || hostname.endsWith(".azure.com");
    this.quirks = { maxTokens: own ? "max_completion_tokens" : "max_tokens", usage: true };
  }

  async send(request: ChatRequest, options: SendOptions): Promise<ChatAnswer> {
    const refused = new Set<keyof WireQuirks>();
    for (;;) {
      try {
        return await this.attempt(request, options);
      } catch (error) {
        const field = this.refusedField(error);
        // Once for each field: a server that refuses both ways has something else to say.
        if (field === undefined || refused.has(field)) throw error;
        refused.add(field);
        this.quirks = this.otherQuirks(field);
      }
    }
  }

  private async attempt(request: ChatRequest, options: SendOptions): Promise<ChatAnswer> {
    const { context, origin, base, query } = this.server;
    const exchange = new Exchange({
      context,
      origin,
      headers: this.headers(),
      signal: options.signal,
      idleMs: this.config.idleMs ?? MODEL_IDLE_MS,
    });
    const reading = new Reading(request, options, this.server, this.model);
    try {
      const { OpenAI: Sdk } = await import("openai");
      const sdk = new Sdk({
        ...SDK_ALONE,
        baseURL: base,
        defaultQuery: query,
        fetch: exchange.fetch,
      });
      const body = openaiBody(request, this.config, this.quirks, origin);
      const response = await sdk.chat.completions.create(body).asResponse();
      for await (const event of exchange.events(response, () => reading.delivered)) {
        reading.take(event.data, event.event);
      }
      return reading.answer();
    } catch (error) {
      throw exchange.failure(error, reading.delivered);
    } finally {
      exchange.dispose();
    }
  }

  private headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    const key = this.config.key?.trim() ?? "";
    if (key !== "") {
      headers.authorization = `Bearer ${key}`;
      if (new URL(this.server.origin).hostname.endsWith(".azure.com")) headers["api-key"] = key;
    }
    return { ...headers, ...this.config.headers };
  }

  /** The field that an error is about, where the request can do without it or name it otherwise. */
  private refusedField(error: unknown): keyof WireQuirks | undefined {
    if (!(error instanceof ChatError) || error.kind !== "request") return undefined;
    if (this.quirks.usage && /stream_options|include_usage/.test(error.message)) return "usage";
    const limited = this.config.maxTokens !== undefined;
    return limited && /max_(completion_)?tokens/.test(error.message) ? "maxTokens" : undefined;
  }

  private otherQuirks(field: keyof WireQuirks): WireQuirks {
    const { quirks } = this;
    if (field === "usage") return { ...quirks, usage: false };
    const named = quirks.maxTokens === "max_tokens";
    return { ...quirks, maxTokens: named ? "max_completion_tokens" : "max_tokens" };
  }
}

/** The SDK takes nothing from the environment, tries nothing again and logs nothing. */
const SDK_ALONE = {
  apiKey: "set-by-the-exchange",
  adminAPIKey: null,
  organization: null,
  project: null,
  webhookSecret: null,
  maxRetries: 0,
  logLevel: "off",
  // The exchange has its own limit on silence; this one would only end a long wait in a queue.
  timeout: 2 ** 31 - 1,
  dangerouslyAllowBrowser: true,
} as const satisfies ConstructorParameters<typeof OpenAI>[0];

/** One answer as it grows. */
class Reading {
  delivered = false;
  private readonly calls = new CallAssembler();
  private readonly text: string[] = [];
  private readonly reasoning: string[] = [];
  private readonly details: unknown[] = [];
  private readonly signatures: { at: number; extra: unknown }[] = [];
  private replayReasoning = false;
  private usage: Usage | undefined;
  private finish: string | undefined;
  private done = false;

  constructor(
    private readonly request: ChatRequest,
    private readonly options: SendOptions,
    private readonly server: Server,
    private readonly model: string,
  ) {}

  take(data: string, event: string | undefined): void {
    if (this.done) return;
    if (data.trim() === "[DONE]") {
      this.done = true;
      return;
    }
    const { context } = this.server;
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      if (event === "error") throw chatError(faultOf(data), context, this.delivered);
      throw brokenStream(context);
    }
    const fault = faultIn(value);
    if (fault !== undefined && (event === "error" || !hasChoices(value))) {
      throw chatError(fault, context, this.delivered);
    }
    const parsed = chunkSchema.safeParse(value);
    if (!parsed.success) throw brokenStream(context);
    this.usage = usageOf(parsed.data.usage) ?? this.usage;
    const choice = parsed.data.choices?.[0];
    if (choice === undefined) return;
    const delta = choice.delta ?? choice.message;
    if (event === "whole") this.done = true;
    if (delta !== undefined && delta !== null) this.grow(delta);
    if (choice.finish_reason) this.finish = choice.finish_reason;
  }

  private grow(delta: Parameters<typeof contentOf>[0]): void {
    const { text, reasoning } = contentOf(delta);
    if (delta.reasoning_content) this.replayReasoning = true;
    if (reasoning !== "") {
      this.delivered = true;
      this.reasoning.push(reasoning);
      this.options.onDelta({ type: "reasoning", text: reasoning });
    }
    if (delta.reasoning_details) gather(this.details, delta.reasoning_details);
    if (text !== "") {
      this.delivered = true;
      this.text.push(text);
      this.options.onDelta({ type: "text", text });
    }
    for (const { extra, ...piece } of piecesOf(delta)) {
      const at = this.calls.add(piece);
      if (extra !== undefined) this.signatures.push({ at, extra });
      // A call that has begun is content: to ask again would make another answer.
      if (this.calls.begun) this.delivered = true;
    }
  }

  answer(): ChatAnswer {
    const { context, origin } = this.server;
    if (!this.done && this.finish === undefined) throw brokenStream(context);
    if (this.finish === "content_filter") {
      throw new ChatError(
        "request",
        `${context.server} stopped the answer: its content filter did not let it through. Ask in other words, or pick another model.`,
      );
    }
    if (this.finish === "error") throw brokenStream(context);
    const stop = this.finish === "length" ? "length" : "end";
    const { calls, ids } = this.calls.finish(usedIds(this.request.messages), stop === "length");
    const text = this.text.join("");
    const reasoning = this.reasoning.join("");
    const memory: OpenAiMemory = {
      origin,
      model: this.model,
      ...(this.replayReasoning && calls.length > 0 ? { reasoning } : {}),
      ...(this.details.length > 0 ? { details: this.details } : {}),
      ...(this.signatures.length > 0
        ? {
            signatures: Object.fromEntries(
              this.signatures.map(({ at, extra }) => [ids[at] ?? "", extra]),
            ),
          }
        : {}),
    };
    const remembers = Object.keys(memory).length > 2;
    return {
      text,
      calls,
      usage: this.usage ?? estimateUsage(this.request, text, reasoning, calls),
      stop,
      ...(reasoning === "" ? {} : { reasoning }),
      ...(remembers ? { extra: { provider: "openai", data: memory } } : {}),
    };
  }
}

/** OpenRouter streams its reasoning blocks in pieces, which it wants back as blocks. */
function gather(blocks: unknown[], pieces: readonly unknown[]): void {
  for (const piece of pieces) {
    const last = blocks.at(-1);
    if (
      isRecord(piece) &&
      isRecord(last) &&
      piece.type === last.type &&
      piece.index === last.index &&
      typeof piece.text === "string" &&
      typeof last.text === "string"
    ) {
      blocks[blocks.length - 1] = { ...last, ...piece, text: last.text + piece.text };
    } else blocks.push(piece);
  }
}

function hasChoices(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "choices" in value &&
    Array.isArray(value.choices) &&
    value.choices.length > 0
  );
}
