import { join } from "node:path";
import { downloadAndUnzipVSCode } from "@vscode/test-electron";
import { root } from "../process.js";

/**
 * The desktop VS Code of `@vscode/test-electron`, downloaded once, or undefined where there is no
 * display or no download. `COUNTERSIGN_VSCODE=web` never takes it.
 */
export async function desktopVsCode(): Promise<string | undefined> {
  if (process.env.COUNTERSIGN_VSCODE === "web" || !hasDisplay()) return undefined;
  try {
    const cachePath = join(root, ".vscode-test/desktop");
    return await downloadAndUnzipVSCode({ version: "stable", cachePath });
  } catch (error) {
    console.log(`VS Code cannot be downloaded here (${String(error)}): taking its server instead.`);
    return undefined;
  }
}

/** Whether a window can open. */
export function hasDisplay(): boolean {
  if (process.platform !== "linux") return true;
  return [process.env.DISPLAY, process.env.WAYLAND_DISPLAY].some((name) => Boolean(name));
}
