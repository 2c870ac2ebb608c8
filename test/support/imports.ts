/** The import rule of the house (CONTRIBUTING.md) as a check over a source tree. */
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";

interface Import {
  readonly from: string;
  /** `import type`: nothing of it is there at run time. */
  readonly typeOnly: boolean;
  /** The names it takes; `*` for all of them. */
  readonly names: readonly string[];
}

const STATEMENT =
  /^[ \t]*(?:import|export)\s+(type\s+)?([\w$*,\s]*(?:\{[^}]*\})?[\w$,\s]*)\bfrom\s*["']([^"']+)["']/gm;
const BARE = /^[ \t]*import\s*["']([^"']+)["']/gm;
const CALLED = /\b(?:import|require(?:\.resolve)?)\s*\(\s*(?:["'`]([^"'`$]+)["'`])?/g;

/** Every import of a module, static, dynamic and `require`d; one whose target is computed has the target "?". */
export function importsOf(source: string): readonly Import[] {
  const found: Import[] = [];
  for (const [, type, clause = "", from = ""] of source.matchAll(STATEMENT)) {
    const named = /\{([^}]*)\}/.exec(clause)?.[1] ?? "";
    const names = named
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    const outside = clause.replace(/\{[^}]*\}/, "").replace(/[,\s]/g, "");
    const taken = names
      .filter((name) => !name.startsWith("type "))
      .map((name) => name.split(/\s+as\s+/)[0] ?? name);
    found.push({
      from,
      typeOnly: type !== undefined,
      names: outside === "" ? taken : [...taken, "*"],
    });
  }
  for (const [, from = ""] of source.matchAll(BARE)) {
    found.push({ from, typeOnly: false, names: [] });
  }
  for (const [, from = "?"] of source.matchAll(CALLED)) {
    found.push({ from, typeOnly: false, names: ["*"] });
  }
  return found;
}

/** What each part of the core may import by value, itself included. */
const CORE: Readonly<Record<string, readonly string[]>> = {
  limits: [],
  messageOf: [],
  whileBusy: [],
  workspace: ["limits", "whileBusy", "workspace"],
  gate: ["limits", "workspace", "gate"],
  tools: ["limits", "workspace", "gate", "tools"],
  turn: ["limits", "workspace", "gate", "tools", "turn", "session", "model"],
  session: ["limits", "whileBusy", "session"],
  model: ["limits", "messageOf", "model"],
  core: ["limits", "workspace", "gate", "tools", "turn", "session", "model", "core"],
};
/** Whose types each part may know besides; everyone may know the vocabulary and the port. */
const CORE_TYPES: Readonly<Record<string, readonly string[]>> = {
  session: Object.keys(CORE),
  model: Object.keys(CORE),
};
const VOCABULARY = ["core/session/events.ts", "core/model/chatClient.ts"];

/** The messages both ways, their sizes, and the words that a host translates. */
const SHARED_WITH_HOSTS = ["webview/protocol.ts", "webview/sizes.ts", "webview/texts.ts"];

/** Packages, and who alone may import them: folders end with `/`. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  vscode: ["vscode/", "extension.ts"],
  openai: ["core/model/"],
  "@anthropic-ai/sdk": ["core/model/"],
  "@agentclientprotocol/sdk": ["acp/", "acp.ts"],
  "@vscode/ripgrep": ["acp/", "acp.ts", "vscode/"],
  diff: ["core/gate/"],
  yaml: ["core/turn/"],
  zod: ["core/", "vscode/", "acp/", "acp.ts", "webview/"],
  preact: ["webview/"],
  "markdown-it": ["webview/"],
  "highlight.js": ["webview/"],
};

/** Packages that give the shape of what is sent, and no code: what leaves is made here alone. */
const TYPES_ALONE = new Set(["openai", "@anthropic-ai/sdk"]);

/** The names of `node:fs` that can change nothing. */
const READING = new Set([
  ...[
    "access",
    "constants",
    "lstat",
    "readdir",
    "readFile",
    "readlink",
    "realpath",
    "stat",
    "watch",
  ],
  ...["existsSync", "lstatSync", "readFileSync", "readdirSync", "realpathSync", "statSync"],
]);
const FILE_MODULES = new Set(["fs", "fs/promises", "node:fs", "node:fs/promises"]);
const PROCESS_MODULES = new Set([
  ...["child_process", "node:child_process", "cluster", "node:cluster"],
  ...["worker_threads", "node:worker_threads"],
]);

/** Who may start a process or change a file, and what for. */
export interface Reasons {
  readonly files: Readonly<Record<string, string>>;
  readonly processes: Readonly<Record<string, string>>;
}

const REASONS: Reasons = {
  files: {
    "core/workspace/": "the only place that touches the user's files",
    "core/session/": "the log, the meta data and the lock of a session",
    "core/turn/contained.ts": "opens skills and AGENTS.md for reading",
  },
  processes: {
    "core/workspace/": "the only place that starts the user's processes",
    "core/session/process.ts": "asks ps whether the holder of a lock is still the same process",
  },
};

/** Every wrong import under `src`, as `file: what is wrong`, sorted. */
export async function wrongImports(src: string, reasons: Reasons = REASONS): Promise<string[]> {
  const entries = await readdir(src, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) =>
      posix.join(entry.parentPath.slice(src.length + 1).replaceAll("\\", "/"), entry.name),
    );
  const wrong: string[] = [];
  for (const file of files.filter((name) => !name.endsWith(".d.ts"))) {
    const source = await readFile(join(src, file), "utf8");
    for (const found of importsOf(source)) {
      const fault = faultOf(file, found, reasons);
      if (fault !== undefined) wrong.push(`${file}: ${fault}`);
    }
  }
  return wrong.sort();
}

function faultOf(file: string, found: Import, reasons: Reasons): string | undefined {
  if (found.from === "?") return "imports a module whose name is computed";
  return found.from.startsWith(".")
    ? faultOfRelative(file, found)
    : faultOfPackage(file, found, reasons);
}

function faultOfPackage(file: string, found: Import, reasons: Reasons): string | undefined {
  const { from } = found;
  const name = from
    .split("/")
    .slice(0, from.startsWith("@") ? 2 : 1)
    .join("/");
  if (FILE_MODULES.has(from)) {
    const changing = found.typeOnly ? [] : found.names.filter((each) => !READING.has(each));
    if (changing.length === 0 || isWithin(file, Object.keys(reasons.files))) return undefined;
    return `may change files by ${changing.join(", ")} of ${from}`;
  }
  if (PROCESS_MODULES.has(from)) {
    if (found.typeOnly || isWithin(file, Object.keys(reasons.processes))) return undefined;
    return `may start processes by ${from}`;
  }
  if (from.startsWith("node:")) {
    return file.startsWith("webview/") ? `the webview has no ${from}` : undefined;
  }
  const owners = PACKAGES[name];
  if (owners === undefined) return `${name} is on no list of packages`;
  if (!isWithin(file, owners)) return `${name} is for ${owners.join(" and ")} alone`;
  return TYPES_ALONE.has(name) && !found.typeOnly ? `${name} is for its types alone` : undefined;
}

function faultOfRelative(file: string, found: Import): string | undefined {
  const target = posix.normalize(posix.join(posix.dirname(file), found.from));
  const module = target.replace(/\.js(x?)$/, ".ts$1");
  if (target.startsWith("..")) {
    // For its version.
    return target === "../package.json" ? undefined : `${found.from} is not of src`;
  }
  if (
    module === "core/workspace/permit.ts" &&
    grantsPermits(found) &&
    file !== "core/gate/gate.ts"
  ) {
    return "only core/gate/gate.ts makes permits";
  }
  const [here = "", there = ""] = [partOf(file), partOf(module)];
  if (here === "webview") {
    const vocabulary = found.typeOnly && VOCABULARY.includes(module);
    return there === "webview" || vocabulary ? undefined : `the webview imports ${module}`;
  }
  if (here === "core") return faultInCore(file, found, module);
  if (there === "webview" && !SHARED_WITH_HOSTS.includes(module)) {
    return `a host imports ${module}; it may know the webview's protocol and texts alone`;
  }
  if (there !== "core" && there !== "webview" && there !== here) return `${here} imports ${there}`;
  return undefined;
}

function faultInCore(file: string, found: Import, module: string): string | undefined {
  if (partOf(module) !== "core") return `the core imports ${module}`;
  const [here, there] = [corePart(file), corePart(module)];
  const values = CORE[here];
  if (values === undefined) return `${here} is no part of the core`;
  if (values.includes(there)) return undefined;
  if (!found.typeOnly) return `${here} imports ${there}`;
  if (VOCABULARY.includes(module) || CORE_TYPES[here]?.includes(there)) return undefined;
  return `${here} knows types of ${there}`;
}

/** `permit.ts` exports a type for all and one function for one. */
function grantsPermits({ names, typeOnly }: Import): boolean {
  return !typeOnly && names.some((name) => name !== "Permit");
}

/** `core`, `webview`, `vscode` or `acp`; `extension.ts` belongs to the shell, `acp.ts` to the agent. */
function partOf(file: string): string {
  if (file === "extension.ts") return "vscode";
  return file.split("/")[0]?.replace(/\.ts$/, "") ?? "";
}

/** `core/gate/card.ts` is of `gate`, `core/limits.ts` of `limits`. */
function corePart(file: string): string {
  return file.split("/")[1]?.replace(/\.ts$/, "") ?? "";
}

function isWithin(file: string, owners: readonly string[]): boolean {
  return owners.some((owner) => (owner.endsWith("/") ? file.startsWith(owner) : file === owner));
}
