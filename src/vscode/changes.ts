import * as vscode from "vscode";
import type { ChangeFate, LineRange } from "../core/gate/fates.js";
import { whyFixed } from "../core/gate/fixed.js";
import type { OpenCard } from "../core/turn/live.js";
import type { Edits } from "./edits.js";
import type { Sessions } from "./sessions.js";

/** The changes of a proposal as its right side has them now. */
export interface Changes {
  readonly fates: readonly ChangeFate[];
  readonly before: readonly string[];
  readonly proposed: readonly string[];
  /** Lines of the document, with their ends. */
  readonly lines: readonly string[];
}

const BOM = "\ufeff";

function lineEnd(text: string): "\n" | "\r\n" | undefined {
  if (!text.includes("\n")) return undefined;
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/**
 * The changes of a proposal one by one, or undefined where they cannot be taken out one by one: a
 * new file, bytes that an editor would change, line ends or a BOM that change throughout.
 */
export async function changesOf(
  card: OpenCard,
  document: vscode.TextDocument,
): Promise<Changes | undefined> {
  const { before, after } = card;
  if (before === null || after === null) return undefined;
  if (whyFixed(before) !== undefined || whyFixed(after) !== undefined) return undefined;
  const old = Buffer.from(before).toString("utf8");
  const proposed = Buffer.from(after).toString("utf8");
  if (old.startsWith(BOM) !== proposed.startsWith(BOM)) return undefined;
  const text = document.getText();
  const ends = new Set([old, proposed, text].map(lineEnd).filter((end) => end !== undefined));
  if (ends.size > 1) return undefined;
  const bare = (one: string) => (one.startsWith(BOM) ? one.slice(1) : one);
  const texts = [bare(old), bare(proposed), text] as const;
  const [a, b, c] = texts.map((one) => Buffer.from(one, "utf8"));
  if (a === undefined || b === undefined || c === undefined) return undefined;
  // Loaded when first used: what compares lines is none of what activation needs.
  const { fatesOf, splitLines } = await import("../core/gate/fates.js");
  return {
    fates: await fatesOf(a, b, c),
    before: splitLines(texts[0]),
    proposed: splitLines(texts[1]),
    lines: splitLines(text),
  };
}

function rangeOf(
  document: vscode.TextDocument,
  lines: readonly string[],
  { at, count }: LineRange,
): vscode.Range {
  const length = (some: readonly string[]) => some.reduce((sum, line) => sum + line.length, 0);
  const start = length(lines.slice(0, at));
  const end = start + length(lines.slice(at, at + count));
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}

/** Keep, Drop and Put Back, each for one change of one card, by its number from 0. */
export class ChangeActions implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  /** Changes that the user has looked at and kept, by card. */
  readonly #kept = new Map<string, Set<number>>();
  readonly onDidChange = this.#changed.event;

  constructor(
    private readonly sessions: Sessions,
    private readonly edits: Edits,
  ) {}

  dispose(): void {
    this.#changed.dispose();
  }

  isKept(card: string, change: number): boolean {
    return this.#kept.get(card)?.has(change) === true;
  }

  /** Marks a change as looked at and goes to the next one that is not. */
  async keep(card: string, change: number): Promise<void> {
    const kept = this.#kept.get(card) ?? new Set();
    this.#kept.set(card, kept.add(change));
    this.#changed.fire();
    const found = await this.#find(card);
    if (found === undefined) return;
    const { fates } = found.changes;
    const order = fates.map((_, index) => (change + 1 + index) % fates.length);
    const next = order.find((index) => !kept.has(index) && fates[index]?.fate !== "dropped");
    const line = next === undefined ? undefined : fates[next]?.now.at;
    const editor = vscode.window.activeTextEditor;
    if (line === undefined || editor?.document !== found.document) return;
    const position = new vscode.Position(Math.min(line, found.document.lineCount - 1), 0);
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(
      new vscode.Range(position, position),
      vscode.TextEditorRevealType.InCenterIfOutsideViewport,
    );
  }

  /** Takes a change out of the right side: the lines of the file as it is stand there again. */
  async drop(card: string, change: number): Promise<void> {
    await this.#replace(card, change, ({ before }, fate) =>
      fate.fate === "dropped" ? undefined : take(before, fate.instead),
    );
  }

  /** Brings a dropped change back as it was proposed. */
  async putBack(card: string, change: number): Promise<void> {
    await this.#replace(card, change, ({ proposed }, fate) =>
      fate.fate === "dropped" ? take(proposed, fate.proposed) : undefined,
    );
  }

  /** The change in which, or next before which, a line (from 0) of the right side is. */
  async at(card: string, line: number): Promise<number | undefined> {
    const fates = (await this.#find(card))?.changes.fates ?? [];
    const at = fates.findLastIndex(({ now }) => now.at <= line);
    return fates.length === 0 ? undefined : Math.max(0, at);
  }

  async #replace(
    card: string,
    change: number,
    by: (changes: Changes, fate: ChangeFate) => string | undefined,
  ): Promise<void> {
    const found = await this.#find(card);
    const fate = found?.changes.fates[change];
    if (found === undefined || fate === undefined) return;
    const { document, changes, version } = found;
    const text = by(changes, fate);
    // Lines that were counted in another text than the one there is now are not replaced.
    if (text === undefined || document.version !== version) return;
    this.#kept.get(card)?.delete(change);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, rangeOf(document, changes.lines, fate.now), text);
    await vscode.workspace.applyEdit(edit);
    await this.edits.push(card);
  }

  async #find(card: string) {
    const found = this.sessions.findCard(card);
    const document = this.edits.document(card);
    if (found === undefined || document === undefined) return undefined;
    const { version } = document;
    const changes = await changesOf(found.card, document);
    return changes === undefined ? undefined : { document, changes, version };
  }
}

function take(lines: readonly string[], { at, count }: LineRange): string {
  return lines.slice(at, at + count).join("");
}
