/** `npm run package`: the production build as `countersign-<version>.vsix`. A warning is an error. */
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { must, root, ScriptError, script } from "./process.js";

/** Not a dependency: it brings 280 packages that nothing else needs. The last that serves Node 20. */
const VSCE = "@vscode/vsce@3.9.2";
/** A megabyte; a package over it has something in it that does not run. */
const BYTES = 1024 * 1024;

await script(async () => {
  const manifest: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const { version } = z.object({ version: z.string() }).parse(manifest);
  const name = `countersign-${version}.vsix`;
  const file = join(root, name);
  await rm(file, { force: true });
  await must("The build", process.execPath, [join(root, "esbuild.mjs"), "--production"], {
    cwd: root,
  });
  const args = ["--yes", VSCE, "package", "--no-dependencies", "--out", name];
  // The repository has no public address yet that links could go to.
  const repository = ["--allow-missing-repository", "--no-rewrite-relative-links"];
  const output = await must("vsce", "npx", [...args, ...repository], {
    cwd: root,
    shell: process.platform === "win32",
  });
  console.log(output.trimEnd());
  if (/warning/i.test(output)) throw new ScriptError("vsce warns; see above.");
  const { size } = await stat(file);
  if (size > BYTES) throw new ScriptError(`${name} has ${size} bytes, more than ${BYTES}.`);
  return 0;
});
