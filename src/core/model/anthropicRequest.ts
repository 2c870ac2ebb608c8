import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
} from "@anthropic-ai/sdk/resources/messages";
import * as z from "zod";
import { MAX_OUTPUT_TOKENS } from "../limits.js";
import type { ChatRequest, Message, ModelCall } from "./chatClient.js";
import type { AnthropicConfig } from "./config.js";
import { argsOf, callId, EMPTY_ANSWER, type Step, stepsOf, textOf, toolName } from "./request.js";

/**
 * The blocks of an answer that had thoughts, in their order. Text and calls are in the transcript
 * already and only referred to: text by its length, a call by its id.
 */
const memorySchema = z.object({
  model: z.string(),
  blocks: z.array(
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
      z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
      z.object({ type: z.literal("text"), length: z.number().int().nonnegative() }),
      z.object({ type: z.literal("call"), call: z.string() }),
    ]),
  ),
});
export type AnthropicMemory = z.infer<typeof memorySchema>;

/**
 * The body of a request. Tools and system prompt end in a cache mark of their own; the one for
 * the messages is asked for once, for the whole request, so that no mark moves between requests
 * and what was sent once is sent again byte for byte.
 */
export function anthropicBody(
  request: ChatRequest,
  config: Pick<AnthropicConfig, "model" | "maxTokens">,
  autoCache: boolean,
): MessageCreateParamsStreaming {
  return {
    model: config.model,
    max_tokens: config.maxTokens ?? answerTokens(config.model),
    stream: true,
    ...(autoCache ? { cache_control: { type: "ephemeral" } } : {}),
    ...(request.system.trim() === ""
      ? {}
      : {
          system: [{ type: "text", text: request.system, cache_control: { type: "ephemeral" } }],
        }),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map(({ name, description, parameters }) => ({
            name,
            description,
            input_schema: { ...parameters, type: "object" as const },
          })),
        }),
    messages: stepsOf(request.messages).flatMap((step) => wireMessages(step, config.model)),
  };
}

/** Tokens a model may answer with, where the user does not say: its own limit or below. */
function answerTokens(model: string): number {
  if (/^claude-3-(opus|sonnet|haiku)/.test(model)) return 4_096;
  if (/^claude-3-5/.test(model)) return 8_192;
  if (/^claude-/.test(model)) return 32_000;
  return MAX_OUTPUT_TOKENS;
}

function wireMessages(step: Step, model: string): MessageParam[] {
  if (step.kind === "user") {
    return [{ role: "user", content: [{ type: "text", text: step.text }] }];
  }
  const { message, results } = step;
  const answer: MessageParam = { role: "assistant", content: blocksOf(message, model) };
  if (results.length === 0) return [answer];
  return [
    answer,
    {
      role: "user",
      content: results.map((result) => ({
        type: "tool_result" as const,
        tool_use_id: callId(result.call),
        content: result.text,
        ...(result.ok ? {} : { is_error: true }),
      })),
    },
  ];
}

function blocksOf(
  message: Extract<Message, { role: "assistant" }>,
  model: string,
): ContentBlockParam[] {
  const remembered = rememberedBlocks(message, model);
  if (remembered !== undefined) return remembered;
  const text = textOf(message);
  const blocks: ContentBlockParam[] = text === undefined ? [] : [{ type: "text", text }];
  blocks.push(...message.calls.map(toolUse));
  return blocks.length === 0 ? [{ type: "text", text: EMPTY_ANSWER }] : blocks;
}

function toolUse(call: ModelCall): ContentBlockParam {
  return {
    type: "tool_use",
    id: callId(call.call),
    name: toolName(call.tool),
    input: argsOf(call),
  };
}

/** The answer as it was, thoughts and all; undefined where another model gave it or parts are gone. */
function rememberedBlocks(
  message: Extract<Message, { role: "assistant" }>,
  model: string,
): ContentBlockParam[] | undefined {
  if (message.extra?.provider !== "anthropic") return undefined;
  const memory = memorySchema.safeParse(message.extra.data);
  if (!memory.success || memory.data.model !== model) return undefined;
  const calls = new Map(message.calls.map((call) => [call.call, call]));
  const blocks: ContentBlockParam[] = [];
  let at = 0;
  for (const block of memory.data.blocks) {
    if (block.type === "text") {
      const text = message.text.slice(at, at + block.length);
      at += block.length;
      if (text.trim() !== "") blocks.push({ type: "text", text });
    } else if (block.type === "call") {
      const call = calls.get(block.call);
      if (call === undefined) return undefined;
      calls.delete(block.call);
      blocks.push(toolUse(call));
    } else blocks.push(block);
  }
  const whole = at === message.text.length && calls.size === 0;
  const spoken = blocks.some(({ type }) => type === "text" || type === "tool_use");
  if (!whole) return undefined;
  // An answer of thoughts alone is no answer that the API takes.
  return spoken ? blocks : [...blocks, { type: "text", text: EMPTY_ANSWER }];
}
