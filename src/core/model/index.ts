import { AnthropicClient } from "./anthropic.js";
import type { ChatClient } from "./chatClient.js";
import type { ModelConfig } from "./config.js";
import { DemoClient } from "./demo.js";
import { OpenAiClient } from "./openai.js";
import type { Transport } from "./transport.js";

export type { ModelConfig } from "./config.js";

/**
 * A client for a model. Nothing is sent yet. Throws `ChatError` where the configuration cannot be
 * right. `transport`: what requests go by, `byFetch` where it is not given.
 */
export function createClient(config: ModelConfig, transport?: Transport): ChatClient {
  switch (config.provider) {
    case "openai":
      return new OpenAiClient(config, transport);
    case "anthropic":
      return new AnthropicClient(config, transport);
    case "demo":
      return new DemoClient(config);
    default:
      throw new Error(`no such provider: ${JSON.stringify(config satisfies never)}`);
  }
}
