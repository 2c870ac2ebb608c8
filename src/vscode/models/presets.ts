import * as vscode from "vscode";
import type { KeyProvider } from "./secrets.js";

/** A provider as the picker offers it: what it needs, and where it usually is. */
export interface Preset {
  readonly label: string;
  readonly provider: KeyProvider;
  /** What the user needs for it, one sentence. */
  readonly needs: string;
  /** Fixed, suggested, or (undefined) the one in the settings. */
  readonly url: { readonly at: string; readonly ask: boolean } | undefined;
  /** How its keys look. */
  readonly keyHint?: string;
}

/** The servers that **Select Model…** offers, in its order. */
export const PRESETS: readonly Preset[] = [
  {
    label: "Anthropic…",
    provider: "anthropic",
    needs: vscode.l10n.t("Needs a key from console.anthropic.com"),
    url: { at: "https://api.anthropic.com", ask: false },
    keyHint: "sk-ant-…",
  },
  {
    label: "OpenAI…",
    provider: "openai",
    needs: vscode.l10n.t("Needs a key from platform.openai.com"),
    url: { at: "https://api.openai.com/v1", ask: false },
    keyHint: "sk-…",
  },
  {
    label: "OpenRouter…",
    provider: "openai",
    needs: vscode.l10n.t("Needs a key from openrouter.ai"),
    url: { at: "https://openrouter.ai/api/v1", ask: false },
    keyHint: "sk-or-…",
  },
  {
    label: "Azure OpenAI…",
    provider: "openai",
    needs: vscode.l10n.t("Needs your resource's address, a key, and the name of a deployment"),
    url: { at: "https://YOUR-RESOURCE.openai.azure.com/openai/v1", ask: true },
  },
  {
    label: "LM Studio…",
    provider: "openai",
    needs: vscode.l10n.t("Needs its server to run; no key"),
    url: { at: "http://127.0.0.1:1234/v1", ask: true },
  },
  {
    label: vscode.l10n.t("llama.cpp, vLLM or another OpenAI-compatible server…"),
    provider: "openai",
    needs: vscode.l10n.t("Needs its base URL, and a key where it asks for one"),
    url: undefined,
  },
  {
    label: vscode.l10n.t("Another server that speaks Anthropic's messages…"),
    provider: "anthropic",
    needs: vscode.l10n.t("Needs its base URL, and a key where it asks for one"),
    url: undefined,
  },
];
