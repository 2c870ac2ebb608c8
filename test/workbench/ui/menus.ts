import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { root } from "../../../scripts/process.js";
import { gate } from "../../support/gate.js";
import { until } from "../harness.js";
import { finish, type Panel, run, write } from "./panel.js";

/** What the palette has in every window with a folder. */
const ALWAYS = [
  "Ask…",
  "Export Session…",
  "New Session",
  "Open Session…",
  "Select Model…",
  "Set API Key…",
  "Show Log…",
  "Show Output",
  "Start Tour",
];
/** What it has once a session is shown. */
const SESSION = ["Focus Last Message", "Verify Log"];

/** Tests of every command where VS Code offers it; nothing has been asked in the window before. */
export function describeMenus(get: () => Panel): void {
  let panel: Panel;
  let titles: ReadonlySet<string>;

  before(async () => {
    panel = get();
    const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
      contributes: { commands: readonly { title: string }[] };
    };
    titles = new Set(manifest.contributes.commands.map(({ title }) => title));
  });

  const page = () => panel.bench.page;
  const rows = (): Locator => page().locator(".quick-input-list .monaco-list-row");
  const box = (): Locator => page().locator(".quick-input-widget input[type=text]");
  const command = (title: string) => panel.bench.command(`Countersign: ${title}`);
  const tab = (name: string): Locator =>
    page().getByRole("tab", { name: `${name} (proposed)`, exact: false });
  const gone = (name: string) =>
    until(`the tab of ${name} to close`, async () => (await tab(name).count()) === 0);
  const lens = (text: string): Locator =>
    page()
      .locator(".modified-in-monaco-diff-editor .codelens-decoration")
      .getByText(text, { exact: true });
  const heading = async (name: string) =>
    (await panel.chat()).getByRole("heading", { name, level: 1 }).waitFor();
  /** How the card for a path or an argv was answered last, and from where. */
  const answered = async () => {
    const all = (await panel.bench.sessions()).flatMap(({ events }) => events);
    const last = all.findLast((event) => event.type === "card_answered");
    return last?.type === "card_answered" ? [last.answer, last.surface] : undefined;
  };
  const closed = () => page().locator(".quick-input-widget").waitFor({ state: "hidden" });

  /** Waits until the palette offers these commands of ours, and no others. */
  async function assertOffered(...wanted: readonly string[]): Promise<void> {
    let last: readonly string[] = [];
    const offered = async () => {
      const found = new Set<string>();
      // An open palette does not hear of what changes, and a list has in the page what is in view.
      await page().keyboard.press("F1");
      await box().fill(">Countersign: ");
      for (const key of ["PageUp", "PageUp", "PageDown", "PageDown"]) {
        await page().keyboard.press(key);
        for (const label of await rows().locator(".label-name").allTextContents()) found.add(label);
      }
      await page().keyboard.press("Escape");
      await closed();
      const ours = [...found].map((label) => label.replace(/^Countersign: /, ""));
      last = ours.filter((title) => titles.has(title)).sort();
      return last.join() === [...wanted].sort().join();
    };
    await until("the palette", offered).catch(() => assert.deepEqual(last, [...wanted].sort()));
  }

  /** The buttons in the title of the chat's view, which are there while the pointer is. */
  async function titleBar(): Promise<Locator> {
    const header = page().locator(".part.auxiliarybar .pane-header").filter({ hasText: "Chat" });
    await header.hover();
    return header;
  }

  it("are in the palette, in a folder where nothing has been yet", async () => {
    await assertOffered(...ALWAYS);
  });

  it("Ask… takes the words in a box of its own, and begins a turn", async () => {
    panel.model.push(write("a.txt", "two\n"));
    await command("Ask…");
    await page().getByText("What shall Countersign do?").waitFor();
    await page().keyboard.type("Make it two");
    await page().keyboard.press("Enter");
    assert.equal((await panel.bench.event("turn_started")).text, "Make it two");
    await panel.card("a.txt");
    await lens("Keep 1/1").waitFor();
  });

  it("are in the palette as long as a proposal is in front and its turn lives", async () => {
    await assertOffered(
      ...ALWAYS,
      ...SESSION,
      ...["Approve Edit", "Approve for This Session", "Cancel Turn", "Deny", "Drop Change"],
      ...["Keep Change", "Next Card", "Open Proposed Diff", "Put Change Back", "Revert Edits"],
    );
  });

  it("keep, drop and put back the change at the cursor, and revert what was typed", async () => {
    await page().locator(".modified-in-monaco-diff-editor .view-lines:not(.line-delete)").click();
    await command("Keep Change");
    await lens("Kept 1/1").waitFor();
    await command("Drop Change");
    await lens("Dropped 1/1").waitFor();
    const card = await panel.card("a.txt");
    await card.getByText("Nothing is left of the proposal").waitFor();
    await command("Put Change Back");
    await lens("Keep 1/1").waitFor();
    await page().keyboard.press("ControlOrMeta+Home");
    await page().keyboard.type("mine ");
    await card.getByText("+mine two").waitFor();
    await command("Revert Edits");
    await card.getByText("Edited by you").waitFor({ state: "detached" });
    await lens("Approve edit").waitFor();
  });

  it("approve for this session from the editor's title", async () => {
    panel.model.push(finish("It is two."));
    await page()
      .locator(".editor-actions")
      .getByRole("button", { name: /^Approve for This Session/ })
      .click();
    await gone("a.txt");
    await (await panel.chat()).getByText("It is two.").waitFor();
    assert.equal(await panel.bench.read("a.txt"), "two\n");
    assert.deepEqual(await answered(), ["allow_session", "title"]);
    const [session] = await panel.bench.sessions();
    assert.deepEqual(session?.meta?.allows, [{ write: join(panel.bench.folder, "a.txt") }]);
  });

  it("are in the palette for what is over: its allows, its undo, its log", async () => {
    await assertOffered(...ALWAYS, ...SESSION, "Show Allows…", "Undo Turn…");
  });

  it("begin a session and open one from the view's title", async () => {
    await (await titleBar()).getByRole("button", { name: "New Session" }).click();
    await heading("New session");
    await (await titleBar()).getByRole("button", { name: "Open Session…" }).click();
    await rows().filter({ hasText: "Make it two" }).click();
    await heading("Make it two");
    await (await panel.chat()).getByText("It is two.").waitFor();
  });

  it("are in the menu of the view's title, and do there what they do elsewhere", async () => {
    const menu = page().locator(".monaco-menu");
    const open = async () => {
      await (await titleBar()).getByRole("button", { name: /More Actions/ }).click();
      await menu.waitFor();
    };
    const pick = async (name: string) => {
      await open();
      await menu.getByRole("menuitem", { name }).click();
    };
    await open();
    await panel.bench.screenshot("menus-title");
    assert.deepEqual(
      (await menu.getByRole("menuitem").allTextContents()).filter((name) => titles.has(name)),
      ["Select Model…", "Set API Key…", "Show Allows…", "Undo Turn…"].concat([
        "Show Log…",
        "Start Tour",
        "Verify Log",
        "Export Session…",
      ]),
    );
    await page().keyboard.press("Escape");
    const boxes = [
      ["Select Model…", "A scripted tour in your folder"],
      ["Set API Key…", "It is kept in VS Code's secret storage"],
      ["Show Allows…", "Allows of this session"],
      ["Undo Turn…", "Which turn?"],
      ["Export Session…", "JSON lines"],
    ] as const;
    for (const [name, text] of boxes) {
      await pick(name);
      const widget = page().locator(".quick-input-widget");
      await until(`${name} to show ${text}`, async () => {
        const found = await widget.evaluate((one) => one.outerHTML);
        return found.includes(text);
      });
      await page().keyboard.press("Escape");
      await closed();
    }
    await pick("Verify Log");
    await page().getByText("The log is as it was written.").waitFor();
    await page().keyboard.press("Escape");
    await pick("Show Log…");
    await page()
      .getByRole("tab", { name: /Make it two/ })
      .waitFor();
  });

  it("deny a card that is picked, and show one that is not in view before a yes", async () => {
    const chat = await panel.ask(
      "Do three things",
      run("echo", "first"),
      run("echo", "second"),
      write("b.txt", "two\n"),
      finish("Three things."),
    );
    await panel.card("echo first");
    await command("Deny");
    await page().getByPlaceholder("Which card?").waitFor();
    await rows().filter({ hasText: "echo first" }).click();
    const second = await panel.card("echo second");
    assert.deepEqual(await answered(), ["deny", "command"]);
    await command("Approve for This Session");
    await chat.locator("[data-card]:focus").waitFor();
    assert.deepEqual(await answered(), ["deny", "command"]);
    await second.getByRole("button", { name: "Deny", exact: true }).click();
    await panel.card("b.txt");
    await tab("b.txt").click();
    await panel.bench.command("View: Close Editor");
    await gone("b.txt");
    await command("Approve Edit");
    await lens("Approve edit").waitFor();
    assert.deepEqual(await answered(), ["deny", "chat"]);
    await command("Approve Edit");
    await chat.getByText("Three things.").waitFor();
    assert.deepEqual(await answered(), ["allow_once", "command"]);
    assert.equal(await panel.bench.read("b.txt"), "two\n");
  });

  it("deny from the editor's title", async () => {
    await panel.ask("Change c.txt", write("c.txt", "two\n"), finish("C is as it was."));
    await panel.card("c.txt");
    await tab("c.txt").click();
    await page().locator(".editor-actions").getByRole("button", { name: /^Deny/ }).click();
    await (await panel.chat()).getByText("C is as it was.").waitFor();
    assert.deepEqual(await answered(), ["deny", "title"]);
    assert.equal(await panel.bench.read("c.txt"), "one\n");
  });

  it("cancel the turn by Shift+Escape in the chat", async () => {
    const { held } = gate();
    const chat = await panel.ask("Go on and on", { text: "On and on", hold: held });
    await chat.getByText("On and on", { exact: true }).waitFor();
    await (await panel.composer()).press("Shift+Escape");
    await chat.locator(".end-cancelled").waitFor();
  });

  it("go to the last message, and to the output", async () => {
    await command("Show Output");
    await page().locator(".part.panel .output-view .monaco-editor.focused").waitFor();
    await command("Focus Last Message");
    await (await panel.chat()).locator("article:focus").waitFor();
  });
}
