import { execFileSync } from "node:child_process";
import { watch } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { root } from "../scripts/process.js";
import { until, type Workbench } from "../test/workbench/harness.js";
import { type Panel, startPanel } from "../test/workbench/ui/panel.js";
import { clock, median, type Report } from "./support/measure.js";

const WINDOWS = 5;
const ASKS = 7;
/** After this a window that was opened has nothing more to do. */
const REST_MS = 5000;

/** Why an activation may miss its goal. */
const REST_OF_IT =
  "the two rows below are ours; the rest is VS Code's extension host between the marks of its clock.";

interface Activation {
  /** Loading, the call and its end: what “Developer: Show Running Extensions” adds up. */
  readonly whole: number;
  /** From the mark before VS Code requires our code to the one after. */
  readonly loading: number;
  /** The call of `activate`, until it returns. */
  readonly call: number;
  /** The whole of VS Code's own Git extension, in the same window. */
  readonly git: number;
}

/** What “Developer: Startup Performance” says of the window that is open. Milliseconds. */
async function activation({ page, command }: Workbench): Promise<Activation> {
  await command("Developer: Startup Performance");
  const lines = page.locator(".view-line");
  const texts = async () =>
    (await lines.allInnerTexts()).map((text) => text.replaceAll("\u00a0", " "));
  const row = /^\| ([\w.-]+) +\| \w+ +\| (\d+) +\| (\d+) +\| (\d+) /;
  const [own, git] = await until("the activations' times", async () => {
    const rows = (await texts()).map((text) => row.exec(text));
    const parts = ["countersign.countersign", "vscode.git"].map((id) =>
      rows
        .find((one) => one?.[1] === id)
        ?.slice(2)
        .map(Number),
    );
    return parts.every((part) => part !== undefined) && parts;
  });
  const sum = (parts: readonly number[] = []): number => parts.reduce((all, one) => all + one, 0);
  // The marks are far below, and the editor draws the lines that are seen.
  await page.keyboard.press("Control+f");
  await page.keyboard.insertText("ExtensionCode/countersign.countersign");
  const [before, after] = await until("the marks", async () => {
    const all = (await texts()).join("\n");
    const marks = ["will", "did"].map((which) =>
      new RegExp(`/${which}LoadExtensionCode/countersign\\.countersign +(\\d+)`).exec(all),
    );
    return marks.every((mark) => mark !== null) && marks.map((mark) => Number(mark?.[1]));
  });
  await page.keyboard.press("Escape");
  return {
    whole: sum(own),
    loading: (after ?? Number.NaN) - (before ?? Number.NaN),
    call: own?.[1] ?? Number.NaN,
    git: sum(git),
  };
}

/** For the page of the chat: when keys and clicks came, and when a card was on the screen. */
const WATCH_PAGE = `(() => {
  const times = { key: 0, click: 0, card: 0 };
  window.times = times;
  const now = (at = performance.now()) => performance.timeOrigin + at;
  addEventListener("keydown", ({ timeStamp }) => { times.key = now(timeStamp); }, true);
  addEventListener("click", ({ timeStamp }) => { times.click = now(timeStamp); }, true);
  let seen = 0;
  new MutationObserver(() => {
    const cards = [...document.querySelectorAll("button")].filter(
      (button) => button.textContent?.trim() === "Approve",
    ).length;
    if (cards > seen) requestAnimationFrame(() => { times.card = now(); });
    seen = cards;
  }).observe(document.body, { childList: true, subtree: true });
})()`;

interface Times {
  readonly toRequest: number;
  readonly toCard: number;
  readonly toDisk: number;
}

/** One ask, its one card, the click on Approve and the file on the disk. */
async function oneWrite({ bench, model, chat, ask, card }: Panel, n: number): Promise<Times> {
  let requested = 0;
  let answered = 0;
  let written = 0;
  const first = model.requests.length;
  void model.request(first).then(() => (requested = clock()));
  const file = `file-${n}.txt`;
  const call = { tool: "write_file", args: { path: file, content: `${"a line\n".repeat(200)}` } };
  const before = new Promise<void>((resolve) =>
    model.request(first).then(() => {
      answered = clock();
      resolve();
    }),
  );
  await ask(`Write ${file}.`, { before, calls: [call] }, { text: "Written." });
  const shown = await card(file);
  const watcher = watch(bench.folder, (_, name) => {
    if (name === file && written === 0) written = clock();
  });
  const page = await chat();
  const times = await page.evaluate<{ key: number; card: number }>("({ ...window.times })");
  await shown.getByRole("button", { name: "Approve", exact: true }).click();
  await until("the file on the disk", async () => written > 0);
  watcher.close();
  const clicked = await page.evaluate<number>("window.times.click");
  await model.request(first + 1);
  await until(
    "the end of the turn",
    async () =>
      (await bench.sessions())
        .flatMap(({ events }) => events)
        .filter(({ type }) => type === "turn_ended").length > n,
  );
  return {
    toRequest: requested - times.key,
    toCard: times.card - answered,
    toDisk: written - clicked,
  };
}

/** Files that Node loads for `activate`, and their bytes; `vscode` is an empty stand-in. */
function loadedAtActivation(): { files: number; bytes: number } {
  const program = `
    const Module = require("node:module");
    const load = Module._load;
    const stub = { EventEmitter: class {}, ThemeIcon: class {} };
    Module._load = (name, ...rest) => (name === "vscode" ? stub : load(name, ...rest));
    require(process.argv[1]);
    const sizes = Object.keys(require.cache).map((file) => require("node:fs").statSync(file).size);
    console.log(JSON.stringify({ files: sizes.length, bytes: sizes.reduce((a, b) => a + b, 0) }));`;
  const entry = join(root, "dist/extension.cjs");
  const text = execFileSync(process.execPath, ["-e", program, entry], { encoding: "utf8" });
  return JSON.parse(text) as { files: number; bytes: number };
}

/** The package, installed in a real VS Code. In a browser on a server the window is the slower half. */
export default async function bench(report: Report): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  try {
    const vsix = join(folder, "countersign.vsix");
    const script = join(root, "scripts/with-deps.mjs");
    execFileSync(process.execPath, [script, "scripts/package.ts", "--out", vsix], {
      cwd: root,
      stdio: "ignore",
    });
    report({
      name: "the package (VSIX)",
      value: (await stat(vsix)).size / 1000,
      unit: "kB",
      limit: 1024,
    });
    await inWindow(vsix, report);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** How much of it is ours. */
function reportParts(windows: readonly Activation[], report: Report): void {
  const loading = median(windows.map((one) => one.loading));
  const call = median(windows.map((one) => one.call));
  report({ name: "  of it, loading our code", value: loading, unit: "ms" });
  report({ name: "  of it, the call of activate", value: call, unit: "ms" });
}

async function inWindow(vsix: string, report: Report): Promise<void> {
  const { files, bytes } = loadedAtActivation();
  report({
    name: `code loaded at activation, in ${files} files`,
    value: bytes / 1000,
    unit: "kB",
    limit: 82,
  });
  // Large, for the editor draws what is seen.
  const panel = await startPanel({ vsix, viewport: { width: 2600, height: 1800 } });
  try {
    const { bench } = panel;
    await panel.newSession();
    const windows: Activation[] = [];
    for (let n = 0; n < WINDOWS; n++) {
      await bench.reload();
      await panel.chat();
      windows.push(await activation(bench));
    }
    report({
      name: `activation by VS Code's own clock, median of ${WINDOWS} windows`,
      value: median(windows.map(({ whole }) => whole)),
      unit: "ms",
      limit: 50,
      peer: "VS Code's Git",
      peerValue: median(windows.map(({ git }) => git)),
      note: `${REST_OF_IT} It loads its own extensions in the same second, on the cores that draw the window.`,
    });
    reportParts(windows, report);
    // A window without our view loads nothing of ours until the first command.
    const atRest: Activation[] = [];
    for (let n = 0; n < WINDOWS; n++) {
      await bench.command("View: Close All Editors");
      await bench.command("View: Toggle Secondary Side Bar Visibility");
      await bench.reload();
      await delay(REST_MS);
      await panel.newSession();
      atRest.push(await activation(bench));
    }
    report({
      name: `the same by a command in a window at rest, median of ${WINDOWS}`,
      value: median(atRest.map(({ whole }) => whole)),
      unit: "ms",
      limit: 50,
      peer: "VS Code's Git",
      peerValue: median(atRest.map(({ git }) => git)),
      note: REST_OF_IT,
    });
    reportParts(atRest, report);
    await bench.command("View: Close All Editors");
    await bench.page.setViewportSize({ width: 1400, height: 900 });
    await panel.newSession();
    await (await panel.chat()).evaluate(WATCH_PAGE);
    const writes: Times[] = [];
    for (let n = 0; n < ASKS; n++) writes.push(await oneWrite(panel, n));
    const of = (what: (one: Times) => number): number => median(writes.map(what));
    report({
      name: "the key that sends to the first request",
      value: of((one) => one.toRequest),
      unit: "ms",
      limit: 30,
    });
    report({
      name: "the model's answer to its card on the screen",
      value: of((one) => one.toCard),
      unit: "ms",
      limit: 150,
    });
    report({
      name: "the click to the bytes on the disk",
      value: of((one) => one.toDisk),
      unit: "ms",
      limit: 60,
    });
  } finally {
    await panel.stop();
  }
}
