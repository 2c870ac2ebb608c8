/**
 * A real VS Code for the UI suites. One a suite file, started in `before`, stopped in `after`:
 *
 *   const bench = await startWorkbench({ files: { "a.txt": "one\n" }, settings: { … } });
 *   await bench.command("Countersign: New Session");           // by its title in the palette
 *   const panel = await bench.frame('[role="log"]');            // the webview that has this
 *   await panel.getByRole("textbox", { name: "Message" }).fill("hello");
 *   await bench.event("turn_ended");                            // waits for it in the log on disk
 *   await bench.read("a.txt");                                  // a file of the workspace
 *   await bench.stop();
 *
 * `page` is Playwright's; locators wait by themselves. Settings are written both as the user's and
 * as the machine's, so that those of machine scope count. After a test that failed, screenshots
 * and the logs of every workbench that is up are kept and their place printed.
 */
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ConsoleMessage, Frame, Page } from "playwright-core";
import { root } from "../../scripts/process.js";
import type { SessionEvent } from "../../src/core/session/events.js";
import { eventOfLine } from "../support/logLine.js";
import { watched } from "./evidence.js";
import { openWindow } from "./window.js";

export interface WorkbenchOptions {
  /** Files of the workspace, by relative path; in a temporary folder that `stop` removes. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Opens this folder or `.code-workspace` file instead, which stays. */
  readonly folder?: string;
  /** Opens no folder at all. */
  readonly empty?: boolean;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** True keeps workspace trust on, so that the folder opens untrusted. */
  readonly trust?: boolean;
  /** More extensions, absolute folders. */
  readonly extensions?: readonly string[];
  /** Installs this package instead of loading the repository. */
  readonly vsix?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** A session as it is on disk. */
export interface SessionOnDisk {
  readonly id: string;
  readonly folder: string;
  readonly events: readonly SessionEvent[];
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

export interface Workbench {
  readonly page: Page;
  /** The workspace, after every symlink. */
  readonly folder: string;
  /** VS Code's user data directory. */
  readonly data: string;
  /** The frame, of the page or of a webview, that has an element for this selector; waits a minute. */
  frame(selector: string): Promise<Frame>;
  /** Runs a command by its title in the palette ("Countersign: Deny"); rejects where it is not offered. */
  command(title: string): Promise<void>;
  /** The titles that the palette offers for what is typed. */
  offered(typed: string): Promise<readonly string[]>;
  /** Keeps a picture under `.vscode-test/screenshots`; gives its path. */
  screenshot(name: string): Promise<string>;
  /** Every session, oldest first, read from its files now. */
  sessions(): Promise<readonly SessionOnDisk[]>;
  /** The first event of a type (and that `matches`) in any session's log; waits a minute. */
  event<T extends SessionEvent["type"]>(
    type: T,
    matches?: (event: Extract<SessionEvent, { type: T }>) => boolean,
  ): Promise<Extract<SessionEvent, { type: T }>>;
  /** A file of the workspace, as UTF-8; undefined where there is none. */
  read(path: string): Promise<string | undefined>;
  /** Loads the window again on the same profile: its extension host starts anew. */
  reload(): Promise<void>;
  /** A second window on the same profile and folder, with an extension host of its own. */
  secondWindow(): Promise<Page>;
  /** Another window on the same profile: on this folder or `.code-workspace` file, or on none. */
  openWindow(folder: string | undefined): Promise<Page>;
  /** Changes settings of the profile while it runs; VS Code hears of it by itself. */
  set(settings: Readonly<Record<string, unknown>>): Promise<void>;
  stop(): Promise<void>;
}

/** Long, since more than one window may come up on a machine that is busy; what is there ends a wait at once. */
const WAIT_MS = 60_000;

/** Starts VS Code with the extension loaded and waits until its window is there. */
export async function startWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const temporary = await realpath(await mkdtemp(join(tmpdir(), "countersign-workbench-")));
  const folder = options.folder ?? join(temporary, "workspace");
  if (options.folder === undefined) await writeFiles(folder, options.files ?? {});
  const window = await openWindow({
    ...(options.vsix === undefined ? { extension: root } : { vsix: options.vsix }),
    more: options.extensions ?? [],
    ...(options.empty === true ? {} : { folder }),
    settings: options.settings ?? {},
    trust: options.trust ?? false,
    env: options.env ?? {},
    data: join(temporary, "data"),
    viewport: options.viewport ?? { width: 1400, height: 900 },
  });
  const { page, data } = window;
  page.context().setDefaultTimeout(WAIT_MS);
  const lines: string[] = [];
  page.on("console", (message: ConsoleMessage) => lines.push(message.text()));
  const entry = { page, data, console: lines, log: window.log };
  watched.add(entry);

  const sessions = () => readSessions(join(data, "User/globalStorage/countersign.countersign"));
  return {
    page,
    folder,
    data,
    frame: (selector) => findFrame(page, selector),
    command: (title) => runCommand(page, title),
    offered: (typed) => offered(page, typed),
    screenshot: (name) => screenshot(page, name),
    sessions,
    event: async (type, matches) => {
      type Wanted = Extract<SessionEvent, { type: typeof type }>;
      const isWanted = (event: SessionEvent): event is Wanted =>
        event.type === type && (matches === undefined || matches(event as Wanted));
      return until(`an event ${type} in a log`, async () =>
        (await sessions()).flatMap((session) => session.events).find(isWanted),
      );
    },
    read: (path) => readFile(join(folder, path), "utf8").catch(() => undefined),
    reload: window.reload,
    secondWindow: () => window.another(options.empty === true ? undefined : folder),
    openWindow: window.another,
    set: window.set,
    stop: async () => {
      watched.delete(entry);
      await window.close();
      await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Asks again every 50 ms until there is an answer; rejects after a minute, naming what was waited for. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  timeout = WAIT_MS,
): Promise<T> {
  const end = Date.now() + timeout;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited ${timeout / 1000} s for ${what}`);
    await delay(50);
  }
}

async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** The frame of a page that has an element for `selector`; waits for it. */
export function findFrame(page: Page, selector: string, timeout = WAIT_MS): Promise<Frame> {
  const look = async () => {
    for (const frame of page.frames()) {
      // A frame may go away while it is asked.
      const count = await frame
        .locator(selector)
        .count()
        .catch(() => 0);
      if (count > 0) return frame;
    }
    return undefined;
  };
  return until(`a frame with ${selector}`, look, timeout);
}

const ROWS = ".quick-input-widget .quick-input-list .monaco-list-row";

async function typeInPalette(page: Page, typed: string, timeout = 3_000): Promise<void> {
  const input = page.locator(".quick-input-widget input[type=text]");
  await page.keyboard.press("F1");
  await input.fill(`>${typed}`, { timeout });
}

/** The labels that the open palette shows now (about twenty of them). */
function labels(page: Page): Promise<string[]> {
  return page
    .locator(ROWS)
    .evaluateAll((rows) => rows.map((row) => row.querySelector(".label-name")?.textContent ?? ""));
}

/** What a window's palette offers for `typed`, without what it only takes for similar. */
export async function offered(page: Page, typed: string): Promise<readonly string[]> {
  await typeInPalette(page, typed);
  // The list fills in steps: it is whole once it has not changed for half a second.
  let before = "";
  let since = Date.now();
  const settled = await until(`the palette to answer "${typed}"`, async () => {
    const now = await labels(page);
    const text = now.join("\n");
    if (text !== before) since = Date.now();
    before = text;
    return Date.now() - since > 500 && now;
  });
  await page.keyboard.press("Escape");
  return settled.filter((label) => label.toLowerCase().includes(typed.toLowerCase()));
}

/** Runs a command by its title in the palette of any window. */
export async function runCommand(page: Page, title: string): Promise<void> {
  let seen: string[] = [];
  const look = async () => {
    seen = await labels(page);
    const index = seen.indexOf(title);
    return index >= 0 && { index };
  };
  // An open palette does not hear of commands that come later, so it is opened again.
  for (let attempt = 0; attempt < 5; attempt++) {
    // While a window comes up, or where the focus is on its way, something takes the palette away;
    // a slow one needs more time, which each attempt has.
    const timeout = 3_000 * (attempt + 1);
    const done = await typeInPalette(page, title, timeout)
      .then(() => until(title, look, timeout))
      .then(({ index }) => page.locator(ROWS).nth(index).click({ timeout }))
      .then(
        () => true,
        () => false,
      );
    if (done) return;
    await page.keyboard.press("Escape");
  }
  throw new Error(`the palette does not offer "${title}" but: ${seen.join(" | ") || "nothing"}`);
}

async function screenshot(page: Page, name: string): Promise<string> {
  const folder = join(root, ".vscode-test/screenshots");
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path });
  return path;
}

async function readSessions(storage: string): Promise<readonly SessionOnDisk[]> {
  const parent = join(storage, "sessions");
  const ids = await readdir(parent).catch(() => []);
  const sessions = await Promise.all(
    ids.map(async (id) => {
      const folder = join(parent, id);
      const log = await readFile(join(folder, "log.jsonl"), "utf8").catch(() => "");
      const meta = await readFile(join(folder, "meta.json"), "utf8").catch(() => undefined);
      // The last line may be half written; it counts once it ends.
      const lines = log.split("\n").slice(0, -1);
      return {
        id,
        folder,
        events: lines.map(eventOfLine),
        meta: meta === undefined ? undefined : (JSON.parse(meta) as Record<string, unknown>),
      };
    }),
  );
  const startOf = ({ events }: SessionOnDisk) => events[0]?.at ?? "";
  return sessions.sort((a, b) => startOf(a).localeCompare(startOf(b)));
}
