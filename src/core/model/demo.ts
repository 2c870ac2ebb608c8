import { CONTEXT_TOKENS } from "../limits.js";
import { freshId } from "./assemble.js";
import type { ChatAnswer, ChatClient, ChatRequest, SendOptions } from "./chatClient.js";
import type { DemoConfig } from "./config.js";
import { demoSaid, demoStep } from "./demoTour.js";
import { estimateUsage, usedIds } from "./request.js";
import { wait } from "./retry.js";

/** Between two words of the demo, in milliseconds. */
const PACE_MS = 18;

/**
 * A tour that needs no model. The words are a script; the calls are real and go through the same
 * gate as a model's. What comes next follows from the transcript alone, so it adapts to the
 * folder, to denials, and to being stopped.
 */
export class DemoClient implements ChatClient {
  readonly provider = "demo";
  readonly model = "demo";
  readonly contextTokens = CONTEXT_TOKENS;

  constructor(private readonly config: Partial<DemoConfig> = {}) {}

  async send(request: ChatRequest, options: SendOptions): Promise<ChatAnswer> {
    const { signal, onDelta } = options;
    signal.throwIfAborted();
    const step = demoStep(demoSaid(request.messages), {
      tools: new Set(request.tools.map(({ name }) => name)),
      platform: process.platform,
      pickModel: this.config.advice?.pickModel,
    });
    const pace = this.config.pace ?? PACE_MS;
    for (const word of step.text.match(/\s*\S+/g) ?? []) {
      if (pace > 0) await wait(pace, signal);
      signal.throwIfAborted();
      onDelta({ type: "text", text: word });
    }
    const used = usedIds(request.messages);
    const calls = step.calls.map(({ tool, args }) => {
      const call = freshId("", used);
      used.add(call);
      return { call, tool, args };
    });
    return {
      text: step.text,
      calls,
      stop: "end",
      usage: estimateUsage(request, step.text, "", calls),
    };
  }
}
