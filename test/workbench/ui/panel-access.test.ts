import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { finish, type Panel, run, startPanel, write } from "./panel.js";

/** What axe tells of one rule that is broken. */
interface Fault {
  readonly id: string;
  readonly html: string;
}

// axe's own builder starts at the page, and cannot reach through the frames of a webview's guest.
const axe = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules broken in the chat's page, each with the first element that breaks it. */
async function faults(panel: Panel): Promise<readonly Fault[]> {
  const chat = await panel.chat();
  await chat.evaluate(await axe);
  // A webview is transparent; what it lies on, axe cannot see.
  await chat.evaluate(
    `document.body.style.background = getComputedStyle(document.documentElement)
      .getPropertyValue("--vscode-sideBar-background")`,
  );
  const { passes, found } = await chat.evaluate<{ passes: number; found: readonly Fault[] }>(
    `axe.run("#root").then(({ passes, violations }) => ({
      passes: passes.length,
      found: violations.map(({ id, nodes }) => ({
        id,
        html: nodes[0].html + " " + nodes[0].failureSummary,
      })),
    }))`,
  );
  assert.ok(passes > 0, "axe looked at something");
  return found;
}

const THEMES = ["Default Dark Modern", "Default Light Modern", "Default High Contrast"];

for (const theme of THEMES)
  describe(`the panel for everyone, in ${theme}`, () => {
    let panel: Panel;

    before(async () => {
      panel = await startPanel({
        files: { "a.txt": "one\n" },
        settings: { "workbench.colorTheme": theme },
      });
      await panel.newSession();
    });
    after(() => panel?.stop());

    it("has no fault that axe knows, empty, with a card, a question, output and an end", async () => {
      assert.deepEqual(await faults(panel), []);
      await panel.ask(
        "Go",
        write("a.txt", "two\n", {
          text: "Text with `code`, a [link](a.txt) and\n\n```ts\nconst x = 1;\n```",
        }),
        run("printf", "\\033[31mred\\033[0m plain\n"),
        { calls: [{ tool: "ask", args: { question: "Which?", options: ["This", "That"] } }] },
        finish("All **done**."),
      );
      const edit = await panel.card("a.txt");
      assert.deepEqual(await faults(panel), []);
      await panel.bench.screenshot(`panel-card-${theme}`);
      await edit.getByRole("button", { name: "Approve", exact: true }).click();
      const command = await panel.card("Wants to run a command");
      assert.deepEqual(await faults(panel), []);
      await command.getByRole("button", { name: "Approve", exact: true }).click();
      const chat = await panel.chat();
      await chat.getByRole("button", { name: "That" }).waitFor();
      assert.deepEqual(await faults(panel), []);
      await chat.getByRole("button", { name: "That" }).click();
      await chat.getByText("All done.").waitFor();
      await chat.getByRole("button", { name: /^run / }).click();
      assert.deepEqual(await faults(panel), []);
      await panel.bench.screenshot(`panel-end-${theme}`);
    });
  });

describe("the main job by the keyboard alone", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({ files: { "a.txt": "one\n" } });
  });
  after(() => panel?.stop());

  it("asks, reaches the card, approves, and hears of it", async () => {
    const { page } = panel.bench;
    await panel.bench.command("Countersign: New Session");
    const chat = await panel.chat();
    await chat.locator("textarea:focus").waitFor();
    panel.model.push(write("a.txt", "two\n"), finish("Done by keys."));
    await page.keyboard.type("Change a.txt");
    await page.keyboard.press("Enter");
    await panel.card("a.txt");
    await chat.getByRole("status").getByText("Permission needed: a.txt").waitFor();
    await panel.bench.command("Countersign: Next Card");
    await chat.locator("[data-card]:focus").waitFor();
    for (let i = 0; i < 10; i++) {
      if ((await chat.locator("button.primary:focus").count()) > 0) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await chat.getByText("Done by keys.").waitFor();
    assert.equal(await panel.bench.read("a.txt"), "two\n");
    await chat.getByRole("status").getByText("The turn has ended: Finished").waitFor();
  });
});
