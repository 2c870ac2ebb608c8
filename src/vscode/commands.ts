import * as vscode from "vscode";
import { visible } from "../core/gate/visible.js";
import type { Answer, Surface } from "../core/session/events.js";
import { showAllows } from "./allows.js";
import { ask } from "./asking.js";
import { exportSession } from "./exportSession.js";
import { type CommandId, commands } from "./ids.js";
import type { LogDocuments } from "./logDocuments.js";
import { type PanelParts, showCard } from "./panelActions.js";
import { shownOrPicked } from "./pickSession.js";
import { parseProposed } from "./proposedFiles.js";
import { SessionPicker } from "./sessionPicker.js";
import { verifyLog } from "./verifyLog.js";

/** Every command, registered once; the table is exhaustive by its type. */
export function registerCommands(
  parts: PanelParts,
  log: vscode.OutputChannel,
  logs: LogDocuments,
): vscode.Disposable {
  const { sessions, models, proposals } = parts;
  const picker = new SessionPicker(sessions);
  const table: Record<CommandId, (...given: unknown[]) => unknown> = {
    [commands.ask]: () => askFromPalette(parts),
    [commands.newSession]: async () => {
      await sessions.showNone();
      await parts.chat().reveal({ target: "composer" });
    },
    [commands.openSession]: () => picker.open(),
    [commands.cancelTurn]: () => sessions.shown?.live.cancel(),
    [commands.approveEdit]: (given) => answer(parts, given, "allow_once"),
    [commands.approveForSession]: (given) => answer(parts, given, "allow_session"),
    [commands.deny]: (given) => answer(parts, given, "deny"),
    [commands.openProposedDiff]: async () => {
      const card = await pickCard(parts, (kind) => kind === "write", false);
      if (card !== undefined) await proposals.open(card);
    },
    [commands.keepChange]: (given) => onChange(parts, given, (...at) => parts.changes.keep(...at)),
    [commands.dropChange]: (given) => onChange(parts, given, (...at) => parts.changes.drop(...at)),
    [commands.putChangeBack]: (given) =>
      onChange(parts, given, (...at) => parts.changes.putBack(...at)),
    [commands.revertEdits]: async (given) => {
      const card = cardOf(parts, given);
      if (card !== undefined) await parts.edits.revert(card);
    },
    [commands.nextCard]: () => nextCard(parts),
    [commands.showAllows]: () => showAllows(sessions),
    [commands.undoTurn]: () => parts.undos.pick(),
    [commands.selectModel]: () => models.select(),
    [commands.setApiKey]: () => models.setKey(),
    [commands.showLog]: async () => {
      const id = await shownOrPicked(sessions);
      if (id !== undefined) await logs.show(id);
    },
    [commands.exportSession]: async () => {
      const id = await shownOrPicked(sessions);
      if (id !== undefined) await exportSession(sessions, id);
    },
    [commands.showOutput]: () => log.show(),
    [commands.verifyLog]: () => verifyLog(sessions),
    [commands.startTour]: async () => {
      await models.useDemo();
      await sessions.showNone();
      await parts.chat().reveal({ target: "composer" });
      await report(ask(sessions, undefined, vscode.l10n.t("Show me around.")));
    },
    [commands.focusLastMessage]: () => parts.chat().reveal({ target: "last" }),
  };
  return vscode.Disposable.from(
    ...Object.entries(table).map(([id, run]) =>
      vscode.commands.registerCommand(id, (...given: unknown[]) => run(...given)),
    ),
  );
}

/** Asks through an input box; a text that cannot be sent goes to the composer, not away. */
async function askFromPalette(parts: PanelParts): Promise<void> {
  const text = await vscode.window.showInputBox({
    title: "Countersign",
    prompt: vscode.l10n.t("What shall Countersign do?"),
    ignoreFocusOut: true,
  });
  if (text === undefined || text.trim() === "") return;
  await vscode.commands.executeCommand("countersign.chat.focus", { preserveFocus: true });
  const refused = await report(ask(parts.sessions, parts.sessions.shown?.live.id, text));
  if (refused) await parts.chat().reveal({ target: "composer", text });
}

async function report(outcome: ReturnType<typeof ask>): Promise<boolean> {
  const { outcome: kind, ...rest } = await outcome;
  if (kind !== "refused") return false;
  if ("message" in rest) void vscode.window.showWarningMessage(rest.message);
  return true;
}

/** The card an answer is for, and from where it came. */
async function answer(parts: PanelParts, given: unknown, value: Answer): Promise<void> {
  const named = fromLens(given);
  if (named !== undefined) {
    await parts.answers.give(named.card, value, "lens", { shown: "editor" });
    return;
  }
  // A title button gives the document it stands over; a key or the palette gives nothing.
  const shown = given instanceof vscode.Uri ? parseProposed(given)?.card : parts.proposals.active();
  if (shown !== undefined) {
    const surface: Surface = given instanceof vscode.Uri ? "title" : "command";
    if (parts.answers.isArmed(shown))
      await parts.answers.give(shown, value, surface, { shown: "editor" });
    return;
  }
  // No card is in view: the user picks, and so sees, the one that is answered.
  const wanted = value === "allow_once" ? (kind: string) => kind === "write" : () => true;
  // What each card would write as the list comes up: an edit after that makes the answer stale.
  const digests = new Map(
    parts.sessions.openCards().map(({ card }) => [card.card, card.edit?.event.digest]),
  );
  const card = await pickCard(parts, wanted, true);
  if (card === undefined) return;
  await parts.answers.give(card, value, "command", { shown: { digest: digests.get(card) } });
}

/** What a lens gave to its command, or undefined: any extension may call a command with anything. */
function fromLens(given: unknown): { card: string; change?: number } | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { card, surface, change }: Partial<Record<"card" | "surface" | "change", unknown>> = given;
  if (typeof card !== "string" || surface !== "lens") return undefined;
  if (change === undefined) return { card };
  return Number.isSafeInteger(change) && Number(change) >= 0
    ? { card, change: Number(change) }
    : undefined;
}

/** The card of a lens, or the one whose diff is in the active tab. */
function cardOf(parts: PanelParts, given: unknown): string | undefined {
  return fromLens(given)?.card ?? parts.proposals.active();
}

/** Does something with the change of a lens, or with the one at the cursor in the active proposal. */
async function onChange(
  parts: PanelParts,
  given: unknown,
  act: (card: string, change: number) => Promise<void>,
): Promise<void> {
  const card = cardOf(parts, given);
  if (card === undefined) return;
  const editor = vscode.window.activeTextEditor;
  const line = editor?.document === parts.edits.document(card) ? editor?.selection.active.line : 0;
  const change = fromLens(given)?.change ?? (await parts.changes.at(card, line ?? 0));
  if (change !== undefined) await act(card, change);
}

async function pickCard(
  parts: PanelParts,
  wanted: (kind: "write" | "read" | "run") => boolean,
  always: boolean,
): Promise<string | undefined> {
  const cards = parts.sessions.openCards().filter(({ card }) => wanted(card.event.kind));
  const active = parts.proposals.active();
  if (!always && cards.some(({ card }) => card.card === active)) return active;
  if (!always && cards.length === 1) return cards[0]?.card.card;
  const picked = await vscode.window.showQuickPick(
    cards.map(({ opened, card }) => ({
      label: visible(card.event.argv?.join(" ") ?? card.event.relative ?? card.event.path ?? ""),
      description: card.event.kind,
      detail: opened.live.title,
      card: card.card,
    })),
    { placeHolder: vscode.l10n.t("Which card?") },
  );
  return picked?.card;
}

let last: string | undefined;

/** Goes to the card after the one gone to last, round and round. */
async function nextCard(parts: PanelParts): Promise<void> {
  const cards = parts.sessions.openCards();
  const at = cards.findIndex(({ card }) => card.card === last);
  const next = cards[(at + 1) % Math.max(1, cards.length)];
  if (!next) return;
  last = next.card.card;
  await showCard(parts, next.opened.live.id, next.card.card);
}
