import { watch } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { runTests } from "@vscode/test-electron";
import { chromium } from "playwright-core";
import { keepFailure } from "./failures.js";
import { type Results, readResults } from "./results.js";
import { CHROMIUM_ARGS, chromiumPath } from "./vscode/chromium.js";
import { desktopVsCode } from "./vscode/desktop.js";
import { CLEAN_SETTINGS, startServer, writeSettings } from "./vscode/server.js";

/** How long the suites inside the extension host may take, VS Code's start included. */
const TIMEOUT_MS = 300_000;

/** Runs `dist-test/host.cjs` inside an extension host and prints what became of each test. */
export async function runHostSuites(extension: string): Promise<Results> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-host-"));
  const results = join(folder, "results.json");
  const workspace = join(folder, "workspace");
  const testsPath = join(extension, "dist-test/host.cjs");
  await cp(join(extension, "sample"), workspace, { recursive: true });
  const env = { COUNTERSIGN_RESULTS: results };
  try {
    const desktop = await desktopVsCode();
    if (desktop === undefined) await onServer({ extension, testsPath, workspace, env, results });
    else {
      const data = join(folder, "data");
      await writeSettings(data, CLEAN_SETTINGS);
      await runTests({
        vscodeExecutablePath: desktop,
        extensionDevelopmentPath: extension,
        extensionTestsPath: testsPath,
        extensionTestsEnv: env,
        launchArgs: [workspace, "--user-data-dir", data, "--disable-workspace-trust"],
      }).catch((error: unknown) => console.error(error));
    }
    const read = await readResults(results);
    for (const { ok, title, error } of read.tests) {
      console.log(ok ? `  ✔ ${title}` : `  ✗ ${title}\n${error ?? ""}`);
    }
    return read;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface HostRun {
  readonly extension: string;
  readonly testsPath: string;
  readonly workspace: string;
  readonly env: NodeJS.ProcessEnv;
  readonly results: string;
}

async function onServer({ extension, testsPath, workspace, env, results }: HostRun): Promise<void> {
  const server = await startServer({ extension, folder: workspace, testsPath, env });
  const browser = await chromium.launch({
    executablePath: await chromiumPath(),
    args: [...CHROMIUM_ARGS],
  });
  try {
    const page = await browser.newPage();
    const lines: string[] = [];
    page.on("console", (message) => lines.push(message.text()));
    const written = appears(results, TIMEOUT_MS);
    await page.goto(server.url);
    if (!(await written)) {
      const place = await keepFailure("host", {
        pages: [page],
        texts: { "console.log": lines.join("\n"), "server.log": server.log() },
        folders: { logs: join(server.data, "logs") },
      });
      console.error(`The suites did not end; what there is to see is in ${place}`);
    }
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Resolves with true when `file` is there, and with false after `timeout` milliseconds. */
function appears(file: string, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (found: boolean) => {
      watcher.close();
      clearTimeout(timer);
      resolve(found);
    };
    const watcher = watch(join(file, ".."), (_, name) => {
      if (name === basename(file)) end(true);
    });
    const timer = setTimeout(() => end(false), timeout);
  });
}
