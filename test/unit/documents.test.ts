import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { root } from "../../scripts/process.js";
import { COMMANDS } from "../../src/acp/commands.js";

const DOCUMENTS = [
  ...["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/acp.md"],
  ...readdirSync(join(root, "media/walkthrough")).map((name) => `media/walkthrough/${name}`),
];

/** Every first group of a pattern in a text, each once, sorted. */
function all(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, found = ""]) => found))].sort();
}

describe("the documents", () => {
  const texts = new Map<string, string>();
  let scripts: Record<string, string>;
  let titles: Set<string>;
  const text = (name: string): string => texts.get(name) ?? "";

  before(async () => {
    for (const name of DOCUMENTS) texts.set(name, await readFile(join(root, name), "utf8"));
    const manifest = z
      .object({
        scripts: z.record(z.string(), z.string()),
        contributes: z.object({ commands: z.array(z.object({ title: z.string() })) }),
      })
      .parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
    scripts = manifest.scripts;
    titles = new Set(manifest.contributes.commands.map(({ title }) => title));
  });

  it("link to files and headings that there are", () => {
    const heading = (line: string): string =>
      line
        .toLowerCase()
        .replace(/[^\w -]/g, "")
        .replaceAll(" ", "-");
    const gone = DOCUMENTS.flatMap((name) =>
      all(text(name), /\]\(([^)\s]+)\)/g).filter((target) => {
        if (target.startsWith("https://")) return false;
        if (!target.startsWith("#")) return !existsSync(join(root, dirname(name), target));
        return !all(text(name), /^#+ (.*)$/gm).some((line) => `#${heading(line)}` === target);
      }),
    );
    assert.deepEqual(gone, []);
  });

  it("tell npm to run only what package.json has", () => {
    const builtIn = ["install", "ci", "audit", "test", "start"];
    const told = DOCUMENTS.flatMap((name) => [
      ...all(text(name), /\bnpm run ([\w-]+)/g),
      ...all(text(name), /(?:^ {4}|`)npm ([a-z]\w*)/gm).filter((word) => word !== "run"),
    ]);
    assert.ok(told.includes("package") && told.includes("bench"));
    assert.deepEqual(
      told.filter((name) => scripts[name] === undefined && !builtIn.includes(name)),
      [],
    );
  });

  it("name commands of the palette as they are there", () => {
    const named = DOCUMENTS.flatMap((name) => [
      ...all(text(name), /\*\*Countersign: ([^*]+)\*\*/g),
      ...all(text(name), /\*\*([^*:]+…)\*\*/g),
    ]);
    assert.ok(named.length > 5);
    assert.deepEqual(
      named.filter((title) => !titles.has(title)),
      [],
    );
  });

  it("have in CONTRIBUTING.md no file, folder or name of the code that is not there", async () => {
    const contributing = text("CONTRIBUTING.md");
    const sources = ["src", "test", "scripts", ".github"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (path) => `/${folder}/${path.replaceAll("\\", "/")}`,
      ),
    );
    const isThere = (path: string): boolean =>
      existsSync(join(root, path)) ||
      sources.some((source) => source.endsWith(`/${path.replace(/\/$/, "")}`));
    const layout = all(contributing, /^ {4}((?:src|test)\/\S+)/gm);
    const quoted = all(contributing, /`([\w./-]+)`/g);
    const paths = quoted.filter((name) => /\/|\.\w+$/.test(name) && !name.startsWith(".vscode-"));
    assert.ok(layout.length > 10 && paths.length > 10);
    assert.deepEqual(
      [...layout, ...paths].filter((path) => !isThere(path)),
      [],
    );

    const code = await Promise.all(
      sources
        .filter((path) => path.startsWith("/src/") && /\.tsx?$/.test(path))
        .map((path) => readFile(join(root, path), "utf8")),
    );
    const names = quoted.filter(
      (name) => /^(?:[A-Z]+_BYTES|[A-Za-z]*[a-z][A-Z]\w*)$/.test(name) && name !== "AbortSignal",
    );
    assert.ok(names.includes("prepareChange") && names.includes("PROMPT_BYTES"));
    const declared = (name: string): boolean =>
      code.some((one) => new RegExp(`(class|function|const|type|interface) ${name}\\b`).test(one));
    assert.deepEqual(
      names.filter((name) => !declared(name)),
      [],
    );
  });

  it("name the steps of npm test", async () => {
    const script = await readFile(join(root, "scripts/test.ts"), "utf8");
    const [, body = ""] = /^const steps\b.*?= \{\n(.*?)^\};/ms.exec(script) ?? [];
    const steps = [...body.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
    const last = steps.pop();
    const told = text("CONTRIBUTING.md").replaceAll("\n", " ");
    assert.ok(told.includes(`the steps are ${steps.join(", ")} and ${last}.`), steps.join());
  });

  it("name in docs/acp.md every variable, setting and slash command of the agent on stdio", async () => {
    const acp = text("docs/acp.md");
    const [, setup = ""] = acp.split("\n## Setting it up\n");
    const [table = ""] = setup.split("\n### ", 1);
    const source = async (name: string): Promise<string> => readFile(join(root, name), "utf8");
    const read = (await source("src/acp/environment.ts")) + (await source("src/acp/ollama.ts"));
    const variable = /((?:COUNTERSIGN|OPENAI|ANTHROPIC|OLLAMA|XDG)_[A-Z_]*[A-Z])/g;
    const used = all(read, /(?:get\("|\benv\.)([A-Z_]+)/g).filter((name) => name.includes("_"));
    assert.deepEqual(all(table, variable), used);

    const [, schema = ""] = (await source("src/acp/settings.ts")).split("z.looseObject({");
    const settings = all(schema.split("\n});", 1).join(), /"(countersign\.[\w.]+)"/g);
    assert.ok(settings.length > 4);
    assert.deepEqual(all(table, /^\| `(countersign\.[\w.]+)`/gm), settings);
    assert.deepEqual(all(table, /^ {2}"(countersign\.[\w.]+)"/gm), settings);

    const [, spoken = ""] = acp.split("\n- Slash commands: ");
    assert.deepEqual(
      all(spoken.split("\n- ", 1).join(), /`\/([a-z-]+)/g),
      COMMANDS.map(({ name }) => name).sort(),
    );
  });
});
