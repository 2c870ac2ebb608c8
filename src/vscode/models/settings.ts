import * as vscode from "vscode";
import { type ModelLimits, modelLimits } from "../../core/model/given.js";

/*
 * The settings of the models, exactly as package.json contributes them:
 *
 * setting (countersign.…)      type     default                        scope
 * models.selected              string   "auto"                         machine-overridable
 *     "auto": the model picked last, else the first VS Code model, else Ollama where it answers
 *     on this machine, else the demo. Otherwise "openai", "anthropic", "demo", "vscode:<id>" or
 *     "ollama:<model>". The picker writes it only where it is set already.
 * models.openai.baseUrl        string   "https://api.openai.com/v1"    machine
 * models.openai.model          string   ""                             machine-overridable
 * models.openai.headers        object   {}                             machine
 *     additionalProperties: string. Extra HTTP headers; a key does not belong here.
 * models.anthropic.baseUrl     string   "https://api.anthropic.com"    machine
 * models.anthropic.model       string   ""                             machine-overridable
 * models.maxTokens             integer  0 (minimum 0)                  machine-overridable
 *     Tokens of one answer at most. 0: what the model or its server says.
 * models.contextTokens         integer  0 (minimum 0)                  machine-overridable
 *     The model's context window. 0: what the server says, else 128,000.
 * models.idleTimeout           integer  120 (minimum 10, maximum 300)  machine-overridable
 *     Seconds of silence after which an answer counts as broken.
 * models.ollama.url            string   "http://127.0.0.1:11434"       machine
 *
 * All of them are in `capabilities.untrustedWorkspaces.restrictedConfigurations`. Where requests
 * go and what goes with them (machine) is never a workspace's to say. In a remote window these
 * come from the remote's settings (`<user-data-dir>/Machine/settings.json`).
 */
export const modelSettings = {
  selected: "countersign.models.selected",
  openaiBaseUrl: "countersign.models.openai.baseUrl",
  openaiModel: "countersign.models.openai.model",
  openaiHeaders: "countersign.models.openai.headers",
  anthropicBaseUrl: "countersign.models.anthropic.baseUrl",
  anthropicModel: "countersign.models.anthropic.model",
  maxTokens: "countersign.models.maxTokens",
  contextTokens: "countersign.models.contextTokens",
  idleTimeout: "countersign.models.idleTimeout",
  ollamaUrl: "countersign.models.ollama.url",
} as const;

/** Where a server is that nobody has named. */
export const DEFAULT_URLS = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  ollama: "http://127.0.0.1:11434",
} as const;

/** The settings as they are now, taken with care: a user can type anything. */
export interface ModelSettings extends ModelLimits {
  readonly selected: string;
  readonly openai: {
    readonly baseUrl: string;
    readonly model: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly anthropic: { readonly baseUrl: string; readonly model: string };
  readonly ollamaUrl: string;
}

/** The settings of the models as they are now; one of the wrong type counts as not set. */
export function readModelSettings(): ModelSettings {
  const settings = vscode.workspace.getConfiguration();
  const text = (name: string, otherwise: string): string => {
    const value: unknown = settings.get(name);
    return typeof value === "string" && value.trim() !== "" ? value.trim() : otherwise;
  };
  return {
    selected: text(modelSettings.selected, "auto"),
    openai: {
      baseUrl: text(modelSettings.openaiBaseUrl, DEFAULT_URLS.openai),
      model: text(modelSettings.openaiModel, ""),
      headers: headers(settings.get(modelSettings.openaiHeaders)),
    },
    anthropic: {
      baseUrl: text(modelSettings.anthropicBaseUrl, DEFAULT_URLS.anthropic),
      model: text(modelSettings.anthropicModel, ""),
    },
    ollamaUrl: text(modelSettings.ollamaUrl, DEFAULT_URLS.ollama),
    ...modelLimits({
      maxTokens: settings.get(modelSettings.maxTokens),
      contextTokens: settings.get(modelSettings.contextTokens),
      idleTimeout: settings.get(modelSettings.idleTimeout),
    }),
  };
}

function headers(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );
}

/** Writes one of the settings where the user's own are; a workspace's value is left alone. */
export async function writeModelSetting(
  name: (typeof modelSettings)[keyof typeof modelSettings],
  value: string,
): Promise<void> {
  await vscode.workspace.getConfiguration().update(name, value, vscode.ConfigurationTarget.Global);
}

/** Takes the user's extra headers out: they were for another server. */
export async function clearHeaders(): Promise<void> {
  await vscode.workspace
    .getConfiguration()
    .update(modelSettings.openaiHeaders, undefined, vscode.ConfigurationTarget.Global);
}
