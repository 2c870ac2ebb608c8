import { isUtf8 } from "node:buffer";
import * as vscode from "vscode";
import { visible } from "../core/gate/visible.js";
import type { OpenCard } from "../core/turn/live.js";
import { type ProposedFiles, parseProposed, proposedUri } from "./proposedFiles.js";
import type { Opened, Sessions } from "./sessions.js";
import { opensDiff } from "./settings.js";

/**
 * The native diff editors: left the bytes that a card was made from, right what would be written,
 * to be edited. A tab belongs to one card, and only that card's end closes it.
 */
export class Proposals implements vscode.Disposable {
  readonly #subscriptions: readonly vscode.Disposable[];
  #reconciling: Promise<void> = Promise.resolve();
  #again = false;

  constructor(
    private readonly sessions: Sessions,
    private readonly files: ProposedFiles,
    /** Whether a tab may come to the front: not while someone types in an editor. */
    private readonly mayShow: () => boolean,
    private readonly report: (message: string) => void,
  ) {
    this.#subscriptions = [
      sessions.onDidChange(() => this.#update()),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (parseProposed(uri) !== undefined) this.#update();
      }),
    ];
    this.#update();
  }

  /** Opens the card's diff because the user asked for it; false where there is no such card. */
  async open(card: string): Promise<boolean> {
    const found = this.sessions.findCard(card);
    if (found?.card.event.kind !== "write") return false;
    await this.#show(found.card, { preserveFocus: false });
    return true;
  }

  /** The card whose diff is in the active tab. */
  active(): string | undefined {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const right = after(input);
    const card = right && parseProposed(right)?.card;
    return card !== undefined && this.inView(card) ? card : undefined;
  }

  /** Whether what a yes to this card would write is on the screen, in an editor of its own. */
  inView(card: string): boolean {
    const found = this.sessions.findCard(card);
    if (found === undefined) return false;
    const right = proposedUri(found.card, "after").toString();
    return vscode.window.tabGroups.all.some(
      ({ activeTab }) => after(activeTab?.input)?.toString() === right,
    );
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** Once more, one after the other: a tab that one closes must not be there for another to close. */
  #update(): void {
    if (this.#again) return;
    this.#again = true;
    this.#reconciling = this.#reconciling
      .then(() => {
        this.#again = false;
        return this.#reconcile();
      })
      .catch(this.#fault);
  }

  readonly #fault = (error: Error): void => {
    this.report(`the tabs of the proposals are not as they should be: ${error.stack}`);
  };

  async #reconcile(): Promise<void> {
    const open = new Map(
      this.sessions
        .openCards()
        .filter(({ card }) => card.event.kind === "write")
        .map((found) => [found.card.card, found] as const),
    );
    const known = new Set(this.files.cards);
    for (const { card } of open.values()) this.files.hold(card);
    for (const id of known) if (!open.has(id)) this.files.end(id);
    // A tab that stays is no reason not to show what has come up.
    await this.#close((card) => !open.has(card)).catch(this.#fault);
    // Not while a document is left: one that cannot be saved comes up again, and asks.
    const left = new Set(vscode.workspace.textDocuments.map(({ uri }) => parseProposed(uri)?.card));
    for (const id of known) if (!open.has(id) && !left.has(id)) this.files.release(id);
    for (const [id, { card, opened }] of open) {
      if (known.has(id)) continue;
      if (!opensDiff() || !this.#isOfInterest(opened)) continue;
      const options = { preserveFocus: true, background: !this.mayShow() };
      // One that cannot be shown is no reason not to show the next.
      await this.#show(card, options).catch(this.#fault);
    }
  }

  /** Only the session that the chat shows opens tabs by itself. */
  #isOfInterest(opened: Opened): boolean {
    return this.sessions.shown === opened;
  }

  async #show(
    card: OpenCard,
    options: { preserveFocus: boolean; background?: boolean },
  ): Promise<void> {
    this.files.hold(card);
    await this.#load(card, "before", card.before);
    await this.#load(card, "after", card.after);
    const name = visible(card.event.relative ?? card.event.path ?? "");
    await vscode.commands.executeCommand(
      "vscode.diff",
      proposedUri(card, "before"),
      proposedUri(card, "after"),
      vscode.l10n.t("{0} (proposed)", name),
      { preview: false, ...options },
    );
  }

  /** As UTF-8 where it is that, whatever `files.encoding` says: what is typed is written as UTF-8. */
  async #load(card: OpenCard, side: "before" | "after", bytes: Uint8Array | null): Promise<void> {
    if (bytes === null || !isUtf8(bytes)) return;
    try {
      await vscode.workspace.openTextDocument(proposedUri(card, side), { encoding: "utf8" });
    } catch {
      // Open already, in an encoding that the user chose.
    }
  }

  /** Closes the tabs of the cards that `gone` says are gone, and no other. */
  async #close(gone: (card: string) => boolean): Promise<void> {
    const isGone = (uri: vscode.Uri): boolean => {
      const ref = parseProposed(uri);
      return ref !== undefined && gone(ref.card);
    };
    const tabs = () =>
      vscode.window.tabGroups.all
        .flatMap((group) => group.tabs)
        .filter(({ input }) => {
          if (input instanceof vscode.TabInputTextDiff) return isGone(input.modified);
          return input instanceof vscode.TabInputText && isGone(input.uri);
        });
    if (tabs().length === 0) return;
    // What was typed while the answer was on its way is saved, so that its tab does not ask. Whether or
    // not it is dirty: once an older text is saved, `isDirty` is false for a newer one too.
    for (const document of vscode.workspace.textDocuments) {
      if (parseProposed(document.uri)?.side === "after" && isGone(document.uri))
        await Promise.resolve(document.save()).catch(() => false);
    }
    // The user may have closed some of them by now.
    const left = tabs();
    if (left.length > 0) await vscode.window.tabGroups.close(left, true);
  }
}

/** What a tab shows as what would be written: a diff's right side, or a text by itself. */
function after(input: unknown): vscode.Uri | undefined {
  if (input instanceof vscode.TabInputTextDiff) return input.modified;
  return input instanceof vscode.TabInputText ? input.uri : undefined;
}
