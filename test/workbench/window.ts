/** One VS Code window for Playwright: the desktop's where there is one, else the server's in Chromium. */
import { _electron, chromium, type Page } from "playwright-core";
import { must } from "../../scripts/process.js";
import { CHROMIUM_ARGS, chromiumPath } from "../../scripts/vscode/chromium.js";
import { desktopVsCode } from "../../scripts/vscode/desktop.js";
import { CLEAN_SETTINGS, startServer, writeSettings } from "../../scripts/vscode/server.js";

export interface WindowOptions {
  readonly extension?: string;
  readonly more: readonly string[];
  readonly folder?: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly trust: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly data: string;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly vsix?: string;
}

export interface Window {
  readonly page: Page;
  readonly data: string;
  log(): string;
  reload(): Promise<void>;
  /** Another window on the same profile, on a folder or on none. */
  another(folder: string | undefined): Promise<Page>;
  /** Changes the profile's settings while it runs. */
  set(settings: Readonly<Record<string, unknown>>): Promise<void>;
  close(): Promise<void>;
}

const settingsOf = (options: WindowOptions) => ({
  ...(options.trust ? { "security.workspace.trust.startupPrompt": "never" } : {}),
  ...options.settings,
});

export async function openWindow(options: WindowOptions): Promise<Window> {
  // A package is installed by the server's own command line.
  const desktop = options.vsix === undefined ? await desktopVsCode() : undefined;
  return desktop === undefined ? inBrowser(options) : onDesktop(desktop, options);
}

async function inBrowser(options: WindowOptions): Promise<Window> {
  const server = await startServer({ ...options, settings: settingsOf(options) });
  try {
    const browser = await chromium.launch({
      executablePath: await chromiumPath(),
      args: [...CHROMIUM_ARGS],
    });
    const context = await browser.newContext({ viewport: options.viewport });
    const open = async (folder: string | undefined) => {
      const page = await context.newPage();
      await page.goto(server.urlOf(folder));
      await ready(page);
      return page;
    };
    const page = await open(options.folder);
    let settings = { ...CLEAN_SETTINGS, ...settingsOf(options) };
    return {
      page,
      data: server.data,
      log: server.log,
      reload: async () => {
        await page.reload();
        await ready(page);
      },
      another: open,
      set: async (change) => {
        settings = { ...settings, ...change };
        await applied(page, settings, server.data);
      },
      close: async () => {
        await browser.close();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function onDesktop(executablePath: string, options: WindowOptions): Promise<Window> {
  let settings = { ...CLEAN_SETTINGS, ...settingsOf(options) };
  await writeSettings(options.data, settings);
  const args = [
    ...[options.extension ?? [], options.more]
      .flat()
      .map((path) => `--extensionDevelopmentPath=${path}`),
    `--user-data-dir=${options.data}`,
    `--extensions-dir=${options.data}/extensions`,
    ...["--no-sandbox", "--disable-updates", "--skip-welcome", "--skip-release-notes"],
    "--password-store=basic",
    ...(options.trust ? [] : ["--disable-workspace-trust"]),
  ];
  const place = (folder: string | undefined) => (folder === undefined ? [] : [folder]);
  const env = Object.fromEntries(
    Object.entries({ ...process.env, ...options.env }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    ),
  );
  const app = await _electron.launch({
    executablePath,
    args: [...args, ...place(options.folder)],
    env,
  });
  const page = await app.firstWindow();
  await page.setViewportSize(options.viewport);
  await ready(page);
  return {
    page,
    data: options.data,
    log: () => "",
    reload: async () => {
      await page.reload();
      await ready(page);
    },
    another: async (folder) => {
      const opened = app.waitForEvent("window");
      // A second start on the same profile hands over to the first, which opens the window.
      await must("A window", executablePath, [...args, "--new-window", ...place(folder)], { env });
      const second = await opened;
      await ready(second);
      return second;
    },
    set: async (change) => {
      settings = { ...settings, ...change };
      await applied(page, settings, options.data);
    },
    close: () => app.close(),
  };
}

async function ready(page: Page): Promise<void> {
  await page.locator(".monaco-workbench .statusbar").waitFor({ timeout: 60_000 });
}

let written = 0;

/** Writes settings and waits until the window goes by them: its title is one of them. */
async function applied(
  page: Page,
  settings: Readonly<Record<string, unknown>>,
  data: string,
): Promise<void> {
  const title = `settings ${++written}`;
  await writeSettings(data, { ...settings, "window.title": title });
  await page.waitForFunction(`document.title.includes(${JSON.stringify(title)})`);
}
