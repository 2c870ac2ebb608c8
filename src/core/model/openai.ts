import { CONTEXT_TOKENS, MODEL_IDLE_MS } from "../limits.js";
import {
  type ChatAnswer,
  type ChatClient,
  ChatError,
  type ChatRequest,
  type SendOptions,
} from "./chatClient.js";
import { endpoint, type OpenAiConfig, type Server, serverOf } from "./config.js";
import { Exchange } from "./exchange.js";
import { OpenAiReading } from "./openaiReading.js";
import { openaiBody, type WireQuirks } from "./openaiRequest.js";
import type { Transport } from "./transport.js";

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

  constructor(
    private readonly config: OpenAiConfig,
    private readonly transport?: Transport,
  ) {
    this.server = serverOf(config);
    this.model = config.model;
    this.contextTokens = config.contextTokens ?? CONTEXT_TOKENS;
    const { hostname } = new URL(this.server.origin);
    const own = hostname === "api.openai.com" || hostname.endsWith(".azure.com");
    this.quirks = { maxTokens: own ? "max_completion_tokens" : "max_tokens", usage: true };
  }

  async send(request: ChatRequest, options: SendOptions): Promise<ChatAnswer> {
    const refused = new Set<keyof WireQuirks>();
    const seen = { delivered: false };
    for (;;) {
      try {
        return await this.attempt(request, options, seen);
      } catch (error) {
        const field = this.refusedField(error);
        // Once for each field: a server that refuses both ways has something else to say. And never
        // after content was delivered, in which a server can say what it likes.
        if (field === undefined || refused.has(field) || seen.delivered) throw error;
        refused.add(field);
        this.quirks = this.otherQuirks(field);
      }
    }
  }

  /** `seen` is told whether anything of an answer was delivered. */
  private async attempt(
    request: ChatRequest,
    options: SendOptions,
    seen: { delivered: boolean },
  ): Promise<ChatAnswer> {
    const { context, origin } = this.server;
    const exchange = new Exchange({
      context,
      origin,
      headers: this.headers(),
      signal: options.signal,
      idleMs: this.config.idleMs ?? MODEL_IDLE_MS,
      transport: this.transport,
    });
    const reading = new OpenAiReading(request, options, this.server, this.model);
    try {
      return await exchange.answer(reading, () =>
        exchange.post(
          endpoint(this.server, "/chat/completions"),
          openaiBody(request, this.config, this.quirks, origin),
        ),
      );
    } finally {
      seen.delivered = reading.delivered;
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
