import * as vscode from "vscode";
import { digest } from "../core/workspace/digest.js";
import { hasLoneSurrogate } from "../core/workspace/show.js";
import { type ProposedFiles, parseProposed } from "./proposedFiles.js";
import type { Sessions } from "./sessions.js";

/** Typing rests for this long before the card is given the text, in milliseconds. */
const REST_MS = 400;
const BOM = "\ufeff";

/** What the right side of a card shows, or why that cannot be written. */
export type Shown =
  | { readonly bytes: Uint8Array; readonly digest: string }
  | { readonly fault: string };

/** The exact bytes that a document shows, or why it does not show bytes that could be written. */
function bytesOf(document: vscode.TextDocument): Uint8Array | { readonly fault: string } {
  const { encoding } = document;
  if (encoding !== "utf8" && encoding !== "utf8bom") {
    return {
      fault: vscode.l10n.t(
        "The proposal is shown as {0}, and is written as UTF-8. Reopen it with the encoding UTF-8 first.",
        encoding,
      ),
    };
  }
  const text = document.getText();
  if (hasLoneSurrogate(text)) {
    return { fault: vscode.l10n.t("The edited text holds half a character. Take it out first.") };
  }
  return Buffer.from(encoding === "utf8bom" ? BOM + text : text, "utf8");
}

/**
 * What is typed on the right side goes to the card: after a rest, and before any answer. Each change
 * is saved in memory at once, so that a tab never asks whether to save.
 */
export class Edits implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #faults = new Map<string, string>();
  readonly #saving = new Set<string>();
  readonly #subscriptions: vscode.Disposable[];
  /** Something that a lens says has changed. */
  readonly onDidChange = this.#changed.event;

  constructor(
    private readonly sessions: Sessions,
    private readonly files: ProposedFiles,
    private readonly report: (message: string) => void,
  ) {
    this.#subscriptions = [
      vscode.workspace.onDidOpenTextDocument((document) => this.#opened(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        const ref = parseProposed(document.uri);
        if (ref?.side !== "after") return;
        this.#schedule(ref.card);
        void this.#save(document);
      }),
      files.onDidWrite((card) => this.#schedule(card)),
    ];
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }

  /** The open document of the right side. */
  document(card: string): vscode.TextDocument | undefined {
    return vscode.workspace.textDocuments.find(({ uri, isClosed }) => {
      const ref = isClosed ? undefined : parseProposed(uri);
      return ref?.card === card && ref.side === "after";
    });
  }

  /** Why what the right side shows cannot be written, or undefined. */
  fault(card: string): string | undefined {
    return this.#faults.get(card);
  }

  /** What the right side shows in this moment. */
  shown(card: string): Shown {
    const document = this.files.fixed(card) === undefined ? this.document(card) : undefined;
    const bytes = document === undefined ? this.files.right(card) : bytesOf(document);
    if (bytes === undefined) return { fault: vscode.l10n.t("This card is not open any more.") };
    return "fault" in bytes ? bytes : { bytes, digest: digest(bytes) };
  }

  /**
   * Gives the card what its right side shows when this is called. Its digest when the card has it,
   * or why it cannot have it.
   */
  async push(card: string): Promise<{ readonly digest: string } | { readonly fault: string }> {
    clearTimeout(this.#timers.get(card));
    this.#timers.delete(card);
    const shown = this.shown(card);
    const found = this.sessions.findCard(card);
    if ("fault" in shown || found === undefined) {
      return this.#told(card, "fault" in shown ? shown : { digest: shown.digest });
    }
    const outcome = await found.opened.live.editCard(card, shown.bytes);
    return this.#told(
      card,
      outcome.outcome === "refused" ? { fault: outcome.message } : { digest: shown.digest },
    );
  }

  /** Brings the proposal back; in an open editor that can be undone like any other change. */
  async revert(card: string): Promise<void> {
    const found = this.sessions.findCard(card);
    const after = found?.card.after;
    if (found === undefined || after == null) return;
    const document = this.document(card);
    if (document !== undefined) {
      const text = Buffer.from(after).toString("utf8");
      const whole = new vscode.Range(0, 0, document.lineCount, 0);
      const edit = new vscode.WorkspaceEdit();
      edit.set(document.uri, [
        vscode.TextEdit.replace(whole, text.startsWith(BOM) ? text.slice(1) : text),
        vscode.TextEdit.setEndOfLine(
          text.includes("\r\n") ? vscode.EndOfLine.CRLF : vscode.EndOfLine.LF,
        ),
      ]);
      await vscode.workspace.applyEdit(edit);
      await this.#save(document);
      const shown = await this.push(card);
      if ("digest" in shown && shown.digest === digest(after)) return;
    }
    await found.opened.live.revertCard(card);
    this.files.put(card, after);
  }

  #told<T extends { digest: string } | { fault: string }>(card: string, result: T): T {
    const fault = "fault" in result ? result.fault : undefined;
    if (fault !== this.#faults.get(card)) {
      if (fault === undefined) this.#faults.delete(card);
      else this.#faults.set(card, fault);
      this.#changed.fire();
    }
    return result;
  }

  #schedule(card: string): void {
    clearTimeout(this.#timers.get(card));
    const push = () => {
      this.push(card).catch((error: Error) => this.report(`an edit was not taken: ${error.stack}`));
    };
    this.#timers.set(card, setTimeout(push, REST_MS));
  }

  /** An editor that does not show the bytes as they are must not write what it shows. */
  #opened(document: vscode.TextDocument): void {
    const ref = parseProposed(document.uri);
    const right = ref?.side === "after" ? this.files.right(ref.card) : undefined;
    if (ref === undefined || right === undefined || document.isDirty) return;
    const bytes = bytesOf(document);
    if ("fault" in bytes) return;
    if (Buffer.compare(bytes, right) !== 0) {
      this.files.fix(ref.card, vscode.l10n.t("the editor does not show it byte for byte."));
    }
  }

  /** Saves without anything that would format the text behind the user's back. */
  async #save(document: vscode.TextDocument): Promise<void> {
    const key = document.uri.toString();
    if (!document.isDirty || this.#saving.has(key)) return;
    this.#saving.add(key);
    try {
      // By the version: once an older text is saved, `isDirty` is false for a newer one too. A save
      // that failed is not tried again before the text changes.
      for (let version = -1; document.version !== version && !document.isClosed; ) {
        version = document.version;
        const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
        const inFront =
          input instanceof vscode.TabInputTextDiff && input.modified.toString() === key;
        if (inFront) {
          await vscode.commands.executeCommand("workbench.action.files.saveWithoutFormatting");
        } else await document.save();
      }
    } finally {
      this.#saving.delete(key);
    }
  }
}
