import * as vscode from "vscode";
import type { Sessions } from "./sessions.js";

type Views = () => readonly (vscode.WebviewView | undefined)[];

/**
 * The number of open cards, on the first of the views that VS Code has made: it makes none that was
 * never unfolded, and a card that waits must show all the same.
 */
export class Badge implements vscode.Disposable {
  readonly #subscription: vscode.Disposable;

  constructor(
    private readonly sessions: Sessions,
    private readonly views: Views,
  ) {
    this.#subscription = sessions.onDidChange(() => this.update());
  }

  /** Draws it anew: a card came or went, or a view has come up. */
  update(): void {
    const cards = this.sessions.openCards().length;
    const [first, ...others] = this.views().filter((view) => view !== undefined);
    for (const view of others) view.badge = undefined;
    if (first !== undefined) first.badge = cards === 0 ? undefined : badgeOf(cards);
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

function badgeOf(cards: number): vscode.ViewBadge {
  return {
    value: cards,
    tooltip: cards === 1 ? vscode.l10n.t("A card waits") : vscode.l10n.t("{0} cards wait", cards),
  };
}
