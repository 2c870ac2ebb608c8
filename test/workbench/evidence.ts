/** What is kept of a test that failed: importing this file is enough. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { keepFailure } from "../../scripts/failures.js";

/** The workbenches that are up. */
export const watched = new Set<{
  readonly page: Page;
  readonly data: string;
  readonly console: readonly string[];
  readonly log: () => string;
}>();

// A benchmark has no mocha.
if (typeof afterEach === "function") afterEach(keepOfFailed);

async function keepOfFailed(this: Mocha.Context): Promise<void> {
  if (this.currentTest?.state !== "failed") return;
  for (const { page, data, console: lines, log } of watched) {
    const pages = page.context().pages();
    const shown = await panelTexts(pages);
    const place = await keepFailure(this.currentTest.fullTitle(), {
      pages,
      texts: { "console.log": lines.join("\n"), "server.log": log(), "panels.txt": shown },
      folders: {
        logs: join(data, "logs"),
        storage: join(data, "User/globalStorage/countersign.countersign"),
      },
    });
    console.log(`      what there is to see of it: ${place}`);
    // Where only the output of the run is kept, this is what is left of it.
    console.log(shown.slice(-2_000).replace(/^/gm, "      | "));
  }
}

/** What our pages in these windows show, and hold in their fields, as text. */
async function panelTexts(pages: readonly Page[]): Promise<string> {
  const texts: string[] = [];
  for (const frame of pages.flatMap((page) => page.frames())) {
    const ours = frame.locator(".composer, .approvals");
    if ((await ours.count().catch(() => 0)) === 0) continue;
    const text = frame.locator("body").ariaSnapshot({ timeout: 5_000 });
    texts.push(await text.catch((error: Error) => error.message));
  }
  return texts.join("\n----\n");
}
