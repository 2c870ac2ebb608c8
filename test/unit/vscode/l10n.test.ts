import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { english } from "../../../src/webview/texts.js";

const repository = new URL("../../../", import.meta.url);
const CALL = /l10n\.t\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"'][^,)]*))/g;

const read = (name: string) => readFile(new URL(name, repository), "utf8");

interface Texts {
  readonly literals: string[];
  /** What is given for a text that is no literal, with its file. */
  readonly others: string[];
}

/** What a source file hands to VS Code's translations. */
function textsIn(name: string, source: string): Texts {
  const found: Texts = { literals: [], others: [] };
  for (const [, double, single, other] of source.matchAll(CALL)) {
    const literal = double ?? single;
    if (literal === undefined) found.others.push(`${name}: ${other}`);
    else found.literals.push(literal.replaceAll(/\\(.)/g, "$1"));
  }
  return found;
}

/** Keys of a manifest and texts of the code that a translator would not be given. */
function missing(
  manifest: { readonly l10n?: string },
  keys: Readonly<Record<string, string>>,
  bundle: Readonly<Record<string, unknown>> | undefined,
  texts: readonly string[],
): string[] {
  const named = [...JSON.stringify(manifest).matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key ?? "");
  const unsent = bundle === undefined ? [] : texts.filter((text) => !(text in bundle));
  return [...named.filter((key) => !(key in keys)).map((key) => `%${key}%`), ...unsent];
}

describe("texts that a person reads", () => {
  let all: Texts;

  before(async () => {
    const names = (await readdir(new URL("src/vscode/", repository), { recursive: true }))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `src/vscode/${name.replaceAll("\\", "/")}`);
    const each = await Promise.all(
      ["src/extension.ts", ...names].map(async (name) => textsIn(name, await read(name))),
    );
    all = {
      literals: each.flatMap(({ literals }) => literals),
      others: each.flatMap(({ others }) => others),
    };
  });

  it("are literals, which a tool can gather, or the panel's own table", () => {
    assert.deepEqual(all.others, ["src/vscode/texts.ts: text"]);
    assert.ok(all.literals.includes('Delete the session "{0}"?'));
    assert.deepEqual(textsIn("a.ts", "l10n.t(\n  some, c)").others, ["a.ts: some"]);
  });

  it("are all in what is shipped for translators, where something is", async () => {
    const manifest = JSON.parse(await read("package.json")) as { l10n?: string };
    const keys = JSON.parse(await read("package.nls.json").catch(() => "{}"));
    const { l10n } = manifest;
    const bundle =
      l10n === undefined ? undefined : JSON.parse(await read(`${l10n}/bundle.l10n.json`));
    const texts = [...all.literals, ...Object.values(english)];
    assert.deepEqual(missing(manifest, keys, bundle, texts), []);
  });

  it("are missed there by this test, a key or a text", () => {
    const manifest = { l10n: "l10n", title: "%a%", other: "%b%" };
    assert.deepEqual(missing(manifest, { a: "A" }, { Deny: "Deny" }, ["Deny", "Save"]), [
      "%b%",
      "Save",
    ]);
  });
});
