import * as vscode from "vscode";
import { visible } from "../core/gate/visible.js";
import { messageOf } from "../core/messageOf.js";
import type { Answer, Surface } from "../core/session/events.js";
import type { OpenCard } from "../core/turn/live.js";
import { showAllows } from "./allows.js";
import { ask } from "./asking.js";
import { exportSession } from "./exportSession.js";
import { type CommandId, commands } from "./ids.js";
import type { LogDocuments } from "./logDocuments.js";
import { type PanelParts, showCard } from "./panelActions.js";
import { shownOrPicked } from "./pickSession.js";
import { label, notice } from "./plain.js";
import { parseProposed } from "./proposedFiles.js";
import { commandLine } from "./quote.js";
import { warn } from "./say.js";
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
      vscode.commands.registerCommand(id, async (...given: unknown[]) => {
        try {
          return await run(...given);
        } catch (error) {
          // VS Code makes a notification of it.
          throw new Error(notice(messageOf(error)), { cause: error });
        }
      }),
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
  if ("message" in rest) void warn(rest.message);
  return true;
}

/** Answers the card that is named or in view; a yes to one that is not in view only shows it. */
async function answer(parts: PanelParts, given: unknown, value: Answer): Promise<void> {
  const { answers, proposals, sessions } = parts;
  const named = namedBy(parts, given);
  if (named !== undefined) {
    const { card, surface } = named;
    const open = sessions.findCard(card) !== undefined;
    // Other extensions, tasks and keys may name any card: a yes is to what is on the screen alone.
    if (open && value !== "deny" && !proposals.inView(card)) await proposals.open(card);
    else if (!open || answers.isArmed(card))
      await answers.give(card, value, surface, { shown: "editor" });
    return;
  }
  const wanted = value === "allow_once" ? (kind: string) => kind === "write" : () => true;
  const card = await pickCard(parts, wanted, value === "deny");
  if (card === undefined) return;
  if (value === "deny") await answers.give(card, value, "command");
  else await look(parts, card);
}

/** The card that a lens, a title button (by the document under it) or the active tab stands for. */
function namedBy(
  parts: PanelParts,
  given: unknown,
): { readonly card: string; readonly surface: Surface } | undefined {
  const lens = fromLens(given);
  if (lens !== undefined) return { card: lens.card, surface: "lens" };
  const title = given instanceof vscode.Uri ? parseProposed(given)?.card : undefined;
  if (title !== undefined) return { card: title, surface: "title" };
  const active = given instanceof vscode.Uri ? undefined : parts.proposals.active();
  return active === undefined ? undefined : { card: active, surface: "command" };
}

/** Brings a card before the user's eyes: a line of a list says too little to say yes to. */
async function look(parts: PanelParts, card: string): Promise<void> {
  const found = parts.sessions.findCard(card);
  if (found?.card.event.kind === "write") await parts.proposals.open(card);
  else if (found !== undefined) await showCard(parts, found.opened.live.id, card);
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
      label: label(nameOf(card)),
      description: card.event.kind,
      detail: label(opened.live.title),
      card: card.card,
    })),
    { placeHolder: vscode.l10n.t("Which card?") },
  );
  return picked?.card;
}

function nameOf({ event }: OpenCard): string {
  if (event.argv !== undefined) return commandLine(event.argv);
  return visible(event.relative ?? event.path ?? "");
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
