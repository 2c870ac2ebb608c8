// Draws media/icon.png (256 px) from the sign of the view container: node media/make-icon.mjs
import { readFile, writeFile } from "node:fs/promises";
import { chromium } from "playwright-core";

const folder = new URL(".", import.meta.url);
const sign = await readFile(new URL("countersign.svg", folder), "utf8");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage({ viewport: { width: 256, height: 256 } });
await page.setContent(`<style>
  body { margin: 0; background: transparent; }
  div { width: 256px; height: 256px; border-radius: 56px; background: #16324f; color: #ffffff;
        display: grid; place-items: center; }
  svg { width: 184px; height: 184px; }
</style><div>${sign}</div>`);
await writeFile(new URL("icon.png", folder), await page.screenshot({ omitBackground: true }));
await browser.close();
