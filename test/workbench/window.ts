/** One VS Code window for Playwright: the desktop's where there is one, else the server's in Chromium. */
import { _electron, chromium, type Page } from "playwright-core";
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
  another(): Promise<Page>;
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
    const open = async () => {
      const page = await context.newPage();
      await page.goto(server.url);
      await ready(page);
      return page;
    };
    const page = await open();
    return {
      page,
      data: server.data,
      log: server.log,
      reload: async () => {
        await page.reload();
        await ready(page);
      },
      another: open,
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
  await writeSettings(options.data, { ...CLEAN_SETTINGS, ...settingsOf(options) });
  const args = [
    ...[options.extension ?? [], options.more]
      .flat()
      .map((path) => `--extensionDevelopmentPath=${path}`),
    `--user-data-dir=${options.data}`,
    `--extensions-dir=${options.data}/extensions`,
    ...["--no-sandbox", "--disable-updates", "--skip-welcome", "--skip-release-notes"],
    "--password-store=basic",
    ...(options.trust ? [] : ["--disable-workspace-trust"]),
    ...(options.folder === undefined ? [] : [options.folder]),
  ];
  const env = Object.fromEntries(
    Object.entries({ ...process.env, ...options.env }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    ),
  );
  const app = await _electron.launch({ executablePath, args, env });
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
    another: async () => {
      const opened = app.waitForEvent("window");
      await page.keyboard.press("ControlOrMeta+Shift+N");
      const second = await opened;
      await ready(second);
      return second;
    },
    close: () => app.close(),
  };
}

async function ready(page: Page): Promise<void> {
  await page.locator(".monaco-workbench .statusbar").waitFor({ timeout: 60_000 });
}
