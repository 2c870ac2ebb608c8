import { realpathSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Core } from "../core/turn/live.js";
import type { Sessions } from "./sessions.js";

/** The file's path after every symlink, as the core names it. */
function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** Real paths of the files that the editor holds with unsaved changes. */
export function unsaved(): ReadonlySet<string> {
  return new Set(
    vscode.workspace.textDocuments
      .filter((document) => document.isDirty && document.uri.scheme === "file")
      .map((document) => real(document.uri.fsPath)),
  );
}

/** The open document of a real path that has unsaved changes. */
export function unsavedDocument(file: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(
    (document) =>
      document.isDirty && document.uri.scheme === "file" && real(document.uri.fsPath) === file,
  );
}

/** Watches the files of open cards, on disk and in the editor, and tells the core. */
export class CardFiles implements vscode.Disposable {
  readonly #watchers = new Map<string, vscode.Disposable>();
  readonly #dirty = new Set<string>();
  #cards: ReadonlySet<string> = new Set();
  readonly #subscriptions: vscode.Disposable[];

  constructor(
    private readonly core: Core,
    private readonly sessions: Sessions,
  ) {
    const tell = (document: vscode.TextDocument) => {
      if (document.uri.scheme === "file" && this.#watchers.size > 0)
        core.filesChanged([real(document.uri.fsPath)]);
    };
    this.#subscriptions = [
      sessions.onDidChange(() => this.#reconcile()),
      vscode.workspace.onDidSaveTextDocument((document) => {
        this.#dirty.delete(document.uri.toString());
        tell(document);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        const key = document.uri.toString();
        if (document.isDirty === this.#dirty.has(key)) return;
        if (document.isDirty) this.#dirty.add(key);
        else this.#dirty.delete(key);
        tell(document);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (this.#dirty.delete(document.uri.toString())) tell(document);
      }),
    ];
  }

  dispose(): void {
    for (const watcher of this.#watchers.values()) watcher.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #reconcile(): void {
    const open = this.sessions.openCards();
    const wanted = new Set(
      open.flatMap(({ card }) =>
        card.event.kind === "write" && card.event.path !== undefined ? [card.event.path] : [],
      ),
    );
    for (const [file, watcher] of this.#watchers)
      if (!wanted.has(file)) {
        watcher.dispose();
        this.#watchers.delete(file);
      }
    for (const file of wanted)
      if (!this.#watchers.has(file)) this.#watchers.set(file, this.#watch(file));
    // The core tells of what becomes unsaved; what was so when the card went up is told from here.
    const before = this.#cards;
    this.#cards = new Set(open.map(({ card }) => card.card));
    const held = unsaved();
    for (const { opened, card } of open) {
      const { path: file } = card.event;
      if (!before.has(card.card) && file !== undefined && held.has(file))
        this.sessions.markUnsaved(opened, card.card);
    }
  }

  #watch(file: string): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(vscode.Uri.file(path.dirname(file)), glob(path.basename(file))),
    );
    const changed = () => this.core.filesChanged([file]);
    watcher.onDidChange(changed);
    watcher.onDidCreate(changed);
    watcher.onDidDelete(changed);
    return watcher;
  }
}

/** A name as a pattern that matches it alone: what a pattern takes as special becomes a class. */
function glob(name: string): string {
  return name.replace(/[*?{}[\],!]/g, (special) => `[${special}]`);
}
