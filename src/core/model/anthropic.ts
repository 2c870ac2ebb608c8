import { MODEL_IDLE_MS } from "../limits.js";
import { AnthropicReading } from "./anthropicReading.js";
import { anthropicBody } from "./anthropicRequest.js";
import {
  type ChatAnswer,
  type ChatClient,
  ChatError,
  type ChatRequest,
  type SendOptions,
} from "./chatClient.js";
import {
  ANTHROPIC_VERSION,
  type AnthropicConfig,
  endpoint,
  type Server,
  serverOf,
} from "./config.js";
import { Exchange } from "./exchange.js";
import type { Transport } from "./transport.js";

/** Anthropic's window where nothing else is known, in tokens. */
const ANTHROPIC_CONTEXT_TOKENS = 200_000;

/** Anthropic's messages API, with prompt caching; thoughts go back as they came. */
export class AnthropicClient implements ChatClient {
  readonly provider = "anthropic";
  readonly model: string;
  readonly contextTokens: number;
  private readonly server: Server;
  /** False once a server has refused the mark that caches a whole request. */
  private autoCache = true;

  constructor(
    private readonly config: AnthropicConfig,
    private readonly transport?: Transport,
  ) {
    const server = serverOf(config);
    // The API's version is part of its paths, and people paste it with the base URL.
    this.server = { ...server, base: server.base.replace(/\/v1$/, "") };
    this.model = config.model;
    this.contextTokens = config.contextTokens ?? ANTHROPIC_CONTEXT_TOKENS;
  }

  async send(request: ChatRequest, options: SendOptions): Promise<ChatAnswer> {
    const seen = { delivered: false };
    try {
      return await this.attempt(request, options, seen);
    } catch (error) {
      const refused = error instanceof ChatError && error.kind === "request";
      // Never after content was delivered, in which a server can say what it likes.
      if (!refused || seen.delivered || !this.autoCache || !/cache_control/.test(error.message))
        throw error;
      this.autoCache = false;
      return this.attempt(request, options, seen);
    }
  }

  /** `seen` is told whether anything of an answer was delivered. */
  private async attempt(
    request: ChatRequest,
    options: SendOptions,
    seen: { delivered: boolean },
  ): Promise<ChatAnswer> {
    const { context, origin } = this.server;
    const key = this.config.key?.trim() ?? "";
    const exchange = new Exchange({
      context,
      origin,
      headers: { ...(key === "" ? {} : { "x-api-key": key }), ...this.config.headers },
      signal: options.signal,
      idleMs: this.config.idleMs ?? MODEL_IDLE_MS,
      transport: this.transport,
    });
    const reading = new AnthropicReading(request, options, this.server, this.model);
    try {
      return await exchange.answer(reading, () =>
        exchange.post(
          endpoint(this.server, "/v1/messages"),
          anthropicBody(request, this.config, this.autoCache),
          { "anthropic-version": ANTHROPIC_VERSION },
        ),
      );
    } finally {
      seen.delivered = reading.delivered;
    }
  }
}
