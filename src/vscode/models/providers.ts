import * as vscode from "vscode";
import { type ChatClient, ChatError } from "../../core/model/chatClient.js";
import { isLoopback } from "../../core/model/errors.js";
import { createClient, type ModelConfig } from "../../core/model/index.js";
import { findOllama } from "../../core/model/ollama.js";
import { ADVICE } from "./advice.js";
import type { Choice } from "./choose.js";
import { LanguageModelClient } from "./languageModel.js";
import { originOf } from "./origin.js";
import type { KeyProvider, Keys } from "./secrets.js";
import type { ModelSettings } from "./settings.js";

/** What a server said of its models when it was asked, remembered between windows. */
export interface KnownLimits {
  readonly contextTokens?: number;
  readonly maxTokens?: number;
}

export interface ProviderParts {
  readonly keys: Keys;
  readonly known: (baseUrl: string, model: string) => KnownLimits;
}

/** Servers of which it is known that nothing goes without a key. */
const WANTS_KEY =
  /(^|\.)(openai\.com|anthropic\.com|openrouter\.ai|azure\.com|mistral\.ai|groq\.com|deepseek\.com)$/;

/** The client of a choice, made anew. Rejects with `ChatError` that says what is missing. */
export async function clientOf(
  choice: Choice,
  settings: ModelSettings,
  parts: ProviderParts,
): Promise<ChatClient> {
  switch (choice.kind) {
    case "demo":
      return createClient({ provider: "demo", advice: ADVICE });
    case "vscode":
      return new LanguageModelClient(await languageModel(choice.id), settings.idleMs);
    case "ollama":
      return createClient(await ollamaConfig(choice.model, settings));
    default:
      return createClient(await serverConfig(choice.kind, settings, parts));
  }
}

/** The settings and the key of a server, put together. */
export async function serverConfig(
  provider: KeyProvider,
  settings: ModelSettings,
  { keys, known }: ProviderParts,
): Promise<ModelConfig> {
  const { baseUrl, model } = settings[provider];
  if (model === "") {
    throw new ChatError("model", "No model is set. Pick one with “Select Model…”.");
  }
  const origin = originOf(baseUrl);
  const key = origin === undefined ? undefined : await keys.get(provider, origin);
  const headers = provider === "openai" ? settings.openai.headers : {};
  const authorised = Object.keys(headers).some((name) => /authorization|key|token/i.test(name));
  if (
    origin !== undefined &&
    key === undefined &&
    !authorised &&
    !isLoopback(baseUrl) &&
    WANTS_KEY.test(new URL(origin).hostname)
  ) {
    throw new ChatError("key", `There is no key for ${origin}. Set it with “Set API Key…”.`);
  }
  const limits = known(baseUrl, model);
  const contextTokens = settings.contextTokens ?? limits.contextTokens;
  // A server's own limit is left to it; only the messages API must be told a number.
  const maxTokens = settings.maxTokens ?? (provider === "anthropic" ? limits.maxTokens : undefined);
  return {
    provider,
    baseUrl,
    model,
    idleMs: settings.idleMs,
    advice: ADVICE,
    headers,
    ...(key === undefined ? {} : { key }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}

async function ollamaConfig(model: string, settings: ModelSettings): Promise<ModelConfig> {
  const ollama = await findOllama({ url: settings.ollamaUrl });
  if (ollama === undefined) {
    throw new ChatError(
      "connection",
      `Ollama does not answer at ${settings.ollamaUrl}. Start it, or pick another model with “Select Model…”.`,
    );
  }
  const found = ollama.models.find(({ name }) => name === model);
  if (found === undefined) {
    throw new ChatError(
      "model",
      `Ollama has no model “${model}” any more. Pull it again, or pick another with “Select Model…”.`,
    );
  }
  return {
    provider: "openai",
    baseUrl: ollama.baseUrl,
    model,
    idleMs: settings.idleMs,
    advice: ADVICE,
    contextTokens: settings.contextTokens ?? found.contextTokens,
    ...(settings.maxTokens === undefined ? {} : { maxTokens: settings.maxTokens }),
  };
}

/** VS Code's model of that id; says whether there is none at all or this one is gone. */
async function languageModel(id: string): Promise<vscode.LanguageModelChat> {
  const [model] = await vscode.lm.selectChatModels({ id });
  if (model !== undefined) return model;
  const any = await vscode.lm.selectChatModels();
  throw new ChatError(
    "model",
    any.length === 0
      ? "VS Code has no language model. Sign in to one (GitHub Copilot, say), or pick another provider with “Select Model…”."
      : `VS Code has no model “${id}” any more. Pick another with “Select Model…”.`,
  );
}
