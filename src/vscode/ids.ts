/*
 * Every name that package.json and the code share, once; a test compares the two.
 */

/** Commands; each shows in the palette under "Countersign". */
export const commands = {
  ask: "countersign.ask",
  newSession: "countersign.newSession",
  openSession: "countersign.openSession",
  cancelTurn: "countersign.cancelTurn",
  approveEdit: "countersign.approveEdit",
  approveForSession: "countersign.approveForSession",
  deny: "countersign.deny",
  openProposedDiff: "countersign.openProposedDiff",
  keepChange: "countersign.keepChange",
  dropChange: "countersign.dropChange",
  putChangeBack: "countersign.putChangeBack",
  revertEdits: "countersign.revertEdits",
  nextCard: "countersign.nextCard",
  showAllows: "countersign.showAllows",
  undoTurn: "countersign.undoTurn",
  selectModel: "countersign.selectModel",
  setApiKey: "countersign.setApiKey",
  showLog: "countersign.showLog",
  exportSession: "countersign.exportSession",
  showOutput: "countersign.showOutput",
  verifyLog: "countersign.verifyLog",
  startTour: "countersign.startTour",
  focusLastMessage: "countersign.focusLastMessage",
} as const;
export type CommandId = (typeof commands)[keyof typeof commands];

/** Context keys that the `when`s of package.json read. */
export const contexts = {
  /** A card is open in any session of this window. */
  cards: "countersign.hasCards",
  /** A card with a diff is open. */
  writes: "countersign.hasWriteCards",
  /** The session shown has a live turn. */
  live: "countersign.turnLive",
  /** A session is shown. */
  session: "countersign.hasSession",
  /** A turn of the session shown can be undone, or brought back. */
  undo: "countersign.hasUndo",
  /** The session shown has an allow. */
  allows: "countersign.hasAllows",
  /** The keyboard is in the chat. */
  focused: "countersign.chatFocused",
} as const;

/** Settings of the shell; those of the models are in `models/settings.ts`. */
export const settings = {
  stopHooks: "countersign.hooks.stop",
  ripgrepPath: "countersign.ripgrep.path",
  openDiff: "countersign.diff.openAutomatically",
  notify: "countersign.notifyWhenUnfocused",
} as const;

/** The views of package.json. */
export const views = {
  container: "countersign",
  chat: "countersign.chat",
  approvals: "countersign.approvals",
} as const;

/** Scheme of the documents of the native diff editor. */
export const PROPOSED = "countersign-proposed";

/** Scheme of the read-only documents that show a session's log. */
export const LOG = "countersign-log";

/** Scheme of the documents that show what an undo is about. */
export const UNDO = "countersign-undo";

/** Keys of what the window remembers. */
export const memory = { shown: "countersign.shownSession" } as const;
