import * as vscode from "vscode";
import { LOG_TEXT_CHARS, LOG_VIEW_CHARS } from "../core/limits.js";
import type { SessionToRead } from "../core/turn/live.js";
import type { ReadableView } from "../core/turn/readableLog.js";
import { LOG } from "./ids.js";
import type { Sessions } from "./sessions.js";

/** How long changes are gathered before an open document is made anew, in milliseconds. */
const UPDATE_MS = 1_000;

/** The session's id in the query; the title is for the tab alone. */
function logUri(id: string, title: string): vscode.Uri {
  const name = fileName(title) || id;
  const query = new URLSearchParams({ session: id }).toString();
  return vscode.Uri.from({ scheme: LOG, path: `/${name}.log.md`, query });
}

/** A title as a name that any file system takes; empty where nothing of it is left. */
export function fileName(title: string): string {
  return title
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .slice(0, 60);
}

/** Sessions as read-only documents that go on as the session does. */
export class LogDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  /** The sessions of open documents. */
  readonly #views = new Map<string, { session: SessionToRead; view: ReadableView }>();
  readonly #due = new Map<string, NodeJS.Timeout>();
  readonly #subscriptions: vscode.Disposable[];

  constructor(private readonly sessions: Sessions) {
    this.#subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(LOG, this),
      sessions.onEvent(({ opened }) => this.#schedule(opened.live.id)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === LOG) this.#views.delete(sessionOf(uri));
      }),
    ];
  }

  /** Opens a session's log, for reading. Rejects where it cannot be read. */
  async show(id: string): Promise<void> {
    const { title } = await this.sessions.core.readSession(id);
    const document = await vscode.workspace.openTextDocument(logUri(id, title));
    await vscode.window.showTextDocument(document, { preview: false });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const id = sessionOf(uri);
    const known = this.#views.get(id);
    const session = await this.sessions.core.readSession(id);
    if (known !== undefined && known.session.events === session.events) return known.view.text();
    const readable = await import("../core/turn/readableLog.js");
    const view = new readable.ReadableView(session, LOG_TEXT_CHARS, LOG_VIEW_CHARS);
    this.#views.set(id, { session, view });
    return view.text();
  }

  dispose(): void {
    for (const timer of this.#due.values()) clearTimeout(timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }

  #schedule(id: string): void {
    if (!this.#views.has(id) || this.#due.has(id)) return;
    const timer = setTimeout(() => {
      this.#due.delete(id);
      for (const { uri } of vscode.workspace.textDocuments) {
        if (uri.scheme === LOG && sessionOf(uri) === id) this.#changed.fire(uri);
      }
    }, UPDATE_MS);
    this.#due.set(id, timer);
  }
}

function sessionOf(uri: vscode.Uri): string {
  return new URLSearchParams(uri.query).get("session") ?? "";
}
