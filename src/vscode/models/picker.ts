import * as vscode from "vscode";
import { isLoopback } from "../../core/model/errors.js";
import { createClient } from "../../core/model/index.js";
import { findOllama, type OllamaModel, smallContext } from "../../core/model/ollama.js";
import { label } from "../plain.js";
import { warnModal } from "../say.js";
import { ADVICE } from "./advice.js";
import type { Choice } from "./choose.js";
import { PRESETS, type Preset } from "./presets.js";
import type { KnownLimits, ProviderParts } from "./providers.js";
import type { KeyProvider } from "./secrets.js";
import { clearHeaders, modelSettings, readModelSettings, writeModelSetting } from "./settings.js";
import {
  askBaseUrl,
  changeKey,
  headersFor,
  pickServerModel,
  type ServerDraft,
  testModel,
} from "./steps.js";

export interface PickerParts extends ProviderParts {
  readonly remember: (baseUrl: string, model: string, limits: KnownLimits) => Promise<void>;
}

/** What the user picked. */
export interface Picked {
  readonly choice: Choice;
  /** Puts what the choice is about where it is looked for: nothing is stored before, but a key. */
  readonly store?: () => Promise<void>;
  /** What a test of it said, to be shown once it is in use. */
  readonly said?: string | undefined;
}

type Item = vscode.QuickPickItem & { readonly pick?: () => Promise<Picked | undefined> };

/** What was found of a provider, or an item that says what to do to have it found. */
interface Found {
  readonly found: readonly Item[];
  readonly missing: readonly Item[];
}

/** “Select Model…”. Undefined where the user left it. */
export async function pickModel(parts: PickerParts): Promise<Picked | undefined> {
  const settings = readModelSettings();
  const quickPick = vscode.window.createQuickPick<Item>();
  quickPick.title = vscode.l10n.t("Select Model");
  quickPick.placeholder = vscode.l10n.t("A model, or a provider to set one up");
  quickPick.matchOnDescription = true;
  quickPick.matchOnDetail = true;
  quickPick.ignoreFocusOut = true;
  quickPick.items = [...serverItems(parts), ...demoItems()];
  quickPick.busy = true;
  quickPick.show();
  let open = true;
  const chosen = new Promise<Item | undefined>((resolve) => {
    quickPick.onDidAccept(() => resolve(quickPick.selectedItems[0]));
    quickPick.onDidHide(() => {
      open = false;
      resolve(undefined);
    });
  });
  const looking = Promise.all([languageModelItems(), ollamaItems(settings.ollamaUrl)]).then(
    ([models, ollama]) => {
      if (!open) return;
      const missing = [...models.missing, ...ollama.missing];
      quickPick.items = [
        ...models.found,
        ...ollama.found,
        ...serverItems(parts),
        ...demoItems(),
        ...(missing.length === 0 ? [] : [separator(vscode.l10n.t("Not found")), ...missing]),
      ];
      quickPick.busy = false;
    },
  );
  try {
    const item = await chosen;
    open = false;
    quickPick.hide();
    return await item?.pick?.();
  } finally {
    await looking;
    quickPick.dispose();
  }
}

function separator(label: string): Item {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

async function languageModelItems(): Promise<Found> {
  let models: vscode.LanguageModelChat[] = [];
  try {
    models = await vscode.lm.selectChatModels();
  } catch {
    // None, then; what to do about it is in the item below.
  }
  if (models.length === 0) {
    const label = vscode.l10n.t("No VS Code language models");
    const detail = vscode.l10n.t(
      "Sign in to a provider (GitHub Copilot, say) to see its models here",
    );
    return { found: [], missing: [{ label, detail }] };
  }
  const items = models.map(
    (model): Item => ({
      label: label(model.name),
      description: label(model.vendor),
      detail: vscode.l10n.t("Signed in through VS Code; needs no key"),
      pick: async () => ({ choice: { kind: "vscode", id: model.id } }),
    }),
  );
  return { found: [separator("VS Code"), ...items], missing: [] };
}

async function ollamaItems(url: string): Promise<Found> {
  const ollama = await findOllama({ url });
  if (ollama === undefined) {
    const label = vscode.l10n.t("Ollama does not answer");
    const detail = vscode.l10n.t("Start it on this machine; it is looked for at {0}", url);
    return { found: [], missing: [{ label, detail }] };
  }
  if (ollama.models.length === 0) {
    const label = vscode.l10n.t("Ollama has no models");
    const detail = vscode.l10n.t("Pull one that can use tools with `ollama pull`");
    return { found: [], missing: [{ label, detail }] };
  }
  return { found: [separator("Ollama"), ...ollama.models.map(ollamaItem)], missing: [] };
}

function ollamaItem(model: OllamaModel): Item {
  const note =
    model.tools === false
      ? vscode.l10n.t("Cannot use tools, so it cannot work as an agent")
      : smallContext(model);
  return {
    label: label(model.name),
    description: vscode.l10n.t("{0} tokens of context", model.contextTokens.toLocaleString()),
    detail:
      note === undefined
        ? vscode.l10n.t("On this machine; needs no key")
        : `$(warning) ${label(note)}`,
    async pick() {
      if (note !== undefined) {
        const use = vscode.l10n.t("Use It");
        const answer = await warnModal(note, "", use);
        if (answer !== use) return undefined;
      }
      return { choice: { kind: "ollama", model: model.name } };
    },
  };
}

function serverItems(parts: PickerParts): Item[] {
  return [
    separator(vscode.l10n.t("Servers")),
    ...PRESETS.map(
      (preset): Item => ({
        label: preset.label,
        detail: preset.needs,
        pick: () => setUpServer(preset, parts),
      }),
    ),
  ];
}

function demoItems(): Item[] {
  return [
    separator(vscode.l10n.t("Without a model")),
    {
      label: vscode.l10n.t("Demo"),
      detail: vscode.l10n.t("A scripted tour in your folder; needs nothing"),
      pick: async () => ({ choice: { kind: "demo" } }),
    },
  ];
}

/** Base URL, key, model, test. */
async function setUpServer(preset: Preset, parts: PickerParts): Promise<Picked | undefined> {
  const { provider, keyHint } = preset;
  const settings = readModelSettings();
  const baseUrl = await askBaseUrl(preset, settings[provider].baseUrl);
  if (baseUrl === undefined) return undefined;
  const { origin } = new URL(baseUrl);
  const headers = await headersFor({ provider, baseUrl });
  if (headers === "cancel") return undefined;
  let key = await parts.keys.get(provider, origin);
  let ask = key === undefined && !isLoopback(baseUrl);
  for (;;) {
    if (ask) {
      const changed = await changeKey(parts.keys, provider, origin, keyHint);
      if (changed === undefined) return undefined;
      key = changed.key;
      ask = false;
    }
    const draft: ServerDraft = {
      provider,
      baseUrl,
      headers: headers === "clear" ? {} : headers,
      ...(key === undefined ? {} : { key }),
    };
    const listed = await pickServerModel(draft, settings[provider].model);
    if (listed === undefined) return undefined;
    if (listed === "key") {
      ask = true;
      continue;
    }
    const { id: model, ...limits } = listed;
    const tested = await testModel(() =>
      createClient({ ...draft, model, idleMs: settings.idleMs, advice: ADVICE }),
    );
    if (tested.next === "cancel") return undefined;
    if (tested.next === "use") {
      const store = async () => {
        if (headers === "clear") await clearHeaders();
        await parts.remember(baseUrl, model, limits);
        await write(provider, baseUrl, model);
      };
      return { choice: { kind: provider }, store, said: tested.said };
    }
    ask = tested.next === "key";
  }
}

async function write(provider: KeyProvider, baseUrl: string, model: string): Promise<void> {
  const names =
    provider === "openai"
      ? { url: modelSettings.openaiBaseUrl, model: modelSettings.openaiModel }
      : { url: modelSettings.anthropicBaseUrl, model: modelSettings.anthropicModel };
  await writeModelSetting(names.url, baseUrl);
  await writeModelSetting(names.model, model);
}
