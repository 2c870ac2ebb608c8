import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { must, onPath, root, run, ScriptError } from "../process.js";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PLACES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** What makes a browser quiet and let it start in a container. */
export const CHROMIUM_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Chromium's absolute path; installs it where there is none and this machine lets it. */
export async function chromiumPath(): Promise<string> {
  const found = installed();
  if (found !== undefined) return found;
  const tried = [await byApt(), await byPlaywright()];
  const now = installed();
  if (now !== undefined) return now;
  throw new ScriptError(
    `There is no Chromium, and it could not be installed:\n${tried.join("\n")}\n` +
      "Install it (Debian: `apt-get install -y chromium`) or name one in CHROMIUM, and run this again.",
  );
}

function installed(): string | undefined {
  const candidates = [
    process.env.CHROMIUM,
    ...NAMES.map(onPath),
    ...PLACES,
    chromium.executablePath(),
  ];
  return candidates.find((file) => file !== undefined && existsSync(file));
}

/** Says what went wrong, or nothing. */
async function byApt(): Promise<string> {
  const apt = onPath("apt-get");
  if (apt === undefined) return "apt-get: not on this machine";
  const prefix = await asRoot();
  if (prefix === undefined) return "apt-get: needs root or a sudo without a password";
  console.log("Installing Chromium by apt-get …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "chromium"]]) {
    const [command = apt, ...rest] = [...prefix, apt, ...args];
    const { code, output } = await run(command, rest, { env });
    if (code !== 0) return `apt-get ${args.join(" ")}: exit code ${code}\n${output.slice(-1500)}`;
  }
  return "";
}

async function asRoot(): Promise<readonly string[] | undefined> {
  if (process.getuid?.() === 0) return [];
  const sudo = onPath("sudo");
  if (sudo === undefined) return undefined;
  const { code } = await run(sudo, ["-n", "true"]);
  return code === 0 ? [sudo, "-n"] : undefined;
}

async function byPlaywright(): Promise<string> {
  if (installed() !== undefined) return "";
  console.log("Downloading Chromium by playwright-core …");
  const cli = `${root}/node_modules/playwright-core/cli.js`;
  return must("Downloading Chromium", process.execPath, [cli, "install", "chromium"]).then(
    () => "",
    (error: Error) => error.message,
  );
}
