import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Browser, chromium } from "playwright-core";
import { keepFailure } from "../../../scripts/failures.js";
import { root } from "../../../scripts/process.js";
import { CHROMIUM_ARGS, chromiumPath } from "../../../scripts/vscode/chromium.js";
import { findFrame } from "../harness.js";

describe("npm start", () => {
  let child: ChildProcess;
  let browser: Browser | undefined;
  let printed = "";

  before(() => {
    child = spawn("npm", ["start"], {
      cwd: root,
      env: { ...process.env, COUNTERSIGN_VSCODE: "web" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
  });

  after(async () => {
    await browser?.close();
    if (child.pid === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    process.kill(-child.pid, "SIGINT");
    await ended;
  });

  it("prints an address behind which a newcomer sees a card within a minute", async () => {
    const address = await printedAddress();
    const start = performance.now();
    browser = await chromium.launch({
      executablePath: await chromiumPath(),
      args: [...CHROMIUM_ARGS],
    });
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    try {
      await page.goto(address);
      const panel = await findFrame(page, '[role="log"]', 60_000);
      const composer = panel.getByRole("textbox", { name: "Message" });
      await composer.fill("Show me around");
      await composer.press("Enter");
      await panel
        .getByRole("group", { name: /^Permission: / })
        .first()
        .waitFor();
    } catch (error) {
      const place = await keepFailure("npm start", {
        pages: [page],
        texts: { "start.log": printed },
      });
      console.log(`      what there is to see of it: ${place}`);
      throw error;
    }
    assert.ok(performance.now() - start < 60_000);
  });

  function printedAddress(): Promise<string> {
    return new Promise((resolve, reject) => {
      const take = (chunk: Buffer) => {
        printed += chunk.toString("utf8");
        const address = /http:\/\/127\.0\.0\.1:\S+/.exec(printed)?.[0];
        if (address !== undefined) resolve(address);
      };
      child.stdout?.on("data", take);
      child.stderr?.on("data", take);
      child.on("exit", (code) => reject(new Error(`npm start ended (${code}):\n${printed}`)));
    });
  }
});
