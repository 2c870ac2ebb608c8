import { chromiumPath } from "./chromium.js";
import { desktopVsCode } from "./desktop.js";
import { webVsCode } from "./web.js";

/** Gets the VS Code that the suites run in, and the browser that drives its server. */
export async function prepareVsCode(): Promise<void> {
  if ((await desktopVsCode()) !== undefined) return;
  await webVsCode();
  await chromiumPath();
}
