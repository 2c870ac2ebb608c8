import * as vscode from "vscode";
import type { ChatClient } from "../../core/model/chatClient.js";
import { inform } from "../say.js";
import { type Choice, choiceText, choose, parseChoice } from "./choose.js";
import { offerUntilClosed } from "./offer.js";
import { originOf } from "./origin.js";
import type { KnownLimits, ProviderParts } from "./providers.js";
import { Keys } from "./secrets.js";
import type { ModelService } from "./service.js";
import { modelSettings, readModelSettings, writeModelSetting } from "./settings.js";

export type { ModelService } from "./service.js";

/** Keys of what is remembered between windows. */
const PICKED = "countersign.models.picked";
const KNOWN = "countersign.models.known";

/** What makes clients, and all of the protocols with it: no part of activation. */
const providers = () => import("./providers.js");

/** What is in use, once it is known. */
interface InUse {
  readonly choice: Choice;
  readonly label: string;
  readonly model: string;
}

/** A client, and the choice that it was made for. */
interface Made {
  readonly id: string;
  readonly client: ChatClient;
}

/** Watches settings, keys and VS Code's models, and makes the clients. `report`: the output channel. */
export function registerModels(
  context: vscode.ExtensionContext,
  report: (message: string) => void,
): ModelService {
  return new Models(context, report);
}

class Models implements ModelService {
  private readonly keys: Keys;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly owned: vscode.Disposable[] = [];
  private inUse: Promise<InUse> | undefined;
  private known: InUse | undefined;
  private made: Made | undefined;
  private generation = 0;
  /** Resolves once a choice that was made is in use: a request that comes by then is for that one. */
  private switching: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly report: (message: string) => void,
  ) {
    this.keys = new Keys({
      storage: context.secrets,
      changed: () => this.refresh(),
      offer: offerUntilClosed,
      report,
    });
    this.owned.push(
      this.keys,
      this.changed,
      vscode.lm.onDidChangeChatModels(() => this.refresh()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("countersign.models")) this.refresh();
      }),
    );
    void this.resolve();
  }

  readonly client = async (_session: string): Promise<ChatClient> => {
    for (;;) {
      await this.switching;
      const { generation } = this;
      try {
        const made = await this.make();
        // What was chosen while this was made counts, whatever became of this.
        if (generation !== this.generation) continue;
        this.made = made;
        return made.client;
      } catch (error) {
        if (generation === this.generation) throw error;
      }
    }
  };

  readonly current = (): { label: string; provider: string; model: string } => {
    const { known } = this;
    if (known === undefined) {
      return { label: vscode.l10n.t("Looking for a model…"), provider: "", model: "" };
    }
    return { label: known.label, provider: known.choice.kind, model: known.model };
  };

  readonly select = async (): Promise<void> => {
    const { pickModel } = await import("./picker.js");
    const picked = await pickModel({
      ...this.parts,
      remember: (baseUrl, model, limits) => this.remember(baseUrl, model, limits),
    });
    if (picked === undefined) return;
    await this.use(picked.choice, picked.store);
    if (picked.said !== undefined) void inform(picked.said);
  };

  readonly setKey = async (): Promise<void> => {
    const choice = this.known?.choice.kind;
    const { pickKey } = await import("./steps.js");
    await pickKey(this.keys, choice === "openai" || choice === "anthropic" ? choice : undefined);
  };

  readonly useDemo = (): Promise<void> => this.use({ kind: "demo" });

  dispose(): void {
    this.generation += 1;
    for (const one of this.owned.splice(0)) one.dispose();
  }

  private get parts(): ProviderParts {
    return {
      keys: this.keys,
      known: (baseUrl, model) => this.limits()[knownName(baseUrl, model)] ?? {},
    };
  }

  private async make(): Promise<Made> {
    const { choice } = await this.resolve();
    const id = choiceText(choice);
    // The same client goes on being used: it remembers what its server does not understand.
    if (this.made?.id === id) return this.made;
    const { clientOf } = await providers();
    return { id, client: await clientOf(choice, readModelSettings(), this.parts) };
  }

  private use(choice: Choice, store = async () => {}): Promise<void> {
    const used = this.switching.then(() => this.switchTo(choice, store));
    // Where that fails its caller says so, and what was in use goes on being used.
    this.switching = used.catch(() => {});
    return used;
  }

  private async switchTo(choice: Choice, store: () => Promise<void>): Promise<void> {
    const text = choiceText(choice);
    await store();
    await this.context.globalState.update(PICKED, text);
    const { selected } = readModelSettings();
    if (selected !== "auto" && selected !== text) {
      await writeModelSetting(modelSettings.selected, text);
    }
    this.refresh();
    await this.resolve();
  }

  private refresh(): void {
    this.generation += 1;
    this.inUse = undefined;
    this.made = undefined;
    void this.resolve();
  }

  private resolve(): Promise<InUse> {
    this.inUse ??= this.find(this.generation);
    return this.inUse;
  }

  private async find(generation: number): Promise<InUse> {
    const settings = readModelSettings();
    if (settings.selected !== "auto" && parseChoice(settings.selected) === undefined) {
      this.report(
        `the setting ${modelSettings.selected} is “${settings.selected}”, which names no model; it counts as “auto”`,
      );
    }
    const choice = await choose({
      picked: [settings.selected, this.context.globalState.get<string>(PICKED)],
      vscodeModels: async () => {
        try {
          return (await vscode.lm.selectChatModels()).map(({ id }) => id);
        } catch {
          return [];
        }
      },
      ollamaModel: async () => {
        const { bestModel, findOllama, smallContext } = await import("../../core/model/ollama.js");
        const ollama = await findOllama({ url: settings.ollamaUrl });
        const model = bestModel(ollama?.models ?? []);
        if (model === undefined) return undefined;
        const note = smallContext(model);
        if (note !== undefined) this.report(note);
        return model.name;
      },
    });
    const found = await this.describe(choice);
    if (generation === this.generation) {
      this.known = found;
      this.changed.fire();
      // The next request should not have to wait for what makes clients.
      void providers();
    }
    return found;
  }

  private async describe(choice: Choice): Promise<InUse> {
    const settings = readModelSettings();
    switch (choice.kind) {
      case "demo":
        return { choice, label: vscode.l10n.t("Demo"), model: "demo" };
      case "ollama":
        return { choice, label: choice.model, model: choice.model };
      case "vscode": {
        let name = choice.id;
        try {
          name = (await vscode.lm.selectChatModels({ id: choice.id }))[0]?.name ?? choice.id;
        } catch {
          // The id is a name too.
        }
        return { choice, label: name, model: choice.id };
      }
      default: {
        const { model } = settings[choice.kind];
        return { choice, label: model === "" ? vscode.l10n.t("No model set") : model, model };
      }
    }
  }

  private limits(): Record<string, KnownLimits> {
    return this.context.globalState.get<Record<string, KnownLimits>>(KNOWN) ?? {};
  }

  private async remember(baseUrl: string, model: string, limits: KnownLimits): Promise<void> {
    await this.context.globalState.update(KNOWN, {
      ...this.limits(),
      [knownName(baseUrl, model)]: limits,
    });
  }
}

function knownName(baseUrl: string, model: string): string {
  return `${originOf(baseUrl) ?? ""} ${model}`;
}
