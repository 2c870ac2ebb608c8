/**
 * A real VS Code where nothing but the npm registry can be reached: the npm package `code-server`
 * holds VS Code's own server and workbench. It goes into the ignored `.vscode-test/web`, once;
 * every step is skipped where its result is there, and an interrupted one starts again.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { must, onPath, root, ScriptError } from "../process.js";
import { withLock } from "./lock.js";

/** The package's version; 4.139.1 holds VS Code 1.139.1. */
const CODE_SERVER = "4.139.1";
/** The Node that it wants, which is not the one this repository is built with. */
const NODE = "24";
/** What the extension host and the terminal load, built on this machine. */
const NATIVE = ["@vscode/spdlog", "@vscode/native-watchdog", "node-pty"];

/** The server of a real VS Code: `node` runs `main`. Both are absolute paths. */
export interface WebVsCode {
  readonly node: string;
  readonly main: string;
}

/** Puts the server into `folder` where it is not there yet. Needs npm, python3, make and g++. */
export async function webVsCode(folder = join(root, ".vscode-test/web")): Promise<WebVsCode> {
  const executable = process.platform === "win32" ? "node.exe" : "node";
  const node = join(folder, "node_modules/node/bin", executable);
  const vscode = join(folder, "node_modules/code-server/lib/vscode");
  const ready = { node, main: join(vscode, "out/server-main.js") };
  const marker = join(folder, "ready.json");
  const wanted = JSON.stringify({ codeServer: CODE_SERVER, node: NODE });
  const isReady = async () =>
    existsSync(node) && (await readFile(marker, "utf8").catch(() => "")) === wanted;
  if (await isReady()) return ready;

  await mkdir(folder, { recursive: true });
  await withLock(join(folder, "lock"), async () => {
    if (await isReady()) return;
    requireTools();
    console.log(`Getting VS Code (code-server ${CODE_SERVER}) into ${folder}, about two minutes …`);
    await installPackages(folder, node, vscode);
    await buildNative(node, vscode);
    // Last: what was interrupted before this line starts again.
    await writeFile(marker, wanted);
  });
  return ready;
}

function requireTools(): void {
  const missing = [["make"], ["g++", "c++", "clang++"], ["python3", "python"]].filter(
    (names) => !names.some((name) => onPath(name)),
  );
  if (missing.length === 0 || process.platform === "win32") return;
  const names = missing.map(([first]) => first).join(", ");
  throw new ScriptError(
    `VS Code's native modules are built on this machine, and ${names} is missing. ` +
      "Install it (Debian and Ubuntu: `apt-get install -y g++ make python3`; macOS: `xcode-select --install`) and run this again.",
  );
}

async function installPackages(folder: string, node: string, vscode: string): Promise<void> {
  if (!existsSync(join(folder, "package.json"))) {
    await writeFile(join(folder, "package.json"), '{ "name": "web", "private": true }\n');
  }
  if (!existsSync(node)) await npm(folder, process.execPath, ["install", `node@${NODE}`]);
  const manifest = join(folder, "node_modules/code-server/package.json");
  if ((await version(manifest)) !== CODE_SERVER) {
    await npm(folder, node, ["install", `code-server@${CODE_SERVER}`, "--ignore-scripts"]);
  }
  for (const part of [vscode, join(vscode, "extensions")]) {
    // npm writes this file last.
    if (existsSync(join(part, "node_modules/.package-lock.json"))) continue;
    await npm(part, node, ["install", "--omit=dev", "--ignore-scripts"]);
  }
  const asar = join(vscode, "node_modules.asar");
  if (!existsSync(asar)) await symlink("node_modules", asar, "junction");
}

async function version(manifest: string): Promise<string | undefined> {
  if (!existsSync(manifest)) return undefined;
  const parsed: unknown = JSON.parse(await readFile(manifest, "utf8"));
  return typeof parsed === "object" && parsed !== null && "version" in parsed
    ? String(parsed.version)
    : undefined;
}

async function buildNative(node: string, vscode: string): Promise<void> {
  for (const name of NATIVE) {
    const folder = join(vscode, "node_modules", name);
    // node-gyp copies the finished module here as its last step.
    const built =
      { "@vscode/spdlog": "spdlog", "@vscode/native-watchdog": "watchdog" }[name] ?? "pty";
    if (existsSync(join(folder, "build/Release", `${built}.node`))) continue;
    const headers = nodeHeaders();
    await must(
      `Building ${name}`,
      node,
      [nodeGyp(), "rebuild", ...(headers === undefined ? [] : [`--nodedir=${headers}`])],
      { cwd: folder, env: environment(node) },
    );
  }
}

/** Node's headers on this machine, or undefined: node-gyp then downloads them. N-API modules serve any Node. */
function nodeHeaders(): string | undefined {
  return [join(dirname(process.execPath), ".."), "/usr", "/usr/local"].find((prefix) =>
    existsSync(join(prefix, "include/node/node_api.h")),
  );
}

/** npm's own program file: under `npm test` npm names it, else it is beside this Node. */
function npmCli(): string {
  const prefix = join(dirname(process.execPath), "..");
  const candidates = [
    process.env.npm_execpath,
    join(prefix, "lib/node_modules/npm/bin/npm-cli.js"),
    join(dirname(process.execPath), "node_modules/npm/bin/npm-cli.js"),
    "/usr/share/nodejs/npm/bin/npm-cli.js",
  ];
  const found = candidates.find((file) => file?.endsWith("npm-cli.js") && existsSync(file));
  if (found === undefined) {
    throw new ScriptError("npm is not where Node's own is. Run this by `npm test` or `npm start`.");
  }
  return found;
}

function nodeGyp(): string {
  const modules = join(dirname(npmCli()), "../node_modules");
  const candidates = [
    join(modules, "node-gyp/bin/node-gyp.js"),
    "/usr/share/nodejs/node-gyp/bin/node-gyp.js",
  ];
  const found = candidates.find((file) => existsSync(file));
  if (found === undefined) {
    throw new ScriptError(
      `npm brings no node-gyp (looked at ${candidates.join(", ")}). Install node-gyp.`,
    );
  }
  return found;
}

async function npm(folder: string, node: string, args: readonly string[]): Promise<void> {
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  await must(`npm ${args.join(" ")}`, node, [npmCli(), ...args, ...quiet], {
    cwd: folder,
    env: environment(node),
  });
}

/** This process's environment with `node` first on PATH, and without what `npm run` says of this package. */
function environment(node: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^npm_(package|lifecycle|config_local_prefix|config_prefix|command)/.test(name),
  );
  return {
    ...Object.fromEntries(own),
    PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ""}`,
  };
}
