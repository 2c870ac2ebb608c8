import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../scripts/process.js";

/** Exported functions and classes without a doc comment, as `file: name`. */
function undocumented(file: string, source: string): string[] {
  const lines = source.split("\n");
  const seen = new Set<string>();
  return lines.flatMap((line, index) => {
    const [, name] =
      /^export (?:default )?(?:async )?(?:abstract )?(?:function\*?|class) (\w+)/.exec(line) ?? [];
    // The comment stands above the first of several signatures.
    if (name === undefined || seen.has(name)) return [];
    seen.add(name);
    return lines[index - 1]?.endsWith("*/") ? [] : [`${file}: ${name}`];
  });
}

describe("the comments of the code", () => {
  it("are above every function and class that is exported", async () => {
    const files = await readdir(join(root, "src"), { recursive: true });
    const sources = files.filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"));
    assert.ok(sources.length > 200);
    const found = await Promise.all(
      sources.map(async (name) =>
        undocumented(name, await readFile(join(root, "src", name), "utf8")),
      ),
    );
    assert.deepEqual(found.flat(), []);
  });

  it("are missed where they are missing", () => {
    const source = [
      ..."/** Says why. */\nexport function a(x: string): void;\nexport function a(): void {}".split(
        "\n",
      ),
      ..."export async function b() {}\n// a line\nexport class C {}\nexport const d = 1;".split(
        "\n",
      ),
    ].join("\n");
    assert.deepEqual(undocumented("x.ts", source), ["x.ts: b", "x.ts: C"]);
  });
});
