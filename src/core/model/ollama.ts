import * as z from "zod";
import { OLLAMA_BYTES } from "../limits.js";

/** Where Ollama answers unless it was told otherwise. */
export const OLLAMA_URL = "http://127.0.0.1:11434";
/** What Ollama gives a model where nobody has said anything, in tokens. */
const OLLAMA_CONTEXT_TOKENS = 4_096;
/** Below this many tokens an agent forgets what it is doing: Ollama cuts the oldest without a word. */
const SMALL_CONTEXT_TOKENS = 16_384;
/** Models whose details are asked for. */
const DETAILED_MODELS = 24;

export interface OllamaModel {
  readonly name: string;
  /** The window that Ollama gives it now, in tokens. */
  readonly contextTokens: number;
  /** The largest that the model itself has, where Ollama says. */
  readonly largestTokens?: number;
  /** Whether it can call tools; undefined where Ollama does not say. */
  readonly tools?: boolean;
}

export interface Ollama {
  /** For an OpenAI-compatible client. */
  readonly baseUrl: string;
  readonly models: readonly OllamaModel[];
}

const tagsSchema = z.looseObject({ models: z.array(z.looseObject({ name: z.string() })) });
const showSchema = z.looseObject({
  model_info: z.record(z.string(), z.unknown()).nullish().catch(undefined),
  parameters: z.string().nullish().catch(undefined),
  capabilities: z.array(z.string()).nullish().catch(undefined),
});
const psSchema = z.looseObject({
  models: z.array(
    z.looseObject({ name: z.string(), context_length: z.number().nullish().catch(undefined) }),
  ),
});

/**
 * Ollama and its models, or undefined where none answers at `url` within `timeoutMs`. Never
 * rejects but with the signal's reason.
 */
export async function findOllama(
  options: {
    readonly url?: string;
    readonly timeoutMs?: number;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Ollama | undefined> {
  const url = (options.url ?? OLLAMA_URL).replace(/\/+$/, "").replace(/\/v1$/, "");
  const timeout = AbortSignal.timeout(options.timeoutMs ?? 1_500);
  const signal =
    options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  const ask = async <T>(
    path: string,
    schema: z.ZodType<T>,
    body?: object,
  ): Promise<T | undefined> => {
    try {
      const response = await fetch(`${url}${path}`, {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        redirect: "error",
        signal,
      });
      if (!response.ok) return undefined;
      const parsed = schema.safeParse(await jsonOf(response));
      return parsed.success ? parsed.data : undefined;
    } catch {
      return undefined;
    }
  };
  const tags = await ask("/api/tags", tagsSchema);
  options.signal?.throwIfAborted();
  if (tags === undefined) return undefined;
  const loaded = await ask("/api/ps", psSchema);
  const names = tags.models.map(({ name }) => name);
  const models = await Promise.all(
    names.map(async (name, at): Promise<OllamaModel> => {
      const show =
        at < DETAILED_MODELS ? await ask("/api/show", showSchema, { model: name }) : undefined;
      const largest = largestOf(show?.model_info ?? {});
      const now = loaded?.models.find((model) => model.name === name)?.context_length ?? undefined;
      const set = /^num_ctx\s+(\d+)\s*$/m.exec(show?.parameters ?? "")?.[1];
      const given = now ?? (set === undefined ? OLLAMA_CONTEXT_TOKENS : Number(set));
      return {
        name,
        contextTokens: largest === undefined ? given : Math.min(given, largest),
        ...(largest === undefined ? {} : { largestTokens: largest }),
        ...(show?.capabilities ? { tools: show.capabilities.includes("tools") } : {}),
      };
    }),
  );
  options.signal?.throwIfAborted();
  return { baseUrl: `${url}/v1`, models };
}

/** Whatever listens at that address is asked without anyone's doing: it may not fill the memory. */
async function jsonOf(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of response.body ?? []) {
    size += bytes.length;
    if (size > OLLAMA_BYTES) throw new Error("too long");
    parts.push(bytes);
  }
  return JSON.parse(Buffer.concat(parts).toString("utf8"));
}

function largestOf(info: Record<string, unknown>): number | undefined {
  for (const [name, value] of Object.entries(info)) {
    if (name.endsWith(".context_length") && typeof value === "number") return value;
  }
  return undefined;
}

/** What to tell the user of a window that is too small, or undefined where it is not. */
export function smallContext(model: OllamaModel): string | undefined {
  if (model.contextTokens >= SMALL_CONTEXT_TOKENS) return undefined;
  const given = model.contextTokens.toLocaleString("en");
  if (model.largestTokens !== undefined && model.largestTokens <= model.contextTokens) {
    return `“${model.name}” has a context of ${given} tokens, too small for longer work. Pick a model with a larger one.`;
  }
  return `Ollama gives “${model.name}” a context of ${given} tokens, and forgets what is over it without a word. Start Ollama with OLLAMA_CONTEXT_LENGTH=32768 or more.`;
}

/** The model to start with: one that can call tools, with the largest window. */
export function bestModel(models: readonly OllamaModel[]): OllamaModel | undefined {
  const able = models.filter(({ tools }) => tools === true);
  const maybe = able.length > 0 ? able : models.filter(({ tools }) => tools !== false);
  return maybe.reduce<OllamaModel | undefined>(
    (best, model) =>
      best === undefined || model.contextTokens > best.contextTokens ? model : best,
    undefined,
  );
}
