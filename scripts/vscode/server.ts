import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { must, ScriptError } from "../process.js";
import { webVsCode } from "./web.js";

export interface ServerOptions {
  /** The extension under development, an absolute folder. */
  readonly extension?: string;
  /** More extensions, absolute folders: a server takes one under development, so these are installed. */
  readonly more?: readonly string[];
  /** What opens: a folder or a `.code-workspace` file, absolute. */
  readonly folder?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** True keeps workspace trust on, so that a folder opens untrusted. */
  readonly trust?: boolean;
  /** A VSIX to install first, absolute. */
  readonly vsix?: string;
  /** A module with `run()`, which runs inside the extension host, absolute. */
  readonly testsPath?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Where the profile goes, to start again on the same one. Default: a temporary one, removed by `stop`. */
  readonly data?: string;
}

/** A running VS Code server with a profile of its own. */
export interface Server {
  /** Opens the workbench in a browser. */
  readonly url: string;
  /** Opens a window on another folder or `.code-workspace` file, or on none. */
  urlOf(folder: string | undefined): string;
  /** The user data directory: `User/settings.json`, `User/globalStorage`, `logs`. */
  readonly data: string;
  /** Everything the server printed. */
  log(): string;
  /** Ends the server and all it started; removes a temporary profile. */
  stop(): Promise<void>;
}

/** A window without the editor's own welcome, chat and telemetry. */
export const CLEAN_SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "visible",
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "update.showReleaseNotes": false,
  "window.restoreWindows": "none",
} as const;

/** Writes a profile's settings; those of machine scope are read from the second file by a server. */
export async function writeSettings(
  data: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  const text = JSON.stringify(settings, undefined, 2);
  for (const place of ["User", "Machine"]) {
    await mkdir(join(data, place), { recursive: true });
    await writeFile(join(data, place, "settings.json"), text);
  }
}

/** Starts the server on a free port of 127.0.0.1 and waits until it listens. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { node, main } = await webVsCode();
  const data = options.data ?? (await mkdtemp(join(tmpdir(), "countersign-vscode-")));
  await writeSettings(data, { ...CLEAN_SETTINGS, ...options.settings });
  const profile = [
    ["--user-data-dir", data],
    ["--server-data-dir", join(data, "server")],
    ["--extensions-dir", join(data, "extensions")],
  ].flat();
  for (const folder of options.more ?? []) await installFolder(folder, join(data, "extensions"));
  const env = { ...process.env, ...options.env };
  if (options.vsix !== undefined) {
    const install = ["--accept-server-license-terms", "--install-extension", options.vsix];
    await must("Installing the package", node, [main, ...profile, ...install], { env });
  }
  const args = [
    ...["--host", "127.0.0.1", "--port", "0", "--without-connection-token"],
    ...["--accept-server-license-terms", "--enable-smoke-test-driver", "--telemetry-level", "off"],
    ...(options.trust === true ? [] : ["--disable-workspace-trust"]),
  ];
  const child = spawn(node, [main, ...args, ...profile], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: the extension hosts end with it.
    detached: process.platform !== "win32",
  });
  let log = "";
  const stop = async () => {
    await endTree(child);
    if (options.data === undefined) await rm(data, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const port = await listening(child, (text) => {
      log += text;
    });
    const urlOf = (folder: string | undefined) => address(port, options, folder);
    return { url: urlOf(options.folder), urlOf, data, log: () => log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A server that starts on a new profile takes what lies in its extensions folder for installed. */
async function installFolder(folder: string, extensions: string): Promise<void> {
  const { publisher, name, version } = manifest.parse(
    JSON.parse(await readFile(join(folder, "package.json"), "utf8")),
  );
  await cp(folder, join(extensions, `${publisher}.${name}-${version}`), { recursive: true });
}

const manifest = z.object({ publisher: z.string(), name: z.string(), version: z.string() });

function listening(child: ChildProcess, onText: (text: string) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = "";
    const take = (chunk: Buffer) => {
      const text = chunk.toString("utf8");
      onText(text);
      seen += text;
      const port = /Extension host agent listening on (\d+)/.exec(seen)?.[1];
      if (port !== undefined) resolve(port);
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
    child.on("error", reject);
    child.on("exit", (code) =>
      reject(new ScriptError(`VS Code's server ended before it listened (${code}):\n${seen}`)),
    );
  });
}

function address(port: string, options: ServerOptions, folder: string | undefined): string {
  const remote = (path: string) => `vscode-remote://127.0.0.1:${port}${path}`;
  const payload = Object.entries({
    extensionDevelopmentPath: options.extension,
    extensionTestsPath: options.testsPath,
  }).flatMap(([name, path]) => (path === undefined ? [] : [[name, remote(path)]]));
  const query = new URLSearchParams({ payload: JSON.stringify(payload) });
  if (folder === undefined) query.set("ew", "true");
  else query.set(folder.endsWith(".code-workspace") ? "workspace" : "folder", folder);
  return `http://127.0.0.1:${port}/?${query}`;
}

async function endTree(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  if (process.platform === "win32") child.kill();
  else process.kill(-child.pid, "SIGKILL");
  await ended;
}
