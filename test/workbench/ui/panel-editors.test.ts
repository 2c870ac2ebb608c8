import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { gate } from "../../support/gate.js";
import { until } from "../harness.js";
import { finish, type Panel, startPanel, write } from "./panel.js";

describe("native diff editors", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({
      // In a browser VS Code saves by itself, where nobody says otherwise.
      settings: { "files.autoSave": "off" },
      files: { "a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n", "d.txt": "one\n" },
    });
    await panel.newSession();
  });
  after(() => panel?.stop());

  const tab = (name: string): Locator =>
    panel.bench.page.getByRole("tab", { name: new RegExp(name.replaceAll(/[.()]/g, "\\$&")) });
  const tabs = () => panel.bench.page.locator(".tabs-container .tab").allTextContents();
  const gone = (name: string) =>
    until(`the tab ${name} to close`, async () => (await tab(name).count()) === 0);

  it("belong to one card each: answering one closes its own tab alone", async () => {
    await panel.ask("Change a.txt", write("a.txt", "A\n"));
    await panel.card("a.txt");
    await tab("a.txt (proposed)").waitFor();
    await panel.newSession();
    await panel.ask("Change b.txt", write("b.txt", "B\n"), finish("B is done."));
    const card = await panel.card("b.txt");
    await tab("b.txt (proposed)").waitFor();
    assert.equal((await tabs()).length, 2);
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await gone("b.txt (proposed)");
    await (await panel.chat()).getByText("B is done.").waitFor();
    await tab("a.txt (proposed)").waitFor();
    assert.equal(await panel.bench.read("a.txt"), "one\n");
  });

  it("have the answers in their title too", async () => {
    const { page } = panel.bench;
    panel.model.push(finish("A is done."));
    await tab("a.txt (proposed)").click();
    await page.getByRole("button", { name: /^Approve Edit/ }).click();
    await gone("a.txt (proposed)");
    const answered = await panel.bench.event(
      "card_answered",
      ({ answer }) => answer === "allow_once",
    );
    assert.equal(answered.surface, "title");
    await until("a.txt to be written", async () => (await panel.bench.read("a.txt")) === "A\n");
    await until("the end of both turns", async () => {
      const all = (await panel.bench.sessions()).flatMap(({ events }) => events);
      return all.filter(({ type }) => type === "turn_ended").length === 2;
    });
  });

  it("decide nothing when their tab is closed, and come back when asked for", async () => {
    await panel.newSession();
    await panel.ask("Change c.txt", write("c.txt", "C\n"), finish("C is done."));
    await panel.card("c.txt");
    await tab("c.txt (proposed)").click();
    await panel.bench.command("View: Close Editor");
    await gone("c.txt (proposed)");
    const card = await panel.card("c.txt");
    assert.equal(await panel.bench.read("c.txt"), "one\n");
    await card.getByRole("button", { name: "Open diff", exact: true }).click();
    await tab("c.txt (proposed)").waitFor();
  });

  it("answer by the key that is for it, while the proposal has the focus", async () => {
    const { page } = panel.bench;
    await page.locator(".modified-in-monaco-diff-editor .view-lines:not(.line-delete)").click();
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.press("ControlOrMeta+n");
    await gone("c.txt (proposed)");
    const answered = await panel.bench.event(
      "card_answered",
      ({ surface }) => surface === "command",
    );
    assert.equal(answered.answer, "deny");
    assert.equal(await panel.bench.read("c.txt"), "one\n");
    await (await panel.chat()).getByText("C is done.").waitFor();
  });

  it("stay behind the editor in which someone is typing", async () => {
    const { page } = panel.bench;
    await panel.newSession();
    const { held, open } = gate();
    const chat = await panel.ask(
      "Change d.txt",
      write("d.txt", "D\n", { text: "Wait.", hold: held }),
      finish("D is done."),
    );
    await chat.getByText("Wait.", { exact: true }).waitFor();
    await page.getByRole("treeitem", { name: "b.txt" }).dblclick();
    await tab("b.txt").waitFor();
    await page.locator(".editor-instance .view-lines").first().click();
    await page.keyboard.type("12");
    open();
    await panel.card("d.txt");
    await tab("d.txt (proposed)").waitFor();
    await page.keyboard.type("34");
    await until("what was typed to be in the editor", async () =>
      (await page.locator(".editor-instance .view-lines").first().textContent())?.includes("1234"),
    );
  });

  it("warn of unsaved changes, whose saving makes the card anew and loses nothing", async () => {
    const { page } = panel.bench;
    await page.keyboard.press("ControlOrMeta+s");
    const first = await panel.card("d.txt");
    await first.getByRole("button", { name: "Deny", exact: true }).click();
    await (await panel.chat()).getByText("D is done.").waitFor();
    await page.locator(".editor-instance .view-lines").first().click();
    await page.keyboard.press("ControlOrMeta+Home");
    await page.keyboard.type("mine ");
    await panel.ask("Change b.txt again", write("b.txt", "B\n"), finish("B again."));
    const card = await panel.card("b.txt");
    await card.getByRole("button", { name: "Save", exact: true }).click();
    await until("the file to be saved", async () =>
      (await panel.bench.read("b.txt"))?.includes("mine"),
    );
    const fresh = await panel.card("b.txt");
    await fresh.getByText(/^-.*mine/).waitFor();
    await fresh.getByRole("button", { name: "Deny", exact: true }).click();
    await (await panel.chat()).getByText("B again.").waitFor();
    assert.match((await panel.bench.read("b.txt")) ?? "", /mine/);
  });
});
