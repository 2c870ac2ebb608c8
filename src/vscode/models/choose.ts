/** A model as it was picked. The text form is what settings and memory hold. */
export type Choice =
  | { readonly kind: "openai" | "anthropic" | "demo" }
  | { readonly kind: "vscode"; readonly id: string }
  | { readonly kind: "ollama"; readonly model: string };

/** `openai`, `anthropic`, `demo`, `vscode:<id>` or `ollama:<model>`; anything else is undefined. */
export function parseChoice(text: string | undefined): Choice | undefined {
  if (text === "openai" || text === "anthropic" || text === "demo") return { kind: text };
  const [, kind, rest] = /^(vscode|ollama):(.+)$/s.exec(text ?? "") ?? [];
  if (kind === undefined || rest === undefined) return undefined;
  return kind === "vscode" ? { kind, id: rest } : { kind: "ollama", model: rest };
}

/** A choice as `countersign.models.selected` has it. */
export function choiceText(choice: Choice): string {
  switch (choice.kind) {
    case "vscode":
      return `vscode:${choice.id}`;
    case "ollama":
      return `ollama:${choice.model}`;
    default:
      return choice.kind;
  }
}

/** What the default is chosen from; asked in this order, and no further than needed. */
export interface Sources {
  /** What the setting says, then what was picked last. */
  readonly picked: readonly (string | undefined)[];
  /** Ids of VS Code's models. */
  readonly vscodeModels: () => Promise<readonly string[]>;
  /** The model of an Ollama on this machine to start with. */
  readonly ollamaModel: () => Promise<string | undefined>;
}

/** The model picked last; else the first VS Code model; else Ollama where it answers; else the demo. */
export async function choose(sources: Sources): Promise<Choice> {
  for (const text of sources.picked) {
    const choice = parseChoice(text);
    if (choice !== undefined) return choice;
  }
  const [id] = await sources.vscodeModels();
  if (id !== undefined) return { kind: "vscode", id };
  const model = await sources.ollamaModel();
  return model === undefined ? { kind: "demo" } : { kind: "ollama", model };
}
