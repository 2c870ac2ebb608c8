import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** What activation may load of the extension's own code, in bytes, minified. */
const ACTIVATION_BYTES = 80 * 1024;

/** The sources that a built entry loads at once, and the bytes of the pieces they are in. */
async function loadedAtOnce(entry: string): Promise<{ sources: string[]; bytes: number }> {
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(new URL("../..", import.meta.url)),
    entryPoints: { entry },
    outdir: "nowhere",
    write: false,
    bundle: true,
    minify: true,
    splitting: true,
    metafile: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["vscode", "@vscode/ripgrep"],
    logLevel: "error",
  });
  const pieces = new Set<string>();
  const load = (piece: string): void => {
    const output = metafile.outputs[piece];
    if (output === undefined || pieces.has(piece)) return;
    pieces.add(piece);
    for (const { path, kind } of output.imports) if (kind === "import-statement") load(path);
  };
  load("nowhere/entry.js");
  const outputs = [...pieces].flatMap((piece) => metafile.outputs[piece] ?? []);
  return {
    sources: outputs.flatMap(({ inputs }) =>
      Object.keys(inputs).filter((source) => (inputs[source]?.bytesInOutput ?? 0) > 0),
    ),
    bytes: outputs.reduce((sum, output) => sum + output.bytes, 0),
  };
}

/** The packages that sources are of. */
function packagesOf(sources: readonly string[]): string[] {
  const names = sources.map((source) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

describe("what is loaded", () => {
  it("at activation is the shell, of the core alone what shows texts and clamps settings, and no package", async () => {
    const { sources, bytes } = await loadedAtOnce("src/extension.ts");
    assert.deepEqual(packagesOf(sources), []);
    const core = sources.filter((source) => source.startsWith("src/core/"));
    assert.deepEqual(core.sort(), [
      "src/core/gate/fixed.ts",
      "src/core/gate/visible.ts",
      "src/core/messageOf.ts",
      "src/core/model/given.ts",
      "src/core/workspace/digest.ts",
      "src/core/workspace/show.ts",
    ]);
    assert.ok(bytes < ACTIVATION_BYTES, `${bytes} bytes`);
  });

  it("when the agent starts on stdio has three packages, and YAML is none of them", async () => {
    const { sources } = await loadedAtOnce("src/acp.ts");
    assert.deepEqual(packagesOf(sources), ["@agentclientprotocol/sdk", "diff", "zod"]);
  });
});
