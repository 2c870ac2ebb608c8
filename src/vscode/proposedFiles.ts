import { isUtf8 } from "node:buffer";
import * as path from "node:path";
import * as vscode from "vscode";
import { whyFixed } from "../core/gate/fixed.js";
import type { OpenCard } from "../core/turn/live.js";
import { FlatFiles } from "./flatFiles.js";
import { PROPOSED } from "./ids.js";

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
export function proposedUri(card: OpenCard, side: ProposedRef["side"]): vscode.Uri {
  const query = new URLSearchParams({ card: card.card, side }).toString();
  return vscode.Uri.file(card.event.path ?? path.sep).with({ scheme: PROPOSED, query });
}

interface Held {
  readonly card: OpenCard;
  /** What the right side holds: the proposal, or what became of it in the editor. */
  right: Uint8Array;
  mtime: number;
  /** Why the right side is read-only. */
  fixed: string | undefined;
  /** The card is gone: what an editor still saves is for nobody. */
  ended: boolean;
}

/**
 * Both sides of each card as files in memory: the left one read-only, the right one to be edited
 * where it comes back from an editor byte for byte. Nothing here touches a disk or the gate.
 */
export class ProposedFiles extends FlatFiles {
  readonly #written = new vscode.EventEmitter<string>();
  readonly #held = new Map<string, Held>();
  /** The right side of this card was saved. */
  readonly onDidWrite = this.#written.event;

  constructor() {
    super(PROPOSED);
  }

  override dispose(): void {
    super.dispose();
    this.#written.dispose();
  }

  get cards(): readonly string[] {
    return [...this.#held.keys()];
  }

  hold(card: OpenCard): void {
    if (this.#held.has(card.card)) return;
    const right = card.edit?.after ?? card.after ?? new Uint8Array();
    const fixed = whyFixed(card.after ?? right);
    this.#held.set(card.card, { card, right, mtime: 1, fixed, ended: false });
  }

  /** The card is gone: its right side takes whatever an editor saves there, until it is released. */
  end(card: string): void {
    const held = this.#held.get(card);
    if (held !== undefined) held.ended = true;
  }

  release(card: string): void {
    this.#held.delete(card);
  }

  right(card: string): Uint8Array | undefined {
    return this.#held.get(card)?.right;
  }

  /** Why the right side cannot be edited, or undefined. */
  fixed(card: string): string | undefined {
    return this.#held.get(card)?.fixed;
  }

  /** Makes the right side read-only from here on. */
  fix(card: string, why: string): void {
    const held = this.#held.get(card);
    if (held === undefined || held.fixed !== undefined) return;
    held.fixed = why;
    this.#changed(held);
  }

  /** Puts other bytes on the right side; an editor that has it open shows them. */
  put(card: string, bytes: Uint8Array): void {
    const held = this.#held.get(card);
    if (held === undefined || Buffer.compare(held.right, bytes) === 0) return;
    held.right = bytes;
    this.#changed(held);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { held, side } = this.#find(uri);
    const stat = { type: vscode.FileType.File, ctime: 0, size: this.readFile(uri).byteLength };
    return side === "after" && held.fixed === undefined
      ? { ...stat, mtime: held.mtime }
      : { ...stat, mtime: held.mtime, permissions: vscode.FilePermission.Readonly };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    const { held, side } = this.#find(uri);
    return side === "before" ? (held.card.before ?? new Uint8Array()) : held.right;
  }

  override writeFile(uri: vscode.Uri, content: Uint8Array): void {
    const { held, side } = this.#find(uri);
    if (side === "after" && held.ended) {
      held.mtime += 1;
      return;
    }
    if (side === "before" || held.fixed !== undefined) {
      throw vscode.FileSystemError.NoPermissions(uri);
    }
    if (!isUtf8(content)) {
      throw vscode.FileSystemError.NoPermissions(
        vscode.l10n.t("A proposal is edited and written as UTF-8."),
      );
    }
    held.right = Uint8Array.from(content);
    held.mtime += 1;
    this.#written.fire(held.card.card);
  }

  #find(uri: vscode.Uri): { held: Held; side: ProposedRef["side"] } {
    const ref = parseProposed(uri);
    const held = ref ? this.#held.get(ref.card) : undefined;
    if (!ref || !held) throw vscode.FileSystemError.FileNotFound(uri);
    return { held, side: ref.side };
  }

  #changed(held: Held): void {
    held.mtime += 1;
    this.changed(proposedUri(held.card, "after"));
  }
}
