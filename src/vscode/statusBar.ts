import * as vscode from "vscode";
import { commands } from "./ids.js";
import type { Sessions } from "./sessions.js";

/** One item: idle, running with its time, or a card that waits. A click goes to the card. */
export class StatusBar implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem(
    "countersign.status",
    vscode.StatusBarAlignment.Right,
    100,
  );
  readonly #subscription: vscode.Disposable;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly sessions: Sessions) {
    this.#item.name = "Countersign";
    this.#subscription = sessions.onDidChange(() => this.#draw());
    this.#draw();
    this.#item.show();
  }

  dispose(): void {
    clearInterval(this.#timer);
    this.#subscription.dispose();
    this.#item.dispose();
  }

  #draw(): void {
    const cards = this.sessions.openCards().length;
    const question = this.sessions.all.some(({ live }) => live.openQuestion !== undefined);
    const running = this.sessions.all.find(({ live }) => live.state === "running");
    this.#item.backgroundColor =
      cards > 0 || question ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    if (cards > 0) {
      this.#item.text = `$(bell-dot) ${vscode.l10n.t("Approve")}`;
      this.#item.tooltip =
        cards === 1
          ? vscode.l10n.t("Countersign: a card waits for your answer")
          : vscode.l10n.t("Countersign: {0} cards wait for your answer", cards);
      this.#item.command = commands.nextCard;
    } else if (question) {
      this.#item.text = `$(question) ${vscode.l10n.t("Answer")}`;
      this.#item.tooltip = vscode.l10n.t("Countersign: a question waits for your answer");
      this.#item.command = commands.focusLastMessage;
    } else {
      const since = running?.tracker.since;
      this.#item.text = running
        ? `$(loading~spin) ${elapsed(since ? Date.now() - Date.parse(since) : 0)}`
        : "$(pass) Countersign";
      this.#item.tooltip = running
        ? vscode.l10n.t("Countersign: running")
        : vscode.l10n.t("Countersign: idle");
      this.#item.command = commands.focusLastMessage;
    }
    const ticks = running !== undefined && cards === 0 && !question;
    if (!ticks) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    } else this.#timer ??= setInterval(() => this.#draw(), 1_000);
  }
}

function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
