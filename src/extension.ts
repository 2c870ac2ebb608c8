import { homedir } from "node:os";
import * as vscode from "vscode";
import { Answers } from "./vscode/answers.js";
import { ApprovalsView } from "./vscode/approvalsView.js";
import { Badge } from "./vscode/badge.js";
import { ChangeActions } from "./vscode/changes.js";
import { ChatView } from "./vscode/chatView.js";
import { registerCommands } from "./vscode/commands.js";
import { registerContextKeys } from "./vscode/contextKeys.js";
import { Drafts } from "./vscode/drafts.js";
import { Edits } from "./vscode/edits.js";
import { CardFiles, unsaved } from "./vscode/files.js";
import { PROPOSED, views } from "./vscode/ids.js";
import { lateCore } from "./vscode/lateCore.js";
import { ProposedLenses } from "./vscode/lens.js";
import { LogDocuments } from "./vscode/logDocuments.js";
import { registerModels } from "./vscode/models/index.js";
import { registerNotices } from "./vscode/notices.js";
import { act, type PanelParts, showCard } from "./vscode/panelActions.js";
import { Proposals } from "./vscode/proposed.js";
import { ProposedFiles } from "./vscode/proposedFiles.js";
import { Sessions } from "./vscode/sessions.js";
import { coreSettings, ripgrepSetting } from "./vscode/settings.js";
import { StatusBar } from "./vscode/statusBar.js";
import { TakeOver } from "./vscode/takeOver.js";
import { Undos } from "./vscode/undo.js";
import { UndoDocuments } from "./vscode/undoDocuments.js";

/** What VS Code waits for before it ends the extension host: processes are ended, logs and locks closed. */
let running: { dispose(): Promise<void> } | undefined;

/** Registers the shell and returns: the core and the models' clients are loaded once they are needed. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Countersign", { log: true });
  const report = (message: string) => log.warn(message);
  const models = registerModels(context, report);
  const core = lateCore({
    home: context.globalStorageUri.fsPath,
    userHome: homedir(),
    version: String(context.extension.packageJSON.version),
    host: "VS Code",
    ripgrep: async () => {
      const { findRipgrep } = await import("./core/workspace/ripgrep.js");
      return findRipgrep({ setting: ripgrepSetting(), appRoot: vscode.env.appRoot });
    },
    env: process.env,
    settings: coreSettings,
    client: (session) => models.client(session),
    unsaved,
    trash: async (file) =>
      vscode.workspace.fs.delete(vscode.Uri.file(file), { useTrash: true, recursive: false }),
    report,
  });
  running = core;
  const sessions = new Sessions(core, context.workspaceState);
  const proposedFiles = new ProposedFiles();
  const edits = new Edits(sessions, proposedFiles, report);
  const changes = new ChangeActions(sessions, edits);
  const answers = new Answers(sessions, edits);
  const proposals = new Proposals(
    sessions,
    proposedFiles,
    () => {
      const editor = vscode.window.activeTextEditor;
      return chat.focused || editor === undefined || editor.document.uri.scheme === PROPOSED;
    },
    report,
  );
  const undoDocuments = new UndoDocuments();
  const undos = new Undos(sessions, undoDocuments, (text) => chat.say(text));
  const parts: PanelParts = {
    sessions,
    models,
    answers,
    proposals,
    edits,
    changes,
    undos,
    chat: () => chat,
  };
  const drafts = new Drafts(context.workspaceState);
  const chat: ChatView = new ChatView(context.extensionUri, sessions, models, drafts, (message) =>
    act(parts, "chat", message),
  );
  const approvals = new ApprovalsView(context.extensionUri, sessions, (message) =>
    act(parts, "approvals", message),
  );
  const badge = new Badge(sessions, () => [approvals.view, chat.view]);
  const logs = new LogDocuments(sessions);
  context.subscriptions.push(
    log,
    sessions,
    proposedFiles,
    edits,
    changes,
    proposals,
    undoDocuments,
    chat,
    approvals,
    badge,
    vscode.window.registerWebviewViewProvider(views.chat, {
      resolveWebviewView: (view) => {
        chat.resolveWebviewView(view);
        badge.update();
        // While the page loads, so that the first message finds it there.
        core.load();
      },
    }),
    vscode.window.registerWebviewViewProvider(views.approvals, {
      resolveWebviewView: (view) => {
        approvals.resolveWebviewView(view);
        badge.update();
      },
    }),
    new ProposedLenses(sessions, answers, proposedFiles, edits, changes),
    new CardFiles(core, sessions),
    new StatusBar(sessions),
    new TakeOver(sessions, report),
    registerNotices(sessions, (session, card) => showCard(parts, session, card)),
    registerContextKeys(sessions),
    logs,
    registerCommands(parts, log, logs),
  );
  sessions.restore().catch((error: unknown) => log.error(String(error)));
}

/** VS Code waits for this before it ends the extension host: sessions are closed, their locks let go. */
export async function deactivate(): Promise<void> {
  await running?.dispose();
  running = undefined;
}
