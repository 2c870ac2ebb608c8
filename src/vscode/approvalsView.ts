import type * as vscode from "vscode";
import type { FromPanel, ToPanel } from "../webview/protocol.js";
import { setPage } from "./page.js";
import { projectCard, projectEdit } from "./project.js";
import { received } from "./received.js";
import type { Sessions } from "./sessions.js";
import { panelTexts } from "./texts.js";

/** The open cards of every open session. */
export class ApprovalsView implements vscode.WebviewViewProvider, vscode.Disposable {
  #view: vscode.WebviewView | undefined;
  #sent = "";
  readonly #subscription: vscode.Disposable;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly sessions: Sessions,
    private readonly act: (message: FromPanel) => Promise<void>,
  ) {
    this.#subscription = sessions.onDidChange(() => this.#send());
  }

  /** VS Code's view, once it has been shown. */
  get view(): vscode.WebviewView | undefined {
    return this.#view;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    view.webview.onDidReceiveMessage(async (raw: unknown) => {
      const message = await received(raw);
      if (!message || this.#view !== view) return;
      if (message.type === "ready") this.#sendAnew();
      else void this.act(message);
    });
    view.onDidChangeVisibility(() => this.#sendAnew());
    view.onDidDispose(() => {
      if (this.#view === view) this.#view = undefined;
    });
    setPage(view.webview, this.extension);
    this.#send();
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  /** Sends even what was sent before: a message to a hidden page is lost. */
  #sendAnew(): void {
    this.#sent = "";
    this.#send();
  }

  #send(): void {
    const view = this.#view;
    if (!view) return;
    const open = this.sessions.openCards();
    const message: ToPanel = {
      type: "approvals",
      texts: { ...panelTexts() },
      cards: open.map(({ opened, card }) => ({
        session: opened.live.id,
        title: opened.live.title,
        event: projectCard(card.event),
        ...(card.edit === undefined ? {} : { edit: projectEdit(card.edit.event) }),
        changed: opened.tracker.marks.get(card.card)?.changed === true,
        unsaved: opened.tracker.marks.get(card.card)?.unsaved === true,
        others: [...(card.others ?? [])],
      })),
    };
    const text = JSON.stringify(message);
    if (text === this.#sent) return;
    this.#sent = text;
    void view.webview.postMessage(message);
  }
}
