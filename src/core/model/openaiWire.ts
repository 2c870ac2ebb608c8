import * as z from "zod";
import type { CallPiece } from "./assemble.js";
import type { Usage } from "./chatClient.js";

/** A chunk of a chat completion, as loosely as servers send them: anything may be missing or null. */
const piece = z.looseObject({
  index: z.number().nullish().catch(undefined),
  id: z.string().nullish().catch(undefined),
  function: z
    .looseObject({
      name: z.string().nullish().catch(undefined),
      arguments: z.unknown().optional(),
    })
    .nullish(),
  /** Gemini's signature of its thoughts, which it wants to see again. */
  extra_content: z.unknown().optional(),
});

const part = z.looseObject({ type: z.string().optional(), text: z.string().optional() });

const delta = z.looseObject({
  content: z
    .union([z.string(), z.array(part)])
    .nullish()
    .catch(undefined),
  refusal: z.string().nullish().catch(undefined),
  reasoning_content: z.string().nullish().catch(undefined),
  reasoning: z.string().nullish().catch(undefined),
  reasoning_details: z.array(z.unknown()).nullish().catch(undefined),
  // Not caught: a call that cannot be read must not be lost in silence.
  tool_calls: z.array(piece).nullish(),
  function_call: z
    .looseObject({ name: z.string().nullish(), arguments: z.unknown().optional() })
    .nullish(),
});
export type WireDelta = z.infer<typeof delta>;

const usage = z
  .looseObject({
    prompt_tokens: z.number().nullish(),
    completion_tokens: z.number().nullish(),
    prompt_tokens_details: z.looseObject({ cached_tokens: z.number().nullish() }).nullish(),
    /** DeepSeek's name for it. */
    prompt_cache_hit_tokens: z.number().nullish(),
  })
  .nullish()
  .catch(undefined);

/** One event of a stream, or a whole answer. What no server has to send may be missing or wrong. */
export const chunkSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: delta.nullish(),
        /** In an answer that was not streamed. */
        message: delta.nullish(),
        finish_reason: z.string().nullish().catch(undefined),
      }),
    )
    .nullish(),
  usage,
});
export type WireChunk = z.infer<typeof chunkSchema>;

/** The text of a delta; parts that are thoughts are apart. */
export function contentOf(given: WireDelta): { readonly text: string; readonly reasoning: string } {
  let text = given.refusal ?? "";
  let reasoning = given.reasoning_content ?? given.reasoning ?? "";
  if (typeof given.content === "string") text = given.content + text;
  else {
    for (const { type, text: words, ...rest } of given.content ?? []) {
      if (type === "thinking") reasoning += words ?? thoughts(rest.thinking);
      else text += words ?? "";
    }
  }
  return { text, reasoning };
}

function thoughts(value: unknown): string {
  if (typeof value === "string") return value;
  const parsed = z.array(part).safeParse(value);
  return parsed.success ? parsed.data.map(({ text }) => text ?? "").join("") : "";
}

/** The fragments of calls in a delta. */
export function piecesOf(given: WireDelta): (CallPiece & { readonly extra?: unknown })[] {
  const calls = (given.tool_calls ?? []).map((call) => ({
    index: call.index ?? undefined,
    id: call.id ?? undefined,
    name: call.function?.name ?? undefined,
    args: argsText(call.function?.arguments),
    ...(call.extra_content === undefined ? {} : { extra: call.extra_content }),
  }));
  if (calls.length > 0 || given.function_call === undefined || given.function_call === null) {
    return calls;
  }
  const { name, arguments: args } = given.function_call;
  return [{ index: 0, id: undefined, name: name ?? undefined, args: argsText(args) }];
}

/** Some servers send the arguments as an object already. */
function argsText(args: unknown): string | undefined {
  if (args === undefined || args === null) return undefined;
  return typeof args === "string" ? args : JSON.stringify(args);
}

/** The tokens that a server counted, or undefined where it left one of the two counts out. */
export function usageOf(given: WireChunk["usage"]): Usage | undefined {
  const input = given?.prompt_tokens;
  const output = given?.completion_tokens;
  if (typeof input !== "number" || typeof output !== "number") return undefined;
  const cached = given?.prompt_tokens_details?.cached_tokens ?? given?.prompt_cache_hit_tokens ?? 0;
  return cached > 0 ? { input, output, cached } : { input, output };
}
