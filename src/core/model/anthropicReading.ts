import type { AnthropicMemory } from "./anthropicRequest.js";
import { eventSchema, type WireBlock, type WireEvent, type WireUsage } from "./anthropicWire.js";
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
import { estimateUsage, usedIds } from "./request.js";

type Block =
  | { type: "text"; parts: string[] }
  | { type: "thinking"; parts: string[]; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "call"; at: number };

/** One answer as it grows, event by event. */
export class AnthropicReading {
  delivered = false;
  private readonly calls = new CallAssembler();
  private readonly blocks = new Map<number, Block>();
  private usage: WireUsage;
  private stop: string | undefined;
  private done = false;

  constructor(
    private readonly request: ChatRequest,
    private readonly options: SendOptions,
    private readonly server: Server,
    private readonly model: string,
  ) {}

  take(data: string, name: string | undefined): void {
    const { context } = this.server;
    const value = eventJson(data, name, context, this.delivered);
    const fault = faultIn(value);
    if (fault !== undefined && (name === "error" || (isRecord(value) && "error" in value))) {
      throw chatError(fault, context, this.delivered);
    }
    if (isRecord(value) && !("type" in value) && name !== undefined) value.type = name;
    const event = eventSchema.safeParse(value);
    if (!event.success) throw brokenStream(context);
    this.apply(event.data);
  }

  private apply(event: WireEvent): void {
    switch (event.type) {
      case "message_start":
        this.addUsage(event.message?.usage);
        break;
      case "content_block_start":
        if (event.content_block) this.begin(event.index ?? 0, event.content_block);
        break;
      case "content_block_delta":
        this.grow(event.index ?? 0, event.delta ?? {});
        break;
      case "message_delta":
        this.addUsage(event.usage);
        this.stop = event.delta?.stop_reason ?? this.stop;
        break;
      case "message_stop":
        this.done = true;
        break;
      case "message":
        // Not streamed: a server, or a proxy before it, that sends the message whole.
        this.addUsage(event.usage);
        (event.content ?? []).forEach((block, index) => {
          this.begin(index, block);
        });
        this.stop = event.stop_reason ?? undefined;
        this.done = true;
        break;
      default:
      // Pings, the ends of blocks, and kinds of events that came later.
    }
  }

  private begin(index: number, start: WireBlock): void {
    switch (start.type) {
      case "text":
        this.blocks.set(index, { type: "text", parts: [] });
        this.text(index, start.text ?? "");
        break;
      case "thinking":
        this.blocks.set(index, {
          type: "thinking",
          parts: [],
          signature: start.signature ?? "",
        });
        this.thinking(index, start.thinking ?? "");
        break;
      case "redacted_thinking":
        this.blocks.set(index, { type: "redacted_thinking", data: start.data ?? "" });
        break;
      case "tool_use": {
        this.delivered = true;
        const args =
          isRecord(start.input) && Object.keys(start.input).length > 0
            ? JSON.stringify(start.input)
            : undefined;
        const at = this.calls.add({ index, id: start.id, name: start.name, args });
        this.blocks.set(index, { type: "call", at });
        break;
      }
      default:
      // Blocks of tools that run at the server; none of ours asks for them.
    }
  }

  private grow(index: number, delta: NonNullable<WireEvent["delta"]>): void {
    if (delta.text !== undefined) this.text(index, delta.text);
    if (delta.thinking !== undefined) this.thinking(index, delta.thinking);
    const block = this.blocks.get(index);
    if (delta.signature !== undefined && block?.type === "thinking") {
      block.signature += delta.signature;
    }
    if (delta.partial_json !== undefined && block?.type === "call") {
      this.calls.add({ index, args: delta.partial_json });
    }
  }

  private text(index: number, text: string): void {
    if (text === "") return;
    let block = this.blocks.get(index);
    if (block === undefined) {
      block = { type: "text", parts: [] };
      this.blocks.set(index, block);
    }
    if (block.type !== "text") return;
    this.delivered = true;
    block.parts.push(text);
    this.options.onDelta({ type: "text", text });
  }

  private thinking(index: number, text: string): void {
    const block = this.blocks.get(index);
    if (text === "" || block?.type !== "thinking") return;
    this.delivered = true;
    block.parts.push(text);
    this.options.onDelta({ type: "reasoning", text });
  }

  private addUsage(usage: WireUsage): void {
    if (usage === undefined || usage === null) return;
    const given = Object.entries(usage).filter(([, value]) => typeof value === "number");
    this.usage = { ...this.usage, ...Object.fromEntries(given) };
  }

  answer(): ChatAnswer {
    const { context } = this.server;
    if (!this.done && this.stop === undefined) throw brokenStream(context);
    if (this.stop === "refusal") {
      throw new ChatError(
        "request",
        `The model “${this.model}” declined to go on with this conversation. Ask in other words, start a new session, or pick another model.`,
      );
    }
    const cut = this.stop === "max_tokens" || this.stop === "model_context_window_exceeded";
    const { calls, ids } = this.calls.finish(usedIds(this.request.messages), cut);
    const blocks = [...this.blocks.entries()].sort(([a], [b]) => a - b).map(([, block]) => block);
    const text = blocks
      .map((block) => (block.type === "text" ? block.parts.join("") : ""))
      .join("");
    const reasoning = blocks
      .map((block) => (block.type === "thinking" ? block.parts.join("") : ""))
      .filter((thoughts) => thoughts !== "")
      .join("\n\n");
    const memory = this.memory(blocks, ids);
    return {
      text,
      calls,
      usage: this.tokens() ?? estimateUsage(this.request, text, reasoning, calls),
      stop: cut ? "length" : "end",
      ...(reasoning === "" ? {} : { reasoning }),
      ...(memory === undefined ? {} : { extra: { provider: "anthropic", data: memory } }),
    };
  }

  /** What goes back with the next request; thoughts without their signature are not taken back. */
  private memory(
    blocks: readonly Block[],
    ids: readonly (string | undefined)[],
  ): AnthropicMemory | undefined {
    const kept: AnthropicMemory["blocks"] = [];
    for (const block of blocks) {
      if (block.type === "text") {
        kept.push({ type: "text", length: block.parts.join("").length });
      } else if (block.type === "call") {
        const call = ids[block.at];
        if (call !== undefined) kept.push({ type: "call", call });
      } else if (block.type === "redacted_thinking") kept.push(block);
      else if (block.signature !== "") {
        const { signature, parts } = block;
        kept.push({ type: "thinking", thinking: parts.join(""), signature });
      }
    }
    const thought = kept.some(({ type }) => type === "thinking" || type === "redacted_thinking");
    return thought ? { model: this.model, blocks: kept } : undefined;
  }

  private tokens(): Usage | undefined {
    const { usage } = this;
    if (typeof usage?.output_tokens !== "number" || typeof usage.input_tokens !== "number") {
      return undefined;
    }
    const cached = usage.cache_read_input_tokens ?? 0;
    const input = usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0);
    const output = usage.output_tokens;
    return cached > 0 ? { input, output, cached } : { input, output };
  }
}
