import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";
import type { UndoItem } from "../core/turn/live.js";
import { FlatFiles } from "./flatFiles.js";
import { UNDO } from "./ids.js";

export type UndoSide = "before" | "left" | "now" | "merged";

/** The states of files in a plan as read-only documents, for the native diff editors. */
export class UndoDocuments extends FlatFiles {
  readonly #bytes = new Map<string, Uint8Array>();
  #last = 0;

  constructor() {
    const why = vscode.l10n.t("This shows what an undo is about; it cannot be edited.");
    super(UNDO, new vscode.MarkdownString(why));
  }

  /**
   * Shows the changes in one editor, each as [file, what it is, from, to]; a state without a file is shown
   * as none. What is shown are the plan's own bytes, which an undo writes or leaves.
   */
  async show(
    title: string,
    changes: readonly (readonly [UndoItem, string, UndoSide, UndoSide])[],
  ): Promise<void> {
    const plan = `${++this.#last}`;
    const list = changes.map(([item, label, from, to], index) => {
      const one = `${plan}.${index}`;
      const [was, will] = [this.#uri(one, item, label, from), this.#uri(one, item, label, to)];
      return [will ?? was ?? vscode.Uri.file(item.path), was, will] as const;
    });
    await vscode.commands.executeCommand("vscode.changes", title, list);
  }

  /** Closes what `show` opened, and forgets the bytes. */
  async close(): Promise<void> {
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => schemeOf(input) === UNDO);
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
    this.#bytes.clear();
  }

  /** The editor heads each change with the name of its file, so what it is goes before the name. */
  #uri(plan: string, item: UndoItem, label: string, side: UndoSide): vscode.Uri | undefined {
    const bytes = item[side];
    if (bytes === null || bytes === undefined) return undefined;
    const query = new URLSearchParams({ plan, side }).toString();
    const named = label === "" ? basename(item.path) : `${label} · ${basename(item.path)}`;
    const uri = vscode.Uri.file(join(dirname(item.path), named)).with({ scheme: UNDO, query });
    this.#bytes.set(uri.toString(), bytes);
    return uri;
  }

  #of(uri: vscode.Uri): Uint8Array {
    const bytes = this.#bytes.get(uri.toString());
    if (bytes === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return bytes;
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { byteLength: size } = this.#of(uri);
    const { File: type } = vscode.FileType;
    return { type, ctime: 0, mtime: 0, size, permissions: vscode.FilePermission.Readonly };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.#of(uri);
  }
}

function schemeOf(input: unknown): string | undefined {
  if (input instanceof vscode.TabInputTextDiff) return input.modified.scheme;
  if (input instanceof vscode.TabInputText) return input.uri.scheme;
  // A list of changes has no class of its own in this API yet; its shape is looked at.
  const diffs: unknown =
    typeof input === "object" && input !== null ? Reflect.get(input, "textDiffs") : [];
  const [first] = Array.isArray(diffs) ? diffs : [];
  return first instanceof vscode.TabInputTextDiff ? first.modified.scheme : undefined;
}
