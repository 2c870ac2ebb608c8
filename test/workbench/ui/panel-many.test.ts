import assert from "node:assert/strict";
import {
  manyEvents,
  openPanelPage,
  type PanelPage,
  snapshotOf,
  streamInto,
} from "../../support/panelPage.js";

/** More rows than this in the page would be drawn for nobody. */
const MOST_ROWS = 100;

describe("a session of 10,000 events", () => {
  let panel: PanelPage;
  const all = manyEvents(10_000);
  const rows = () => panel.page.evaluate<number>("document.querySelectorAll('.list .row').length");

  /** How many rows each drawing brought while the session came up for the first time. */
  let drawings: readonly number[];

  before(async () => {
    panel = await openPanelPage();
    await panel.page.evaluate(`{
      window.drawings = [];
      new MutationObserver((records) => {
        const rows = records.flatMap(({ addedNodes }) =>
          [...addedNodes].flatMap((node) => [node, ...(node.querySelectorAll?.("*") ?? [])]));
        const count = rows.filter((node) => node.classList?.contains("row")).length;
        if (count > 0) window.drawings.push(count);
      }).observe(document.body, { childList: true, subtree: true });
    }`);
    await panel.post(snapshotOf(all.slice(-1_000), 9_000));
    // It is drawn from the end upwards. `waitForFunction` would evaluate, which the page's policy forbids.
    await panel.page.evaluate(`new Promise((resolve) => {
      const top = (selector) => document.querySelector(selector)?.getBoundingClientRect().top;
      const look = () =>
        top(".list .row") < top(".list") ? resolve() : requestAnimationFrame(look);
      look();
    })`);
    drawings = await panel.page.evaluate<number[]>("window.drawings");
    for (let left = 9; left > 0; left--) {
      const events = all.slice((left - 1) * 1_000, left * 1_000);
      await panel.post({ type: "earlier", session: "s", events, earlier: (left - 1) * 1_000 });
    }
  });

  after(() => panel.close());

  it("comes up row by row, no more than four at once, so that no key waits for all of them", () => {
    assert.ok(drawings.length > 1, `${drawings}`);
    for (const count of drawings) assert.ok(count <= 4, `${drawings}`);
  });

  it("has in the page only what is near the view, at the end and at the start", async () => {
    const { page } = panel;
    await page.getByText("Thing 9999 is").waitFor();
    const atEnd = await rows();
    await page.evaluate("document.querySelector('.list').scrollTop = 0");
    await page.getByText("Do thing 1", { exact: true }).waitFor();
    const atStart = await rows();
    for (const count of [atEnd, atStart])
      assert.ok(count > 0 && count < MOST_ROWS, `${count} rows`);
  });

  it("loses no key that is typed while words stream in, and no word", async () => {
    const { page } = panel;
    const field = page.getByRole("textbox", { name: "Message" });
    await field.focus();
    const words = `Streamed words. ${"more of them, ".repeat(200)}The last of them.`;
    const streaming = streamInto(page, words);
    const typed = "typed while it streams ".repeat(4);
    await page.keyboard.type(typed);
    await streaming;
    assert.equal(await field.inputValue(), typed);
    await page.evaluate("document.querySelector('.list').scrollTop = 1e9");
    await page.getByText("The last of them.").waitFor();
  });

  it("has a field that is as high as what is written in it, up to 200 pixels", async () => {
    const field = panel.page.getByRole("textbox", { name: "Message" });
    const height = async (lines: number): Promise<number> => {
      await field.fill(`${"line\n".repeat(lines - 1)}line`);
      return (await field.boundingBox())?.height ?? 0;
    };
    const [one, three, many] = [await height(1), await height(3), await height(100)];
    const line = (three - one) / 2;
    assert.ok(one < 2.5 * line && line > 10, `${one} for one line, ${three} for three`);
    assert.equal(many, 200);
    assert.equal(await height(1), one);
  });
});
