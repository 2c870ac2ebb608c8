import { ChatError } from "./chatClient.js";
import { type Advice, advised, type ErrorContext, shownUrl } from "./errors.js";

/** The version of Anthropic's protocol that is spoken. */
export const ANTHROPIC_VERSION = "2023-06-01";

interface Common {
  readonly baseUrl: string;
  readonly model: string;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Tokens of an answer at most. */
  readonly maxTokens?: number | undefined;
  /** The context window, in tokens. */
  readonly contextTokens?: number | undefined;
  /** Silence in milliseconds after which a stream counts as broken; `MODEL_IDLE_MS` by default. */
  readonly idleMs?: number | undefined;
  readonly advice?: Advice | undefined;
}

export interface OpenAiConfig extends Common {
  readonly provider: "openai";
}
export interface AnthropicConfig extends Common {
  readonly provider: "anthropic";
}
export interface DemoConfig {
  readonly provider: "demo";
  /** Milliseconds between the pieces of the demo's words. */
  readonly pace?: number | undefined;
  readonly advice?: Advice | undefined;
}
export type ServerConfig = OpenAiConfig | AnthropicConfig;
/** What a client is made from. The key is for the origin of `baseUrl` and never leaves for another. */
export type ModelConfig = ServerConfig | DemoConfig;

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
