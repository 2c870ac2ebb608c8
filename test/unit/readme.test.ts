import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { root } from "../../scripts/process.js";
import * as limits from "../../src/core/limits.js";

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  engines: z.object({ vscode: z.string() }),
  contributes: z.object({
    commands: z.array(z.object({ command: z.string(), title: z.string() })),
    keybindings: z.array(
      z.object({ command: z.string(), key: z.string(), mac: z.string().optional() }),
    ),
    configuration: z.object({
      properties: z.record(z.string(), z.object({ default: z.unknown() })),
    }),
  }),
});

/** The cells of the table under a heading, without its head. */
function table(text: string, heading: string): string[][] {
  const [, section = ""] = text.split(`\n## ${heading}\n`);
  return section
    .split("\n## ", 1)
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** A key as the README writes it: `ctrl+k ctrl+y` is `<kbd>Ctrl+K Ctrl+Y</kbd>`. */
function kbd(key: string): string {
  const shown = key
    .split(" ")
    .map((chord) => chord.split("+").map((one) => one.charAt(0).toUpperCase() + one.slice(1)))
    .map((chord) => chord.join("+"))
    .join(" ");
  return `<kbd>${shown}</kbd>`;
}

describe("the README", () => {
  let readme: string;
  let manifest: z.infer<typeof manifestSchema>;

  before(async () => {
    readme = await readFile(join(root, "README.md"), "utf8");
    manifest = manifestSchema.parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
  });

  it("names every command and no other", () => {
    assert.deepEqual(
      table(readme, "Commands")
        .map(([title]) => title)
        .sort(),
      manifest.contributes.commands.map(({ title }) => title).sort(),
    );
  });

  it("names every key, its form on macOS and its command", () => {
    const titles = new Map(
      manifest.contributes.commands.map(({ command, title }) => [command, title]),
    );
    assert.deepEqual(
      table(readme, "Keys")
        .map(([key, mac, command = ""]) => [key, mac, command.split(",")[0]])
        .sort(),
      manifest.contributes.keybindings
        .map(({ key, mac, command }) => [kbd(key), kbd(mac ?? key), titles.get(command)])
        .sort(),
    );
  });

  it("names every setting with its default", () => {
    assert.deepEqual(
      Object.fromEntries(
        table(readme, "Settings").map(([name = "", value = ""]) => [
          `countersign.${name.slice(1, -1)}`,
          JSON.parse(value.slice(1, -1)),
        ]),
      ),
      Object.fromEntries(
        Object.entries(manifest.contributes.configuration.properties).map(([name, one]) => [
          name,
          one.default,
        ]),
      ),
    );
  });

  it("names limits that are in force", () => {
    const kib = (bytes: number) => `${bytes / 1024} KiB`;
    assert.deepEqual(Object.fromEntries(table(readme, "Limits")), {
      "one read of a file": `${kib(limits.READ_BYTES)}; the agent reads on from there`,
      "matches of one search": `${limits.GREP_MATCHES}, in ${limits.GREP_TIMEOUT_MS / 1000} s`,
      "names of one listing": `${limits.LIST_NAMES}`,
      "a file that is written": kib(limits.WRITE_BYTES),
      "a command": `${limits.RUN_TIMEOUT_S} s, or up to ${limits.RUN_TIMEOUT_MAX_S} s where the card says so`,
      "output kept of a command": `${kib(limits.RUN_STREAM_BYTES)} a stream, its start and its end`,
      "a diff on a card": `${kib(limits.DIFF_BYTES)}; of a larger one the first ${limits.DIFF_LINES} lines. The diff editor has all of it`,
      "model answers in one turn": `${limits.TURN_ANSWERS}; "Go on" continues`,
      "attempts at one request to a model": `${limits.MODEL_ATTEMPTS}`,
      "a Stop hook": `${limits.HOOK_TIMEOUT_S} s, where its own timeout does not say otherwise; it can block a turn ${limits.HOOK_BLOCKS} times`,
      "`AGENTS.md`": kib(limits.AGENTS_MD_BYTES),
      "a session's log": `${limits.LOG_OPEN_BYTES / 1024 / 1024} MiB`,
    });
  });

  it("names the version of the package, and the oldest VS Code and Node that do", async () => {
    assert.ok(readme.includes(`\`${manifest.name}-${manifest.version}.vsix\``));
    const oldest = /\d+\.\d+/.exec(manifest.engines.vscode)?.[0];
    assert.ok(readme.includes(`VS Code ${oldest} or newer`));
    const asked = await readFile(join(root, "scripts/with-deps.mjs"), "utf8");
    const [, major, minor] =
      /major < (\d+) \|\| \(major === \1 && minor < (\d+)\)/.exec(asked) ?? [];
    assert.deepEqual(
      [...readme.matchAll(/\bNode (\S+) or newer/g)].map(([, version]) => version),
      [`${major}.${minor}`, `${major}.${minor}`],
    );
  });
});
