import type * as vscode from "vscode";
import type { ChatClient } from "../../core/model/chatClient.js";

/** The models, as the rest of the shell sees them. */
export interface ModelService extends vscode.Disposable {
  /** The client for a session's next request. Rejects with `ChatError` where there is none. */
  client(session: string): Promise<ChatClient>;
  /** What is in use now; while that is still being found out, the label says so. */
  current(): { readonly label: string; readonly provider: string; readonly model: string };
  readonly onDidChange: vscode.Event<void>;
  /** “Select Model…”: all providers with what each needs, keys, and a test that says what is wrong. */
  select(): Promise<void>;
  /** “Set API Key…” for a provider's server. */
  setKey(): Promise<void>;
  useDemo(): Promise<void>;
}
