import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";

/** Asks again every 50 ms until there is an answer. */
async function until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const end = Date.now() + 20_000; Date.now() < end; await delay(50)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`waited 20 s for ${what}`);
}

/** The right side of the proposal that is in front. */
function inFront(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputTextDiff ? input.modified : undefined;
}

describe("the answering commands, called by whoever likes to", () => {
  const { executeCommand } = vscode.commands;
  let right: vscode.Uri;

  before(async () => {
    await executeCommand("countersign.startTour");
    right = await until("the proposal of the tour", inFront);
    assert.equal(right.scheme, "countersign-proposed");
    // Once the lenses are there a card may be answered.
    await until("the lenses", async () => {
      const lenses = await executeCommand<unknown[]>("vscode.executeCodeLensProvider", right);
      return lenses.length > 0;
    });
  });
  after(async () => {
    await executeCommand("countersign.cancelTurn");
    await executeCommand("workbench.action.closeAllEditors");
  });

  const lens = () => ({
    card: new URLSearchParams(right.query).get("card"),
    surface: "lens",
  });
  /** No tab of the proposal is left. */
  async function hide(): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    await vscode.window.tabGroups.close(tabs);
    assert.equal(inFront(), undefined);
  }
  /** What became of a yes: the proposal is in front, to be looked at, and nothing was answered. */
  function isShownOnly(): void {
    assert.equal(inFront()?.toString(), right.toString());
  }

  for (const command of ["countersign.approveEdit", "countersign.approveForSession"]) {
    it(`${command} shows a card that is named and not in view, and answers nothing`, async () => {
      await hide();
      await executeCommand(command, lens());
      isShownOnly();
    });
  }

  it("take the left side alone, which shows nothing of what would be written, for no look", async () => {
    await hide();
    const before = right.with({ query: right.query.replace("side=after", "side=before") });
    await vscode.window.showTextDocument(before);
    await executeCommand("countersign.approveEdit", before);
    isShownOnly();
  });

  it("take a document of another name for no look, whatever card it claims", async () => {
    await hide();
    const forged = right.with({ path: "/harmless.md" });
    await vscode.window.showTextDocument(forged);
    await executeCommand("countersign.approveEdit", forged);
    isShownOnly();
  });

  it("open the only card that may be approved where none is in view", async () => {
    await hide();
    await executeCommand("countersign.approveEdit");
    isShownOnly();
  });

  it("answer what is in view", async () => {
    await executeCommand("countersign.deny", lens());
    await until("its tab to close", () => inFront() === undefined);
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    const names = (await vscode.workspace.fs.readDirectory(folder.uri)).map(([name]) => name);
    assert.equal(names.includes("countersign-demo.md"), false);
  });
});
