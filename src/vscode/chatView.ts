import * as vscode from "vscode";
import { DELTA_BATCH_MS } from "../core/limits.js";
import type { FromPanel, Part, ToPanel } from "../webview/protocol.js";
import { SNAPSHOT_EVENTS } from "../webview/sizes.js";
import type { Drafts } from "./drafts.js";
import { contexts, views } from "./ids.js";
import type { ModelService } from "./models/service.js";
import { setPage } from "./page.js";
import { project, projectWhole } from "./project.js";
import { expectMessages, received } from "./received.js";
import type { Sessions } from "./sessions.js";
import { statusOf } from "./status.js";
import { panelTexts } from "./texts.js";

type Reveal = Extract<ToPanel, { type: "reveal" }>;

/** The chat: one session's events and deltas to its page, and the page's wishes to the shell. */
export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  #view: vscode.WebviewView | undefined;
  #ready = false;
  #n = 0;
  #parts: Part[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sent = "";
  #reveal: Reveal | undefined;
  #focused = false;
  readonly #subscriptions: vscode.Disposable[];

  /** `act` does what a message asks for; it is never called with one that does not parse. */
  constructor(
    private readonly extension: vscode.Uri,
    private readonly sessions: Sessions,
    private readonly models: ModelService,
    private readonly drafts: Drafts,
    private readonly act: (message: FromPanel) => Promise<void>,
  ) {
    this.#subscriptions = [
      sessions.onDidChangeShown(() => this.#snapshot()),
      sessions.onDidChange(() => this.#schedule()),
      sessions.onEvent(({ opened, event }) => {
        if (opened === sessions.shown) this.#push({ event: project(event) });
      }),
      sessions.onDelta(({ opened, delta }) => {
        if (opened === sessions.shown) this.#push({ delta });
      }),
      models.onDidChange(() => this.#schedule()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.#schedule()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#schedule()),
    ];
  }

  /** Whether the keyboard is in the panel. */
  get focused(): boolean {
    return this.#focused;
  }

  /** VS Code's view, once it has been shown. */
  get view(): vscode.WebviewView | undefined {
    return this.#view;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    this.#ready = false;
    this.#setFocused(false);
    view.webview.onDidReceiveMessage((raw: unknown) => void this.#receive(view, raw));
    view.onDidChangeVisibility(() => {
      if (!view.visible) this.#setFocused(false);
    });
    view.onDidDispose(() => {
      if (this.#view !== view) return;
      this.#view = undefined;
      this.#setFocused(false);
    });
    setPage(view.webview, this.extension);
    expectMessages();
  }

  /** Brings the view up and the reader's eye to `target`. For what the user asked for alone. */
  async reveal(reveal: Omit<Reveal, "type">): Promise<void> {
    this.#reveal = { type: "reveal", ...reveal };
    await vscode.commands.executeCommand(`${views.chat}.focus`);
    this.#sendReveal();
  }

  /** A line for the page's status region. */
  say(text: string): void {
    this.#post({ type: "say", text });
  }

  asked(ref: number, refused: string | null): void {
    this.#post({ type: "asked", ref, refused });
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #receive(view: vscode.WebviewView, raw: unknown): Promise<void> {
    const message = await received(raw);
    // A page that is gone by then has nothing more to say.
    if (!message || this.#view !== view) return;
    switch (message.type) {
      case "ready":
        this.#ready = true;
        this.#snapshot();
        this.#sendReveal();
        return;
      case "focus":
        this.#setFocused(message.on);
        return;
      case "draft":
        void this.drafts.set(message.session ?? "", message.text);
        return;
      case "earlier":
        this.#earlier(message.session, message.before);
        return;
      case "whole": {
        const opened = this.sessions.shown;
        const event = opened?.live.events.find(({ seq }) => seq === message.seq);
        if (event && opened?.live.id === message.session)
          this.#post({ type: "whole", session: message.session, event: projectWhole(event) });
        return;
      }
      default:
        void this.act(message);
    }
  }

  /** For our key bindings too: VS Code's own `focusedView` does not hear of a focus inside a webview. */
  #setFocused(on: boolean): void {
    if (this.#focused === on) return;
    this.#focused = on;
    void vscode.commands.executeCommand("setContext", contexts.focused, on);
  }

  #snapshot(): void {
    if (!this.#ready) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#parts = [];
    this.#n = 0;
    const opened = this.sessions.shown;
    const events = opened?.live.events ?? [];
    const status = statusOf(opened, this.models);
    this.#sent = JSON.stringify(status);
    this.#post({
      type: "snapshot",
      texts: { ...panelTexts() },
      drafts: { ...this.drafts.all },
      status,
      events: events.slice(-SNAPSHOT_EVENTS).map((event) => project(event)),
      earlier: Math.max(0, events.length - SNAPSHOT_EVENTS),
      deltas: opened?.tracker.gathered() ?? [],
    });
  }

  #earlier(session: string, before: number): void {
    const opened = this.sessions.shown;
    if (opened?.live.id !== session) return;
    const { events } = opened.live;
    const end = events.findIndex(({ seq }) => seq >= before);
    if (end < 0) return;
    const from = Math.max(0, end - SNAPSHOT_EVENTS);
    this.#post({
      type: "earlier",
      session,
      events: events.slice(from, end).map((event) => project(event)),
      earlier: from,
    });
  }

  #push(part: Part): void {
    if (!this.#ready) return;
    const last = this.#parts.at(-1);
    // Two stretches of the same stream in one batch are one.
    if (last && "delta" in last && "delta" in part) {
      const [a, b] = [last.delta, part.delta];
      const same =
        (a.type === "text" && b.type === "text") ||
        (a.type === "reasoning" && b.type === "reasoning") ||
        (a.type === "output" && b.type === "output" && a.call === b.call && a.stream === b.stream);
      if (same) {
        this.#parts[this.#parts.length - 1] = { delta: { ...a, text: a.text + b.text } };
        return;
      }
    }
    this.#parts.push(part);
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#ready) return;
    this.#timer ??= setTimeout(() => this.#flush(), DELTA_BATCH_MS);
  }

  #flush(): void {
    this.#timer = undefined;
    const status = statusOf(this.sessions.shown, this.models);
    const text = JSON.stringify(status);
    if (text !== this.#sent) {
      this.#sent = text;
      this.#parts.push({ status });
    }
    if (this.#parts.length === 0) return;
    this.#post({ type: "batch", n: ++this.#n, parts: this.#parts });
    this.#parts = [];
  }

  #sendReveal(): void {
    if (!this.#ready || !this.#view?.visible || !this.#reveal) return;
    this.#post(this.#reveal);
    this.#reveal = undefined;
  }

  #post(message: ToPanel): void {
    void this.#view?.webview.postMessage(message);
  }
}
