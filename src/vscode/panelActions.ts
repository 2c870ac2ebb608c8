import * as vscode from "vscode";
import { messageOf } from "../core/messageOf.js";
import type { FromPanel, PanelCommand } from "../webview/protocol.js";
import type { Answers } from "./answers.js";
import { ask } from "./asking.js";
import type { ChangeActions } from "./changes.js";
import type { ChatView } from "./chatView.js";
import type { Edits } from "./edits.js";
import { unsavedDocument } from "./files.js";
import { fileToOpen, isElsewhere } from "./fromPage.js";
import { commands } from "./ids.js";
import type { ModelService } from "./models/service.js";
import type { Proposals } from "./proposed.js";
import type { Sessions } from "./sessions.js";
import type { Undos } from "./undo.js";

export interface PanelParts {
  readonly sessions: Sessions;
  readonly models: ModelService;
  readonly answers: Answers;
  readonly proposals: Proposals;
  readonly undos: Undos;
  readonly edits: Edits;
  readonly changes: ChangeActions;
  /** Undefined until the chat view exists, which itself acts through here. */
  readonly chat: () => ChatView;
}

/** Does what a parsed message of a view asks for. `surface` is the view it came from. */
export async function act(
  parts: PanelParts,
  surface: "chat" | "approvals",
  message: FromPanel,
): Promise<void> {
  const { sessions, answers, proposals, models } = parts;
  const chat = parts.chat();
  // A page may lag behind: what it says of a card or a question that is gone is told so.
  switch (message.type) {
    case "ask": {
      const outcome = await ask(sessions, message.session ?? undefined, message.text).catch(
        (error: unknown) => ({ outcome: "refused" as const, message: messageOf(error) }),
      );
      chat.asked(message.ref, outcome.outcome === "refused" ? outcome.message : null);
      return;
    }
    case "answer":
      // A page that does not know whose card it shows has not shown it.
      if (isElsewhere(sessions, message)) return;
      await answers.give(message.card, message.answer, surface, {
        note: message.note,
        shown: { digest: message.shown },
      });
      return;
    case "answerQuestion": {
      const live = sessions.get(message.session)?.live;
      const outcome = await live?.answerQuestion(message.question, message.text);
      if (outcome?.outcome !== "taken") answers.gone(outcome?.message);
      return;
    }
    case "revert":
      if (sessions.findCard(message.card)) await parts.edits.revert(message.card);
      else answers.gone();
      return;
    case "openDiff":
      if (!(await proposals.open(message.card))) answers.gone();
      return;
    case "showCard":
      await showCard(parts, message.session, message.card);
      return;
    case "saveFile": {
      const found = sessions.findCard(message.card);
      const file = found?.card.event.path;
      if (!found || file === undefined) return answers.gone();
      await unsavedDocument(file)?.save();
      const outcome = await found.opened.live.remakeCard(message.card);
      if (outcome.outcome === "gone") answers.gone(outcome.message);
      return;
    }
    case "withdraw":
      await sessions.get(message.session)?.live.withdraw(message.ask);
      return;
    case "goOn": {
      const outcome = await sessions.get(message.session)?.live.goOn();
      if (outcome?.outcome === "refused") chat.say(outcome.message);
      return;
    }
    case "cancel":
      await sessions.get(message.session)?.live.cancel();
      return;
    case "undo": {
      const opened = sessions.get(message.session);
      const { kind, id } = message;
      if (opened) await parts.undos.start(opened, { kind, id }, surface);
      return;
    }
    case "openFile":
      await openFile(parts, message.session, message.path, message.line);
      return;
    case "command":
      await run(message.command, models);
      return;
    case "ready":
    case "focus":
    case "draft":
    case "earlier":
    case "whole":
      return;
    default:
      message satisfies never;
  }
}

/** Shows the session and its card, with the focus on the card: only when the user asked for it. */
export async function showCard(parts: PanelParts, session: string, card: string): Promise<void> {
  if (!parts.sessions.findCard(card)) return parts.answers.gone();
  const opened = await parts.sessions.show(session);
  if (parts.sessions.shown === opened) await parts.chat().reveal({ target: "card", card });
}

/** Opens a file that a message named: of the session's own folder, or one that a card of it named. */
async function openFile(
  parts: PanelParts,
  session: string,
  given: string,
  line: number | undefined,
): Promise<void> {
  const opened = parts.sessions.get(session);
  if (!opened) return;
  const file = fileToOpen(opened.workspace, given, (one) =>
    opened.live.events.some((event) => event.type === "card_raised" && event.path === one),
  );
  if (file === undefined) {
    parts.chat().say(vscode.l10n.t("{0} is not in the folder of this session.", given));
    return;
  }
  const position = new vscode.Position(Math.max(0, (line ?? 1) - 1), 0);
  try {
    await vscode.window.showTextDocument(vscode.Uri.file(file), {
      selection: new vscode.Range(position, position),
    });
  } catch {
    parts.chat().say(vscode.l10n.t("{0} cannot be opened.", given));
  }
}

async function run(command: PanelCommand, models: ModelService): Promise<void> {
  switch (command) {
    case "newSession":
    case "openSession":
    case "selectModel":
    case "showAllows":
    case "showLog":
    case "startTour":
      await vscode.commands.executeCommand(commands[command]);
      return;
    case "setKey":
      await vscode.commands.executeCommand(commands.setApiKey);
      return;
    case "useDemo":
      await models.useDemo();
      return;
    case "openFolder":
      await vscode.commands.executeCommand("workbench.action.files.openFolder");
      return;
    case "manageTrust":
      await vscode.commands.executeCommand("workbench.trust.manage");
      return;
    default:
      command satisfies never;
  }
}
