/**
 * Runs a TypeScript script of this repository, after installing the dependencies where they are
 * missing or stale: `node scripts/with-deps.mjs scripts/start.ts [arguments]`. Needs Node and npm
 * alone, so that a fresh clone needs one command.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [script, ...args] = process.argv.slice(2);

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Countersign is built with Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}

/** A dependency that is missing or of another version than package.json pins, or undefined. */
function stale() {
  const { dependencies, devDependencies } = readJson(join(root, "package.json"));
  return Object.entries({ ...dependencies, ...devDependencies }).find(([name, version]) => {
    const file = join(root, "node_modules", name, "package.json");
    return !existsSync(file) || readJson(file).version !== version;
  });
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function npm(args) {
  const { status, error } = spawnSync("npm", args, {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (error) console.error(`npm could not be started: ${error.message}`);
  return error ? 1 : (status ?? 1);
}

const before = stale();
if (before) {
  // npm writes this file last: without it an install was cut short, and starts afresh.
  const whole = existsSync(join(root, "node_modules/.package-lock.json"));
  console.log(`Installing dependencies (${before[0]} ${before[1]} is not there) …`);
  const install = whole ? ["install", "--no-save"] : ["ci"];
  const code = npm([...install, "--no-audit", "--no-fund"]);
  if (code !== 0) {
    console.error("npm could not install the dependencies; its messages are above.");
    process.exit(code);
  }
}

const child = spawn(process.execPath, ["--import", "tsx", join(root, script), ...args], {
  cwd: root,
  stdio: "inherit",
});
// The script cleans up after itself, so it is the one that a signal ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));
