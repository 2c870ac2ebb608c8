/**
 * `npm start`: builds, and opens a copy of `sample/` in a VS Code with the extension loaded and the
 * demo model chosen, on a profile of its own. `COUNTERSIGN_VSCODE=web` serves it to a browser.
 */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { must, onPath, root, script } from "./process.js";
import { desktopVsCode, hasDisplay } from "./vscode/desktop.js";
import { CLEAN_SETTINGS, startServer, writeSettings } from "./vscode/server.js";

/** Shows the panel. */
const OPENER = join(root, "scripts/opener");
const SETTINGS = { ...CLEAN_SETTINGS, "countersign.models.selected": "demo" };

await script(async () => {
  console.log("Building …");
  await must("The build", process.execPath, [join(root, "esbuild.mjs")], { cwd: root });
  const folder = await mkdtemp(join(tmpdir(), "countersign-start-"));
  const workspace = join(folder, "pocket-money");
  await cp(join(root, "sample"), workspace, { recursive: true });
  try {
    const program = await desktop();
    await (program === undefined
      ? serve(workspace, join(folder, "data"))
      : open(program, workspace, join(folder, "data")));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  return 0;
});

/** A desktop VS Code: the one on PATH, else a download; undefined where there is neither. */
async function desktop(): Promise<string | undefined> {
  if (process.env.COUNTERSIGN_VSCODE === "web" || !hasDisplay()) return undefined;
  return onPath("code") ?? (await desktopVsCode());
}

/** Opens a window and waits until it is closed. */
async function open(program: string, workspace: string, data: string): Promise<void> {
  await writeSettings(data, SETTINGS);
  console.log(`Opening ${workspace} in VS Code. In the panel at its right, send any message.`);
  const args = [
    `--extensionDevelopmentPath=${root}`,
    `--extensionDevelopmentPath=${OPENER}`,
    `--user-data-dir=${data}`,
    `--extensions-dir=${join(data, "extensions")}`,
    "--disable-workspace-trust",
    "--new-window",
    "--wait",
    workspace,
  ];
  await must("VS Code", program, args, { shell: process.platform === "win32" });
}

/** Serves the workbench to a browser on this machine until Ctrl-C. */
async function serve(workspace: string, data: string): Promise<void> {
  const server = await startServer({
    extension: root,
    more: [OPENER],
    folder: workspace,
    settings: SETTINGS,
    data,
  });
  console.log(`Open this address in a browser on this machine:\n\n  ${server.url}\n`);
  console.log("In the panel at its right, send any message. Ctrl-C ends it.");
  await new Promise((resolve) => {
    // A terminal sends its signal to npm and to this process: the second must not cut the first short.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, resolve);
  });
  await server.stop();
}
