import * as z from "zod";
import { ChatError } from "./chatClient.js";
import { ANTHROPIC_VERSION, endpoint, type ServerConfig, serverOf } from "./config.js";
import { brokenStream, Exchange } from "./exchange.js";

/** A model that a server says it has; tokens where it says how many. */
export interface ListedModel {
  readonly id: string;
  readonly contextTokens?: number;
  readonly maxTokens?: number;
}

const count = z.number().int().positive().nullish().catch(undefined);
const listSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      /** OpenRouter, vLLM, LM Studio and Anthropic each have a name of their own for it. */
      context_length: count,
      max_model_len: count,
      max_context_length: count,
      max_input_tokens: count,
      /** Anthropic. */
      max_tokens: count,
    }),
  ),
});

/** How long a server may take to list its models, in milliseconds. */
const LIST_TIMEOUT_MS = 15_000;
/** Bytes of a list of models; OpenRouter's is about 2 MB. */
const LIST_BYTES = 16 * 1024 * 1024;

/**
 * The models of a server, by name. Rejects with `ChatError` that says what is wrong (key, base
 * URL, server not running), or the signal's reason.
 */
export async function listModels(
  config: Omit<ServerConfig, "model">,
  signal: AbortSignal,
): Promise<ListedModel[]> {
  const server = serverOf({ ...config, model: "any" } as ServerConfig);
  const key = config.key?.trim() ?? "";
  const anthropic = config.provider === "anthropic";
  const auth: Record<string, string> = anthropic
    ? { "x-api-key": key }
    : { authorization: `Bearer ${key}` };
  const exchange = new Exchange({
    context: server.context,
    origin: server.origin,
    headers: {
      accept: "application/json",
      ...(anthropic ? { "anthropic-version": ANTHROPIC_VERSION } : {}),
      ...(key === "" ? {} : auth),
      ...config.headers,
    },
    signal,
    idleMs: LIST_TIMEOUT_MS,
  });
  try {
    const base = anthropic ? `${server.base.replace(/\/v1$/, "")}/v1` : server.base;
    const url = endpoint({ ...server, base }, "/models");
    if (anthropic) url.searchParams.set("limit", "1000");
    const response = await exchange.fetch(url);
    const list = parse(await exchange.text(response, LIST_BYTES));
    if (list === undefined) throw brokenStream(server.context);
    const models = list.data.map((model): ListedModel => {
      const contextTokens =
        model.context_length ??
        model.max_model_len ??
        model.max_context_length ??
        model.max_input_tokens;
      return {
        id: model.id,
        ...(contextTokens ? { contextTokens } : {}),
        ...(model.max_tokens ? { maxTokens: model.max_tokens } : {}),
      };
    });
    return models.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  } catch (error) {
    const failure = exchange.failure(error, false);
    if (failure instanceof ChatError && failure.kind === "stream") {
      throw new ChatError(
        "connection",
        `${server.context.server} gave no list of models. Check the base URL, or type the model's name.`,
      );
    }
    throw failure;
  } finally {
    exchange.dispose();
  }
}

function parse(body: string): z.infer<typeof listSchema> | undefined {
  try {
    const parsed = listSchema.safeParse(JSON.parse(body));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
