import * as vscode from "vscode";
import { type Answers, ARM_MS } from "./answers.js";
import { firstChangedLine } from "./firstChange.js";
import { commands, PROPOSED } from "./ids.js";
import { parseProposed } from "./proposed.js";
import type { Sessions } from "./sessions.js";

/** What a command is given that was called for one card from one surface. */
export interface CardArgument {
  readonly card: string;
  readonly surface: "lens";
}

/** The lenses at the first change of a proposal: approve, approve for the session, deny. */
export class ProposedLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #subscriptions: vscode.Disposable[];
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(
    private readonly sessions: Sessions,
    private readonly answers: Answers,
  ) {
    this.#subscriptions = [
      vscode.languages.registerCodeLensProvider({ scheme: PROPOSED }, this),
      sessions.onDidChange(() => this.#changed.fire()),
    ];
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const ref = parseProposed(document.uri);
    const found = ref?.side === "after" ? this.sessions.findCard(ref.card) : undefined;
    if (!found) return [];
    if (!this.answers.isArmed(found.card.card)) {
      // Too new to be answered: the lenses come when it may be.
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#changed.fire();
      }, ARM_MS);
      this.#timers.add(timer);
      return [];
    }
    const before = new TextDecoder().decode(found.card.before ?? new Uint8Array());
    const line = firstChangedLine(
      before.replaceAll("\r\n", "\n"),
      document.getText().replaceAll("\r\n", "\n"),
    );
    const range = new vscode.Range(line, 0, line, 0);
    const argument: CardArgument = { card: found.card.card, surface: "lens" };
    const lens = (title: string, command: string) =>
      new vscode.CodeLens(range, { title, command, arguments: [argument] });
    return [
      lens(vscode.l10n.t("Approve edit"), commands.approveEdit),
      lens(vscode.l10n.t("Approve for this session"), commands.approveForSession),
      lens(vscode.l10n.t("Deny"), commands.deny),
    ];
  }

  dispose(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}
