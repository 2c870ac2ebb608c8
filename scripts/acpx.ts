import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { must, root } from "./process.js";

/** The version that is tried, and that docs/acp.md names. */
export const ACPX_VERSION = "0.19.1";

/**
 * The program file of acpx, a headless client of the Agent Client Protocol; installed where it is
 * not there yet. No dependency in package.json: some of its own optional ones are not published, so
 * that `npm ci` would refuse the lock file.
 */
export async function acpxCli(): Promise<string> {
  const folder = join(root, ".vscode-test/acpx");
  const marker = join(folder, `ready-${ACPX_VERSION}`);
  const cli = join(folder, "node_modules/acpx/dist/cli.js");
  if (existsSync(marker)) return cli;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "private": true }\n');
  const args = ["install", `acpx@${ACPX_VERSION}`, "--ignore-scripts", "--no-audit", "--no-fund"];
  await must("Installing acpx", "npm", args, { cwd: folder, shell: process.platform === "win32" });
  await writeFile(marker, "");
  return cli;
}
