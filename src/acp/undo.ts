import type { LiveSession, UndoFile, UndoPlan, UndoTarget } from "../core/turn/live.js";
import { commandLine, fenced, oneLine } from "./show.js";
import { goesBack, listOf, UndoAsking, type UndoHost, type Which } from "./undoAsking.js";
import { outcomeOf } from "./undoUpdates.js";

const NOTHING = {
  undo: "There is nothing to undo: no turn has changed a file, or all that did are undone.",
  redo: "There is nothing to bring back: nothing of this session is undone.",
};
const READ_ONLY = "This session is read-only by its mode: nothing was changed.";

/**
 * Shows what an undo would do, asks about it and about each file that was changed since, and does
 * what the client confirmed. Gives the words to end with; undefined where it was cancelled: then
 * nothing was done.
 */
export async function takeBack(
  host: UndoHost,
  which: Which,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { live } = host;
  for (let again = false; ; again = true) {
    const target = targetOf(live, which);
    if (target === undefined) return NOTHING[which];
    const plan = await live.planUndo(target);
    if (typeof plan === "string") return plan;
    if (!plan.items.some((item) => goesBack(item) || item.state === "conflict")) {
      return `Nothing can be taken back.\n\n${fenced(listOf(plan))}`;
    }
    if (host.mode() === "deny") return READ_ONLY;
    const asking = new UndoAsking(host, which, plan, again);
    const choices = await asking.confirm(signal);
    // The mode may be another by the time of the answer, and that counts.
    if (typeof choices === "string" || host.mode() === "deny") {
      asking.leave();
      if (choices === "cancelled") return undefined;
      return choices === "kept" ? "Nothing was changed." : READ_ONLY;
    }
    host.expect(asking.asked);
    const outcome = await live.undo(plan, choices, "acp");
    host.expect(undefined);
    if (outcome.outcome === "done") return told(which, plan, outcome.files);
    asking.leave();
    if (outcome.outcome === "refused") return outcome.message;
  }
}

/** The newest turn that is not undone; or the undo that was made last and holds. */
function targetOf(live: LiveSession, which: Which): UndoTarget | undefined {
  if (which === "undo") return live.undoable.find(({ undone }) => undone === undefined)?.target;
  const held = new Set(live.undoable.map(({ undone }) => undone));
  const last = live.events.findLast(
    (event) => event.type === "undo_started" && held.has(event.undo),
  );
  return last?.type === "undo_started" ? { kind: "undo", id: last.undo } : undefined;
}

function told(which: Which, plan: UndoPlan, files: readonly UndoFile[]): string {
  const lines = files.map((file) => {
    const name = plan.items.find(({ path }) => path === file.path)?.name ?? file.path;
    return `${oneLine(name, 4096)}: ${outcomeOf(file)}`;
  });
  const ran = plan.commands.map((argv) => `ran, and stays done: ${commandLine(argv)}`);
  const what = which === "undo" ? "Undone; /redo brings it back." : "Brought back.";
  return `${what}\n\n${fenced([...lines, ...ran].join("\n"))}`;
}
