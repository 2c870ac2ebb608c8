import { join } from "node:path";
import { downloadAndUnzipVSCode } from "@vscode/test-electron";
import { root } from "../process.js";

/**
 * The desktop VS Code of `@vscode/test-electron`, downloaded once, or undefined where there is no
 * display or no download. `COUNTERSIGN_VSCODE` names a version (`1.106.0`, `stable`), and then
 * rejects where that cannot be had; `web` never takes any.
 */
export async function desktopVsCode(): Promise<string | undefined> {
  const wanted = process.env.COUNTERSIGN_VSCODE || undefined;
  if (wanted === "web") return undefined;
  const cachePath = join(root, ".vscode-test/desktop");
  if (wanted !== undefined) return downloadAndUnzipVSCode({ version: wanted, cachePath });
  if (!hasDisplay()) return undefined;
  try {
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
