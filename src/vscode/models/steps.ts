import * as vscode from "vscode";
import { type ChatClient, ChatError } from "../../core/model/chatClient.js";
import { isLoopback } from "../../core/model/errors.js";
import { type ListedModel, listModels } from "../../core/model/list.js";
import { type ProbeResult, probe } from "../../core/model/probe.js";
import { label } from "../plain.js";
import { inform, warnModal } from "../say.js";
import { ADVICE } from "./advice.js";
import { originOf } from "./origin.js";
import type { Preset } from "./presets.js";
import type { KeyProvider, Keys } from "./secrets.js";
import { DEFAULT_URLS, readModelSettings } from "./settings.js";

/** A server as far as it has been set up. */
export interface ServerDraft {
  readonly provider: KeyProvider;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** The address of a preset's server, asked for where the preset does not fix it; undefined: given up. */
export async function askBaseUrl(preset: Preset, now: string): Promise<string | undefined> {
  if (preset.url?.ask === false) return preset.url.at;
  const value =
    preset.url?.at ?? (now === DEFAULT_URLS[preset.provider] ? "http://127.0.0.1:8080/v1" : now);
  const url = await vscode.window.showInputBox({
    title: preset.label,
    prompt: vscode.l10n.t("Base URL of the server"),
    value,
    ignoreFocusOut: true,
    validateInput: urlFault,
  });
  return url?.trim();
}

function urlFault(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return vscode.l10n.t("Not a URL. It begins with https:// or http://.");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return vscode.l10n.t("It must begin with https:// or http://.");
  }
  if (url.username !== "" || url.password !== "") {
    return vscode.l10n.t("No name or password in a base URL: a key is asked for next.");
  }
  if (url.hostname.startsWith("your-resource")) {
    return vscode.l10n.t("Put the name of your resource in.");
  }
  return undefined;
}

/** A key from a password box; "" for none, undefined where the user left it. */
async function askKey(origin: string, hint?: string): Promise<string | undefined> {
  const plain = origin.startsWith("http://") && !isLoopback(origin);
  const warning = plain ? ` ${vscode.l10n.t("The connection is not encrypted.")}` : "";
  const key = await vscode.window.showInputBox({
    title: vscode.l10n.t("Set API Key"),
    prompt: `${vscode.l10n.t("Key for {0}. It is kept in VS Code's secret storage and sent there only. Empty: no key.", origin)}${warning}`,
    password: true,
    ignoreFocusOut: true,
    ...(hint === undefined ? {} : { placeHolder: hint }),
    validateInput: (text) =>
      /^[\x21-\x7e]*$/.test(text.trim())
        ? undefined
        : vscode.l10n.t("A key has no white space and no special characters."),
  });
  return key?.trim();
}

/** Asks for a key and stores it, or removes it; undefined where the user left it or wanted neither. */
export async function changeKey(
  keys: Keys,
  provider: KeyProvider,
  origin: string,
  hint?: string,
): Promise<{ readonly key: string | undefined } | undefined> {
  const given = await askKey(origin, hint);
  if (given === undefined) return undefined;
  if (given === "") {
    await keys.remove(provider, origin);
    return { key: undefined };
  }
  return (await keys.set(provider, origin, given)) ? { key: given } : undefined;
}

/** “Set API Key…”: for `provider`'s server as the settings have it, or after asking for which. */
export async function pickKey(keys: Keys, provider: KeyProvider | undefined): Promise<void> {
  const settings = readModelSettings();
  const servers = (["openai", "anthropic"] as const).flatMap((of) => {
    const origin = originOf(settings[of].baseUrl);
    const label = of === "openai" ? vscode.l10n.t("OpenAI-compatible") : "Anthropic";
    return origin === undefined ? [] : [{ label, description: origin, provider: of }];
  });
  const server =
    servers.find((one) => one.provider === provider) ??
    (await vscode.window.showQuickPick(servers, {
      title: vscode.l10n.t("Set API Key"),
      placeHolder: vscode.l10n.t("The server that the key is for"),
    }));
  if (server === undefined) return;
  const done = await changeKey(keys, server.provider, server.description);
  if (done === undefined) return;
  void inform(
    done.key === undefined
      ? vscode.l10n.t("There is no key for {0} any more.", server.description)
      : vscode.l10n.t("The key for {0} is set.", server.description),
  );
}

/** The user's extra headers, where they may go to a server they were not written for. */
export async function headersFor(
  draft: Pick<ServerDraft, "provider" | "baseUrl">,
): Promise<Readonly<Record<string, string>> | "cancel" | "clear"> {
  if (draft.provider !== "openai") return {};
  const { baseUrl, headers } = readModelSettings().openai;
  const names = Object.keys(headers);
  if (names.length === 0) return {};
  const [was, is] = [originOf(baseUrl) ?? baseUrl, originOf(draft.baseUrl) ?? draft.baseUrl];
  if (was === is) return headers;
  const send = vscode.l10n.t("Send Them There Too");
  const clear = vscode.l10n.t("Remove Them");
  const answer = await warnModal(
    vscode.l10n.t("Your extra headers were set for {0}. Shall they go to {1}?", was, is),
    names.join(", "),
    send,
    clear,
  );
  if (answer === undefined) return "cancel";
  return answer === send ? headers : "clear";
}

type ModelItem = vscode.QuickPickItem & { readonly model?: ListedModel; readonly key?: true };

/** A model of the server's list, or one typed; "key" to set the key first; undefined for none. */
export async function pickServerModel(
  draft: ServerDraft,
  now: string,
): Promise<ListedModel | "key" | undefined> {
  const abort = new AbortController();
  const listing = vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t("Asking {0} for its models…", new URL(draft.baseUrl).host),
      cancellable: true,
    },
    async (_, token) => {
      token.onCancellationRequested(() => abort.abort());
      try {
        return await listModels({ ...draft, advice: ADVICE }, abort.signal);
      } catch (error) {
        return error instanceof ChatError ? error : [];
      }
    },
  );
  const listed = await listing;
  if (abort.signal.aborted) return undefined;
  if (listed instanceof ChatError) return typedModel(listed, now);
  const type: ModelItem = { label: `$(edit) ${vscode.l10n.t("Type a name…")}` };
  const items = listed.map(
    (model): ModelItem => ({
      label: label(model.id),
      ...(model.contextTokens === undefined
        ? {}
        : {
            description: vscode.l10n.t(
              "{0} tokens of context",
              model.contextTokens.toLocaleString(),
            ),
          }),
      model,
    }),
  );
  // The one in use comes first.
  items.sort((a, b) => Number(b.model?.id === now) - Number(a.model?.id === now));
  const picked = await vscode.window.showQuickPick<ModelItem>([...items, type], {
    title: vscode.l10n.t("Model"),
    placeHolder: vscode.l10n.t("One that can use tools"),
    ignoreFocusOut: true,
  });
  if (picked === undefined) return undefined;
  return picked.model ?? nameOnly(await typeName(now));
}

/** The list could not be had: says why, and offers to set the key or to type a name. */
async function typedModel(error: ChatError, now: string): Promise<ListedModel | "key" | undefined> {
  const key = vscode.l10n.t("Set the Key");
  const type = vscode.l10n.t("Type the Model's Name");
  const choices = error.kind === "key" ? [key, type] : [type];
  const answer = await warnModal(error.message, "", ...choices);
  if (answer === key) return "key";
  return answer === type ? nameOnly(await typeName(now)) : undefined;
}

async function typeName(now: string): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: vscode.l10n.t("Model"),
    prompt: vscode.l10n.t("The model's name, as the server has it"),
    value: now,
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === "" ? vscode.l10n.t("A name is needed.") : undefined),
  });
  return name?.trim();
}

function nameOnly(name: string | undefined): ListedModel | undefined {
  return name === undefined ? undefined : { id: name };
}

/**
 * Tries the model and says what is wrong with it. "use": it works, or the user wants it anyway;
 * `said` is what there is to say of one that works.
 */
export async function testModel(
  make: () => ChatClient,
): Promise<{ readonly next: "use" | "key" | "again" | "cancel"; readonly said?: string }> {
  const abort = new AbortController();
  const result = await vscode.window.withProgress<ProbeResult | undefined>(
    {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t("Testing the model…"),
      cancellable: true,
    },
    async (_, token) => {
      token.onCancellationRequested(() => abort.abort());
      try {
        return await probe(make(), abort.signal);
      } catch (error) {
        if (abort.signal.aborted) return undefined;
        if (error instanceof ChatError) {
          return { outcome: "fails", message: error.message, error };
        }
        throw error;
      }
    },
  );
  if (result === undefined) return { next: "cancel" };
  if (result.outcome === "works") return { next: "use", said: result.message };
  const use = vscode.l10n.t("Use It Anyway");
  const again = vscode.l10n.t("Pick Another Model");
  const key = vscode.l10n.t("Set the Key");
  const choices = result.error.kind === "key" ? [key, again, use] : [again, use];
  const answer = await warnModal(result.message, "", ...choices);
  if (answer === use) return { next: "use" };
  if (answer === key) return { next: "key" };
  return { next: answer === again ? "again" : "cancel" };
}
