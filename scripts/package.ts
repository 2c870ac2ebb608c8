/**
 * `npm run package`: the production build as `countersign-<version>.vsix`, in the repository or
 * where `--out FILE` says. A warning is an error.
 */
import { readFile, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import * as z from "zod";
import { must, root, ScriptError, script } from "./process.js";

/** Not a dependency: it brings 280 packages that nothing else needs. The last that serves Node 20. */
const VSCE = "@vscode/vsce@3.9.2";
/** A megabyte; a package over it has something in it that does not run. */
const BYTES = 1024 * 1024;

await script(async () => {
  const { values } = parseArgs({ options: { out: { type: "string" } } });
  const manifest: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const { name, version } = z.object({ name: z.string(), version: z.string() }).parse(manifest);
  const file = resolve(values.out ?? join(root, `${name}-${version}.vsix`));
  await rm(file, { force: true });
  // It empties dist/ first: no piece of an earlier build gets in.
  await must("The build", process.execPath, [join(root, "esbuild.mjs"), "--production"], {
    cwd: root,
  });
  const args = ["--yes", VSCE, "package", "--no-dependencies", "--out", file];
  const output = await must("vsce", "npx", args, {
    cwd: root,
    shell: process.platform === "win32",
  });
  console.log(output.trimEnd());
  if (/warning/i.test(output)) throw new ScriptError("vsce warns; see above.");
  const { size } = await stat(file);
  if (size > BYTES) throw new ScriptError(`${file} has ${size} bytes, more than ${BYTES}.`);
  return 0;
});
