import { CallAssembler } from "./assemble.js";
import {
  type ChatAnswer,
  ChatError,
  type ChatRequest,
  type SendOptions,
  type Usage,
} from "./chatClient.js";
import type { Server } from "./config.js";
import { chatError, faultIn, isRecord } from "./errors.js";
import { brokenStream, eventJson } from "./exchange.js";
import type { OpenAiMemory } from "./openaiRequest.js";
import { chunkSchema, contentOf, piecesOf, usageOf } from "./openaiWire.js";
import { estimateUsage, usedIds } from "./request.js";

/** One answer as it grows, chunk by chunk. */
export class OpenAiReading {
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
    const value = eventJson(data, event, context, this.delivered);
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
