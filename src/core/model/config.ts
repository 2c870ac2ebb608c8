import * as z from "zod";
import { ChatError } from "./chatClient.js";
import { advised, type ErrorContext, shownUrl } from "./errors.js";

/** `Advice` of the host, for errors. */
const advice = z.object({ setKey: z.string(), pickModel: z.string() }).optional();

/** The version of Anthropic's protocol that is spoken. */
export const ANTHROPIC_VERSION = "2023-06-01";

const common = {
  baseUrl: z.string().min(1),
  model: z.string().min(1),
  key: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Tokens of an answer at most. */
  maxTokens: z.number().int().positive().optional(),
  /** The context window, in tokens. */
  contextTokens: z.number().int().positive().optional(),
  /** Silence in milliseconds after which a stream counts as broken; `MODEL_IDLE_MS` by default. */
  idleMs: z.number().positive().optional(),
  advice,
};

/** What a client is made from. The key is for the origin of `baseUrl` and never leaves for another. */
export const modelConfigSchema = z.discriminatedUnion("provider", [
  z.object({ provider: z.literal("openai"), ...common }),
  z.object({ provider: z.literal("anthropic"), ...common }),
  z.object({
    provider: z.literal("demo"),
    /** Milliseconds between the pieces of the demo's words. */
    pace: z.number().nonnegative().optional(),
    advice,
  }),
]);
export type ModelConfig = z.infer<typeof modelConfigSchema>;
export type ServerConfig = Extract<ModelConfig, { baseUrl: string }>;
export type OpenAiConfig = Extract<ModelConfig, { provider: "openai" }>;
export type AnthropicConfig = Extract<ModelConfig, { provider: "anthropic" }>;
export type DemoConfig = Extract<ModelConfig, { provider: "demo" }>;

/** Where a server is, taken apart once. */
export interface Server {
  /** Without a slash at its end, without query. */
  readonly base: string;
  readonly origin: string;
  /** The query of the base URL (Azure's `api-version`), sent with every request. */
  readonly query: Readonly<Record<string, string>>;
  readonly context: ErrorContext;
}

/** Checks a base URL and what goes with it. Throws `ChatError` that says what is wrong with it. */
export function serverOf(config: ServerConfig): Server {
  let url: URL;
  try {
    url = new URL(config.baseUrl.trim());
  } catch {
    throw new ChatError(
      "request",
      "The base URL is not a URL. It begins with https:// or http://.",
    );
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new ChatError("request", "The base URL must begin with https:// or http://.");
  }
  if (url.username !== "" || url.password !== "") {
    throw new ChatError(
      "request",
      advised(
        "The base URL holds a name or password. Take them out of it, and use a header or set a key",
        config.advice?.setKey,
      ),
    );
  }
  checkHeaders(config.headers ?? {});
  if (config.key !== undefined && !/^[\x21-\x7e]+$/.test(config.key.trim())) {
    throw new ChatError(
      "key",
      advised(
        "The key holds characters that no key has (white space, line breaks). Set it again",
        config.advice?.setKey,
      ),
    );
  }
  const query = Object.fromEntries(url.searchParams);
  const secrets = [
    config.key?.trim() ?? "",
    ...Object.values(config.headers ?? {}),
    ...Object.values(query),
    // Words as short as these are no secrets, and taking them out would garble every message.
  ].filter((secret) => secret.length >= 6);
  const bearer = secrets.map((secret) => secret.replace(/^(bearer|basic)\s+/i, ""));
  return {
    base: `${url.origin}${url.pathname.replace(/\/+$/, "")}`,
    origin: url.origin,
    query,
    context: {
      server: shownUrl(url.href),
      model: config.model,
      secrets: [...new Set([...secrets, ...bearer])].filter((secret) => secret.length >= 6),
      advice: config.advice,
    },
  };
}

/** The URL of `path` (with a slash before it) under a server's base, the base URL's query with it. */
export function endpoint({ base, query }: Pick<Server, "base" | "query">, path: string): URL {
  const url = new URL(`${base}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new ChatError(
        "request",
        `The extra header “${name.slice(0, 60)}” is no valid HTTP header.`,
      );
    }
  }
}
