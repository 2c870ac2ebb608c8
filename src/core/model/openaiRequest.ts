import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import * as z from "zod";
import type { ChatRequest, Message } from "./chatClient.js";
import type { OpenAiConfig } from "./config.js";
import { argsOf, callId, EMPTY_ANSWER, type Step, stepsOf, textOf, toolName } from "./request.js";

/** Fields that servers name differently or do not know. */
export interface WireQuirks {
  readonly maxTokens: "max_tokens" | "max_completion_tokens";
  readonly usage: boolean;
}

/** What some servers want to see again of their own answers, and only theirs. */
const memorySchema = z.object({
  origin: z.string(),
  model: z.string(),
  reasoning: z.string().optional(),
  details: z.array(z.unknown()).optional(),
  signatures: z.record(z.string(), z.unknown()).optional(),
});
export type OpenAiMemory = z.infer<typeof memorySchema>;

type Wire = ChatCompletionCreateParamsStreaming["messages"][number];

/**
 * The body of a request. The messages come last, and what was sent once is sent again byte for
 * byte, so that a server's cache of the prefix holds.
 */
export function openaiBody(
  request: ChatRequest,
  config: Pick<OpenAiConfig, "model" | "maxTokens">,
  quirks: WireQuirks,
  origin: string,
): ChatCompletionCreateParamsStreaming {
  const messages: Wire[] = [{ role: "system", content: request.system }];
  for (const step of stepsOf(request.messages))
    messages.push(...wireMessages(step, config, origin));
  return {
    model: config.model,
    stream: true,
    ...(quirks.usage ? { stream_options: { include_usage: true } } : {}),
    ...(config.maxTokens === undefined ? {} : { [quirks.maxTokens]: config.maxTokens }),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map(({ name, description, parameters }) => ({
            type: "function" as const,
            function: { name, description, parameters },
          })),
        }),
    messages,
  };
}

function wireMessages(step: Step, config: Pick<OpenAiConfig, "model">, origin: string): Wire[] {
  if (step.kind === "user") return [{ role: "user", content: step.text }];
  const { message, results } = step;
  const text = textOf(message);
  const memory = memoryOf(message, config.model, origin);
  if (message.calls.length === 0) {
    return [{ role: "assistant", content: text ?? EMPTY_ANSWER, ...details(memory) }];
  }
  const assistant: Wire & { reasoning_content?: string } = {
    role: "assistant",
    content: text ?? null,
    // DeepSeek and Kimi refuse calls of theirs without the thoughts that led to them.
    ...(memory?.reasoning === undefined ? {} : { reasoning_content: memory.reasoning }),
    ...details(memory),
    tool_calls: message.calls.map((call) => ({
      id: callId(call.call),
      type: "function" as const,
      function: { name: toolName(call.tool), arguments: JSON.stringify(argsOf(call)) },
      ...signature(memory, call.call),
    })),
  };
  return [
    assistant,
    ...results.map((result) => ({
      role: "tool" as const,
      tool_call_id: callId(result.call),
      content: result.text,
    })),
  ];
}

function memoryOf(
  message: Extract<Message, { role: "assistant" }>,
  model: string,
  origin: string,
): OpenAiMemory | undefined {
  if (message.extra?.provider !== "openai") return undefined;
  const parsed = memorySchema.safeParse(message.extra.data);
  if (!parsed.success || parsed.data.origin !== origin || parsed.data.model !== model) {
    return undefined;
  }
  return parsed.data;
}

function details(memory: OpenAiMemory | undefined): object {
  return memory?.details === undefined ? {} : { reasoning_details: memory.details };
}

function signature(memory: OpenAiMemory | undefined, call: string): object {
  const extra = memory?.signatures?.[call];
  return extra === undefined ? {} : { extra_content: extra };
}
