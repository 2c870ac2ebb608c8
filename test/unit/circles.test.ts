import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { root } from "../../scripts/process.js";
import { importsOf } from "../support/imports.js";

/** The ways from a file back to itself, each once, as the files in their order. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): void => {
    const at = way.indexOf(file);
    if (at >= 0) found.push([...way.slice(at), file].join(" → "));
    if (at >= 0 || done.has(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...way, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return found;
}

describe("the files of the code", () => {
  it("import each other in no circle, not for a type either", async () => {
    const names = await readdir(join(root, "src"), { recursive: true });
    const files = names.map((name) => name.replaceAll("\\", "/")).filter((n) => /\.tsx?$/.test(n));
    const imports = new Map<string, string[]>();
    for (const file of files) {
      const found = importsOf(await readFile(join(root, "src", file), "utf8"))
        .filter(({ from }) => from.startsWith("."))
        .map(({ from }) => posix.join(posix.dirname(file), from).replace(/\.jsx?$/, ""))
        .flatMap((target) => files.filter((one) => one.replace(/\.tsx?$/, "") === target));
      imports.set(file, found);
    }
    assert.ok([...imports.values()].flat().length > 500);
    assert.deepEqual(circles(imports), []);
  });

  it("would be found in a circle", () => {
    const imports = new Map([
      ["a", ["b", "c"]],
      ["b", ["c"]],
      ["c", ["d"]],
      ["d", ["b"]],
      ["e", ["a"]],
    ]);
    assert.deepEqual(circles(imports), ["b → c → d → b"]);
  });
});
