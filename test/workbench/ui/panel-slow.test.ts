import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { until } from "../harness.js";
import { finish, type Panel, startPanel, write } from "./panel.js";

/** How much slower than this machine the window is. */
const SLOWER = 6;

describe("proposals in a slow window", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({
      // In a browser VS Code saves by itself, where nobody says otherwise.
      settings: { "files.autoSave": "off" },
      files: { "a.txt": "one\ntwo\n" },
    });
    await panel.newSession();
    const { page } = panel.bench;
    const devTools = await page.context().newCDPSession(page);
    await devTools.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  });
  after(() => panel?.stop());

  const page = () => panel.bench.page;
  const tabs = (): Promise<readonly string[]> =>
    page()
      .locator(".tabs-container .tab")
      .evaluateAll((all) =>
        all.map((tab) => `${tab.textContent}${tab.classList.contains("dirty") ? "*" : ""}`),
      );
  const right = (): Locator =>
    page().locator(".modified-in-monaco-diff-editor .view-lines:not(.line-delete)");

  it("leave no tab and no question behind when they are approved while they are typed into, and the next comes up", async () => {
    for (let round = 1; round <= 2; round++) {
      await panel.ask(
        `Round ${round}`,
        write("a.txt", `${round}a\n`),
        write("a.txt", `${round}b\n`),
        finish(`Round ${round} is done.`),
      );
      await panel.card(`${round}a`);
      await right().getByText(`${round}a`).waitFor();
      await right().click();
      await page().keyboard.type("abcdef");
      await page().keyboard.press("ControlOrMeta+k");
      await page().keyboard.press("ControlOrMeta+y");
      const second = await panel.card(`${round}b`);
      await right().getByText(`${round}b`).waitFor();
      await second.getByRole("button", { name: "Approve", exact: true }).click();
      await (await panel.chat()).getByText(`Round ${round} is done.`).waitFor();
      await until("the tabs to close", async () => (await tabs()).length === 0);
      assert.equal(await page().locator(".monaco-dialog-box").count(), 0);
    }
  });
});
