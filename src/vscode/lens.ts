import * as vscode from "vscode";
import type { OpenCard } from "../core/turn/live.js";
import { type Answers, ARM_MS } from "./answers.js";
import { type ChangeActions, type Changes, changesOf } from "./changes.js";
import type { Edits } from "./edits.js";
import { firstChangedLine } from "./firstChange.js";
import { type CommandId, commands, PROPOSED } from "./ids.js";
import { type ProposedFiles, parseProposed } from "./proposedFiles.js";
import type { Sessions } from "./sessions.js";
import { whiteSpaceChanges } from "./whiteSpace.js";

/** What a command is given that was called for one card, or one change of it, from one surface. */
export interface CardArgument {
  readonly card: string;
  readonly surface: "lens";
  /** From 0, in the order of the proposal. */
  readonly change?: number;
}

/** Changes that get lenses of their own; nobody looks at more one by one. */
const MOST_CHANGES = 200;

/** The lenses of a proposal: its answers at the first change; Keep and Drop at each one. */
export class ProposedLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #subscriptions: vscode.Disposable[];
  readonly #timers = new Set<NodeJS.Timeout>();
  /** What the cards were when the lenses were made last. */
  #cards = "";

  constructor(
    private readonly sessions: Sessions,
    private readonly answers: Answers,
    private readonly files: ProposedFiles,
    private readonly edits: Edits,
    private readonly actions: ChangeActions,
  ) {
    this.#subscriptions = [
      vscode.languages.registerCodeLensProvider({ scheme: PROPOSED }, this),
      sessions.onDidChange(() => this.#reconcile()),
      edits.onDidChange(() => this.#changed.fire()),
      actions.onDidChange(() => this.#changed.fire()),
    ];
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const ref = parseProposed(document.uri);
    const found = ref?.side === "after" ? this.sessions.findCard(ref.card) : undefined;
    if (!found) return [];
    const { card } = found;
    if (!this.answers.isArmed(card.card)) {
      // Too new to be answered: the lenses come when it may be.
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#changed.fire();
      }, ARM_MS);
      this.#timers.add(timer);
      return [];
    }
    const changes = await changesOf(card, document);
    const lenses = [
      ...this.#unmarked(card, document, changes),
      ...this.#answerLenses(card, document),
    ];
    return changes === undefined ? lenses : [...lenses, ...this.#changeLenses(card.card, changes)];
  }

  dispose(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }

  /** Lenses that are drawn anew swallow a click, so that is done only where a card has changed. */
  #reconcile(): void {
    const cards = this.sessions
      .openCards()
      .map(({ card }) => `${card.card} ${card.edit?.event.digest}`)
      .join("\n");
    if (cards === this.#cards) return;
    this.#cards = cards;
    this.#changed.fire();
  }

  #answerLenses(card: OpenCard, document: vscode.TextDocument): vscode.CodeLens[] {
    const before = new TextDecoder().decode(card.before ?? new Uint8Array());
    const text = document.getText();
    const line = firstChangedLine(before.replaceAll("\r\n", "\n"), text.replaceAll("\r\n", "\n"));
    const shown = this.edits.shown(card.card);
    const bytes = "bytes" in shown ? shown.bytes : undefined;
    const isEdited = bytes === undefined || !same(bytes, card.after);
    const nothingLeft =
      bytes !== undefined &&
      (card.before === null ? bytes.length === 0 && isEdited : same(bytes, card.before));
    const lens = (title: string, command: CommandId) => make(line, title, command, card.card);
    const lenses: vscode.CodeLens[] = [];
    const fixed = this.files.fixed(card.card);
    const fault = this.edits.fault(card.card);
    if (fault !== undefined) lenses.push(say(line, `$(warning) ${fault}`));
    else if (nothingLeft)
      lenses.push(
        say(line, vscode.l10n.t("Nothing is left of the proposal")),
        lens(vscode.l10n.t("Deny"), commands.deny),
      );
    else
      lenses.push(
        lens(
          isEdited ? vscode.l10n.t("Approve as edited") : vscode.l10n.t("Approve edit"),
          commands.approveEdit,
        ),
        lens(vscode.l10n.t("Approve for this session"), commands.approveForSession),
        lens(vscode.l10n.t("Deny"), commands.deny),
      );
    if (isEdited) lenses.push(lens(vscode.l10n.t("Revert edits"), commands.revertEdits));
    if (fixed !== undefined)
      lenses.push(say(line, `$(lock) ${vscode.l10n.t("Cannot be edited: {0}", fixed)}`));
    return lenses;
  }

  /** Says what is not marked: a repository's settings decide what a diff editor passes over. */
  #unmarked(
    { card, before }: OpenCard,
    document: vscode.TextDocument,
    changes: Changes | undefined,
  ): vscode.CodeLens[] {
    const shown = this.edits.shown(card);
    if (before === null || "fault" in shown || same(shown.bytes, before)) return [];
    const settings = vscode.workspace.getConfiguration("diffEditor", document);
    if (settings.get<boolean>("ignoreTrimWhitespace") === false) return [];
    const count = whiteSpaceChanges(new TextDecoder().decode(before), document.getText(), changes);
    if (count === 0) return [];
    const text = vscode.l10n.t("White space changes that this editor does not mark: {0}", count);
    return [say(0, `$(warning) ${text}`)];
  }

  #changeLenses(card: string, { fates, lines }: Changes): vscode.CodeLens[] {
    const last = Math.max(0, lines.length - 1);
    return fates.slice(0, MOST_CHANGES).flatMap(({ fate, now }, change) => {
      const line = Math.min(now.at, last);
      const lens = (title: string, command: CommandId) => make(line, title, command, card, change);
      const which = `${change + 1}/${fates.length}`;
      if (fate === "dropped")
        return [
          say(line, vscode.l10n.t("Dropped {0}", which)),
          lens(vscode.l10n.t("Put back"), commands.putChangeBack),
        ];
      const kept = this.actions.isKept(card, change);
      return [
        kept
          ? say(line, vscode.l10n.t("$(check) Kept {0}", which))
          : lens(vscode.l10n.t("Keep {0}", which), commands.keepChange),
        lens(vscode.l10n.t("Drop"), commands.dropChange),
      ];
    });
  }
}

function same(a: Uint8Array, b: Uint8Array | null): boolean {
  return b !== null && Buffer.compare(a, b) === 0;
}

function say(line: number, title: string): vscode.CodeLens {
  return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command: "" });
}

function make(
  line: number,
  title: string,
  command: CommandId,
  card: string,
  change?: number,
): vscode.CodeLens {
  const argument: CardArgument = {
    card,
    surface: "lens",
    ...(change === undefined ? {} : { change }),
  };
  const range = new vscode.Range(line, 0, line, 0);
  return new vscode.CodeLens(range, { title, command, arguments: [argument] });
}
