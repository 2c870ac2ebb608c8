/** Tests of the real workbench, each with the contributions of package.json whose effect it shows. */
export interface Row {
  /** Under `test/workbench`. */
  readonly suite: string;
  readonly test: string;
  readonly shows: readonly string[];
}

const ids = (what: string, ...names: readonly string[]): string[] =>
  names.map((name) => `${what}${name}`);

const command = (...names: readonly string[]) => ids("command countersign.", ...names);
const palette = (...names: readonly string[]) => ids("menu commandPalette countersign.", ...names);
const viewTitle = (...names: readonly string[]) => ids("menu view/title countersign.", ...names);
const editorTitle = (...names: readonly string[]) =>
  ids("menu editor/title countersign.", ...names);
const setting = (...names: readonly string[]) => ids("setting countersign.", ...names);

export const drivenBy: readonly Row[] = [
  {
    suite: "host/extension.test.ts",
    test: "turns the code lens on in diff editors, where VS Code has it off",
    shows: ["default diffEditor.codeLens"],
  },
  {
    suite: "ui/menus.ts",
    test: "are in the palette, in a folder where nothing has been yet",
    shows: palette(
      ...["ask", "newSession", "openSession", "showLog", "exportSession", "startTour"],
    ),
  },
  {
    suite: "ui/menus.ts",
    test: "are in the palette as long as a proposal is in front and its turn lives",
    shows: palette(
      ...["approveEdit", "approveForSession", "cancelTurn", "deny", "dropChange", "keepChange"],
      ...["nextCard", "openProposedDiff", "putChangeBack", "revertEdits"],
    ),
  },
  {
    suite: "ui/menus.ts",
    test: "are in the palette for what is over: its allows, its undo, its log",
    shows: palette("focusLastMessage", "showAllows", "undoTurn", "verifyLog"),
  },
  {
    suite: "ui/menus.ts",
    test: "Ask… takes the words in a box of its own, and begins a turn",
    shows: command("ask"),
  },
  {
    suite: "ui/menus.ts",
    test: "keep, drop and put back the change at the cursor, and revert what was typed",
    shows: command("keepChange", "dropChange", "putChangeBack", "revertEdits"),
  },
  {
    suite: "ui/menus.ts",
    test: "approve for this session from the editor's title",
    shows: [...editorTitle("approveForSession"), ...command("approveForSession")],
  },
  {
    suite: "ui/menus.ts",
    test: "begin a session and open one from the view's title",
    shows: [...viewTitle("newSession", "openSession"), ...command("newSession", "openSession")],
  },
  {
    suite: "ui/menus.ts",
    test: "are in the menu of the view's title, and do there what they do elsewhere",
    shows: viewTitle(
      ...["selectModel", "setApiKey", "showAllows", "undoTurn"],
      ...["showLog", "startTour", "verifyLog", "exportSession"],
    ),
  },
  {
    suite: "ui/menus.ts",
    test: "deny a card that is picked, and show one that is not in view before a yes",
    shows: command("approveEdit", "approveForSession", "deny"),
  },
  {
    suite: "ui/menus.ts",
    test: "deny from the editor's title",
    shows: editorTitle("deny"),
  },
  {
    suite: "ui/menus.ts",
    test: "cancel the turn by Shift+Escape in the chat",
    shows: ["key shift+escape countersign.cancelTurn"],
  },
  {
    suite: "ui/menus.ts",
    test: "go to the last message, and to the output",
    shows: command("focusLastMessage", "showOutput"),
  },
  {
    suite: "ui/panel-editors.test.ts",
    test: "have the answers in their title too",
    shows: editorTitle("approveEdit"),
  },
  {
    suite: "ui/panel-editors.test.ts",
    test: "answer by the key that is for it, while the proposal has the focus",
    shows: ["key ctrl+k ctrl+n countersign.deny"],
  },
  {
    suite: "ui/panel-access.test.ts",
    test: "asks, reaches the card, approves, and hears of it, by the keyboard alone",
    shows: command("nextCard"),
  },
  {
    suite: "ui/vsix.test.ts",
    test: "trusts the folder, takes the tour, and has the file that it approved",
    shows: [
      ...command("startTour"),
      "key ctrl+alt+. countersign.nextCard",
      "container secondarySidebar countersign",
      "view countersign.chat",
    ],
  },
  {
    suite: "ui/vsix.test.ts",
    test: "sets a model up, asks it, and approves its edit in the diff editor and its command on the card",
    shows: [...command("openProposedDiff"), "key ctrl+k ctrl+y countersign.approveEdit"],
  },
  {
    suite: "ui/panel-cards.test.ts",
    test: "are in Approvals too, and an answer there counts once",
    shows: ["view countersign.approvals"],
  },
  {
    suite: "ui/panel-sessions.test.ts",
    test: "stops at Cancel Turn, and what was queued waits for a word",
    shows: command("cancelTurn"),
  },
  {
    suite: "ui/panel-sessions.test.ts",
    test: "are listed with their use, and one that is taken back lets nothing through",
    shows: command("showAllows"),
  },
  {
    suite: "ui/panel-sessions.test.ts",
    test: "do not come while it has the focus, nor where the setting is off",
    shows: setting("notifyWhenUnfocused"),
  },
  {
    suite: "ui/undo.test.ts",
    test: "lists the files and the commands of a turn, and takes the files back",
    shows: command("undoTurn"),
  },
  {
    suite: "ui/log.test.ts",
    test: "is verified: nothing was changed, and then which line was",
    shows: command("verifyLog"),
  },
  {
    suite: "ui/log.test.ts",
    test: "is shown as a document that tells by whose answer, and goes on as the session does",
    shows: command("showLog"),
  },
  {
    suite: "ui/log.test.ts",
    test: "is exported as Markdown, and as the exact bytes of the log",
    shows: command("exportSession"),
  },
  {
    suite: "ui/models.test.ts",
    test: "sets a server up: base URL, model, a test that says what is wrong, and a key in a password box",
    shows: [...command("selectModel"), ...setting("models.openai.baseUrl", "models.openai.model")],
  },
  {
    suite: "ui/settings.ts",
    test: "say where requests go, for which model, with which headers and limit of tokens",
    shows: setting(
      ...["models.selected", "models.openai.headers", "models.maxTokens"],
      ...["models.openai.baseUrl", "models.openai.model"],
    ),
  },
  {
    suite: "ui/settings.ts",
    test: "say how much of a session a request may carry",
    shows: setting("models.contextTokens"),
  },
  {
    suite: "ui/settings.ts",
    test: "take another provider's server, and back",
    shows: setting("models.anthropic.baseUrl", "models.anthropic.model", "models.ollama.url"),
  },
  {
    suite: "ui/settings.ts",
    test: "take a key to its own server, and forget it",
    shows: command("setApiKey"),
  },
  {
    suite: "ui/settings.ts",
    test: "say which programs have a word before a turn ends",
    shows: setting("hooks.stop"),
  },
  {
    suite: "ui/settings.ts",
    test: "say what searches",
    shows: setting("ripgrep.path"),
  },
  {
    suite: "ui/settings.ts",
    test: "say whether a diff opens by itself",
    shows: setting("diff.openAutomatically"),
  },
  {
    suite: "ui/settings.ts",
    test: "say how long a model may be silent",
    shows: setting("models.idleTimeout"),
  },
  {
    suite: "ui/walkthrough.ts",
    test: "asks, chooses a model, and starts the tour, each by the button of its step",
    shows: ["step start#ask", "step start#model", "step start#tour"],
  },
];
