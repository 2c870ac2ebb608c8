/** The panel's page in a browser: 10,000 events, a stream of 200 deltas a second, and someone who types. */

import { SNAPSHOT_EVENTS } from "../src/webview/sizes.js";
import { manyEvents, openPanelPage, snapshotOf, streamInto } from "../test/support/panelPage.js";
import type { Report } from "./support/measure.js";

const EVENTS = 10_000;
/** What is seen of a task that took less than this is 0: the browser does not tell. */
const TASK_MS = 50;

/** What is streamed: talk in short blocks, and one long piece of code, which is drawn anew each time. */
const TALK = "Some words of a model, *as they come*, and `code`.\n\n".repeat(80);
const CODE = `\`\`\`ts\n${"export const value = (name: string): string => 'a ' + name;\n".repeat(330)}`;

export default async function bench(report: Report): Promise<void> {
  const panel = await openPanelPage();
  const { page } = panel;
  try {
    await panel.longestTask();
    const all = manyEvents(EVENTS);
    const start = performance.now();
    let left = EVENTS - SNAPSHOT_EVENTS;
    await panel.post(snapshotOf(all.slice(left), left));
    await page.getByText("Many things").waitFor();
    report({
      name: "a session of 10,000 events to the screen",
      value: performance.now() - start,
      unit: "ms",
    });
    report({
      name: "  longest task",
      value: await panel.longestTask(),
      unit: "ms",
      limit: TASK_MS,
    });
    let longest = 0;
    while (left > 0) {
      const from = Math.max(0, left - SNAPSHOT_EVENTS);
      const events = all.slice(from, left);
      await panel.post({ type: "earlier", session: "s", events, earlier: from });
      longest = Math.max(longest, await panel.longestTask());
      left = from;
    }
    report({
      name: "its earlier events, page by page: longest task",
      value: longest,
      unit: "ms",
      limit: TASK_MS,
    });
    await page.evaluate(`(async () => {
      const list = document.querySelector(".list");
      for (let top = list.scrollHeight; top > 0; top -= list.scrollHeight / 200) {
        list.scrollTop = top;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      list.scrollTop = list.scrollHeight;
    })()`);
    report({
      name: "from the end to the start in 200 jumps: longest task",
      value: await panel.longestTask(),
      unit: "ms",
      limit: TASK_MS,
    });
    let n = 1;
    for (const [name, text] of Object.entries({ talk: TALK, "20,000 characters of code": CODE })) {
      const typed = await typing(panel.page, () => streamInto(page, text, n));
      n += Math.ceil(text.length / 24);
      report({
        name: `typing while 200 deltas a second bring ${name}: slowest key`,
        value: typed.slowest,
        unit: "ms",
        limit: 50,
      });
      report({ name: "  of 20 keys the second slowest in each", value: typed.p95, unit: "ms" });
      report({ name: "  keys lost", value: typed.lost, unit: "", limit: 1 });
      report({
        name: "  longest task",
        value: await panel.longestTask(),
        unit: "ms",
        limit: TASK_MS,
      });
    }
  } finally {
    await panel.close();
  }
}

/** Types ten keys a second until `work` is done; from each key to the frame that shows it. */
async function typing(
  page: import("playwright-core").Page,
  work: () => Promise<void>,
): Promise<{ slowest: number; p95: number; lost: number }> {
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("");
  await field.focus();
  await page.evaluate(`{
    window.latencies = [];
    window.onkeydown = (key) => {
      const at = key.timeStamp;
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => window.latencies.push(performance.now() - at);
        port2.postMessage(0);
      });
    };
  }`);
  let done = false;
  const working = work().then(() => {
    done = true;
  });
  let typed = "";
  while (!done) {
    const key = "abcdefghij"[typed.length % 10] ?? "a";
    await page.keyboard.press(key);
    typed += key;
    await page.waitForTimeout(90);
  }
  await working;
  const shown = await field.inputValue();
  const times = (await page.evaluate<number[]>("window.latencies")).sort((a, b) => a - b);
  return {
    slowest: times.at(-1) ?? 0,
    p95: times[Math.floor(times.length * 0.95)] ?? 0,
    lost: typed.length - shown.length,
  };
}
