import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as z from "zod";
import { commands, contexts, PROPOSED, settings, views } from "../../../src/vscode/ids.js";

const schema = z.object({
  activationEvents: z.array(z.string()),
  capabilities: z.object({
    untrustedWorkspaces: z.object({
      supported: z.string(),
      restrictedConfigurations: z.array(z.string()),
    }),
    virtualWorkspaces: z.object({ supported: z.boolean() }),
  }),
  extensionKind: z.array(z.string()),
  contributes: z.object({
    commands: z.array(z.object({ command: z.string(), title: z.string(), category: z.string() })),
    configuration: z.object({
      properties: z.record(z.string(), z.object({ scope: z.string(), default: z.unknown() })),
    }),
    keybindings: z.array(z.object({ command: z.string(), when: z.string() })),
    menus: z.record(z.string(), z.array(z.object({ command: z.string(), when: z.string() }))),
    views: z.record(z.string(), z.array(z.object({ id: z.string(), type: z.string() }))),
    viewsContainers: z.record(z.string(), z.array(z.object({ id: z.string() }))),
  }),
});

describe("package.json and the table of ids", () => {
  let manifest: z.infer<typeof schema>;
  let text: string;

  before(async () => {
    text = await readFile(new URL("../../../package.json", import.meta.url), "utf8");
    manifest = schema.parse(JSON.parse(text));
  });

  it("name the same commands, all in the category Countersign", () => {
    const declared = manifest.contributes.commands;
    assert.deepEqual(declared.map(({ command }) => command).sort(), Object.values(commands).sort());
    assert.deepEqual([...new Set(declared.map(({ category }) => category))], ["Countersign"]);
  });

  it("name the same settings of the shell, beside those of the models", () => {
    const declared = Object.keys(manifest.contributes.configuration.properties);
    assert.deepEqual(
      declared.filter((name) => !name.startsWith("countersign.models.")).sort(),
      Object.values(settings).sort(),
    );
  });

  it("name the same views", () => {
    assert.deepEqual(
      manifest.contributes.viewsContainers.secondarySidebar?.map(({ id }) => id),
      [views.container],
    );
    assert.deepEqual(
      manifest.contributes.views[views.container]?.map(({ id }) => id),
      [views.chat, views.approvals],
    );
  });

  it("read no context key that the code does not set, and set none that nobody reads", () => {
    const { menus, keybindings } = manifest.contributes;
    const conditions = [...Object.values(menus).flat(), ...keybindings].map(({ when }) => when);
    const read = new Set(
      conditions
        .flatMap((when) => when.match(/countersign\.\w+/g) ?? [])
        .filter((key) => key !== views.chat),
    );
    assert.deepEqual([...read].sort(), Object.values(contexts).sort());
  });

  it("give every menu entry and key binding a command that there is", () => {
    const { menus, keybindings } = manifest.contributes;
    const known = new Set<string>(Object.values(commands));
    const used = [...Object.values(menus).flat(), ...keybindings].map(({ command }) => command);
    assert.deepEqual(
      used.filter((command) => !known.has(command)),
      [],
    );
  });

  it("offer an answer in an editor's title and by a key only over a proposal", () => {
    const { menus, keybindings } = manifest.contributes;
    const answers = new Set<string>([
      commands.approveEdit,
      commands.approveForSession,
      commands.deny,
    ]);
    const over = [...(menus["editor/title"] ?? []), ...keybindings]
      .filter(({ command }) => answers.has(command))
      .map(({ when }) => when);
    assert.deepEqual([...new Set(over)], [`resourceScheme == ${PROPOSED}`]);
  });

  it("let no workspace that is not trusted say what runs or where requests go", () => {
    const { properties } = manifest.contributes.configuration;
    const powerful = Object.keys(properties).filter((name) => /hooks|path|models/i.test(name));
    assert.deepEqual(
      [...manifest.capabilities.untrustedWorkspaces.restrictedConfigurations].sort(),
      powerful.sort(),
    );
    for (const name of powerful)
      assert.match(properties[name]?.scope ?? "", /^machine(-overridable)?$/, name);
  });

  it("start nothing before a view, a command or a proposal's tab is used, and run where the files are", () => {
    // After a reload VS Code brings the tab of a card back, which without us is an error.
    assert.deepEqual(manifest.activationEvents, [`onFileSystem:${PROPOSED}`]);
    assert.deepEqual(manifest.extensionKind, ["workspace"]);
    assert.equal(manifest.capabilities.untrustedWorkspaces.supported, "limited");
    assert.equal(manifest.capabilities.virtualWorkspaces.supported, false);
  });
});
