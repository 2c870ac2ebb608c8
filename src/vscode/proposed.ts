import * as path from "node:path";
import * as vscode from "vscode";
import { visible } from "../core/gate/visible.js";
import type { OpenCard } from "../core/turn/live.js";
import { PROPOSED } from "./ids.js";
import type { Opened, Sessions } from "./sessions.js";
import { opensDiff } from "./settings.js";

/** What a document of our scheme is: one side of one card. */
export interface ProposedRef {
  readonly card: string;
  readonly side: "before" | "after";
}

/** The card and side that a URI of our scheme names, or undefined. */
export function parseProposed(uri: vscode.Uri): ProposedRef | undefined {
  if (uri.scheme !== PROPOSED) return undefined;
  const query = new URLSearchParams(uri.query);
  const card = query.get("card");
  const side = query.get("side");
  if (!card || (side !== "before" && side !== "after")) return undefined;
  return { card, side };
}

/** The real path is in the URI, so that the language is recognised; never the content. */
function proposedUri(card: OpenCard, side: ProposedRef["side"]): vscode.Uri {
  const query = new URLSearchParams({ card: card.card, side }).toString();
  return vscode.Uri.file(card.event.path ?? path.sep).with({ scheme: PROPOSED, query });
}

/**
 * The native diff editors: left the bytes that a card was made from, right those it proposes, both
 * read-only. A tab belongs to one card, and only that card's end closes it.
 */
export class Proposals implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #files = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #cards = new Map<string, OpenCard>();
  readonly #subscriptions: vscode.Disposable[];
  readonly onDidChangeFile = this.#files.event;

  constructor(
    private readonly sessions: Sessions,
    /** Whether a tab may come to the front: not while someone types in an editor. */
    private readonly mayShow: () => boolean,
  ) {
    this.#subscriptions = [
      vscode.workspace.registerFileSystemProvider(PROPOSED, this, {
        isReadonly: new vscode.MarkdownString(
          vscode.l10n.t("This is a proposal. Approve or deny it; it cannot be edited."),
        ),
        isCaseSensitive: true,
      }),
      sessions.onDidChange(() => void this.#reconcile()),
    ];
    void this.#reconcile();
  }

  /** Opens the card's diff because the user asked for it. */
  async open(card: string): Promise<void> {
    const found = this.sessions.findCard(card);
    if (found?.card.event.kind === "write") await this.#show(found.card, { preserveFocus: false });
  }

  /** The card whose diff is in the active tab. */
  active(): string | undefined {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    return input instanceof vscode.TabInputTextDiff
      ? parseProposed(input.modified)?.card
      : undefined;
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#files.dispose();
  }

  async #reconcile(): Promise<void> {
    const open = new Map(
      this.sessions
        .openCards()
        .filter(({ card }) => card.event.kind === "write")
        .map((found) => [found.card.card, found] as const),
    );
    await this.#close((card) => !open.has(card));
    for (const id of this.#cards.keys()) if (!open.has(id)) this.#cards.delete(id);
    for (const [id, { card, opened }] of open) {
      if (this.#cards.has(id)) continue;
      this.#cards.set(id, card);
      if (opensDiff() && this.#isOfInterest(opened))
        await this.#show(card, { preserveFocus: true, background: !this.mayShow() });
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
    this.#cards.set(card.card, card);
    const name = visible(card.event.relative ?? card.event.path ?? "");
    await vscode.commands.executeCommand(
      "vscode.diff",
      proposedUri(card, "before"),
      proposedUri(card, "after"),
      vscode.l10n.t("{0} (proposed)", name),
      { preview: false, ...options },
    );
  }

  /** Closes the tabs of the cards that `gone` says are gone, and no other. */
  async #close(gone: (card: string) => boolean): Promise<void> {
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter((tab) => {
        const { input } = tab;
        const ref =
          input instanceof vscode.TabInputTextDiff
            ? parseProposed(input.modified)
            : input instanceof vscode.TabInputText
              ? parseProposed(input.uri)
              : undefined;
        return ref !== undefined && gone(ref.card);
      });
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
  }

  #bytes(uri: vscode.Uri): Uint8Array {
    const ref = parseProposed(uri);
    const card = ref ? this.#cards.get(ref.card) : undefined;
    if (!ref || !card) throw vscode.FileSystemError.FileNotFound(uri);
    return (ref.side === "before" ? card.before : card.after) ?? new Uint8Array();
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    return {
      type: vscode.FileType.File,
      ctime: 0,
      mtime: 0,
      size: this.#bytes(uri).byteLength,
      permissions: vscode.FilePermission.Readonly,
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.#bytes(uri);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {});
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  writeFile(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
}
