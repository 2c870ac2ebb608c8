import assert from "node:assert/strict";
import * as vscode from "vscode";
import * as z from "zod";

const manifestSchema = z.object({
  contributes: z.object({
    commands: z.array(z.object({ command: z.string() })),
    configuration: z.object({
      properties: z.record(
        z.string(),
        z.object({ default: z.unknown(), scope: z.string().optional() }),
      ),
    }),
  }),
});

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension("countersign.countersign");
  assert.ok(found, "the extension is loaded");
  return found;
}

describe("the extension in its host", () => {
  const { contributes } = manifestSchema.parse(extension().packageJSON);

  it("activates without an error", async () => {
    await extension().activate();
    assert.equal(extension().isActive, true);
  });

  it("registers the commands of its manifest, and no others", async () => {
    await extension().activate();
    const declared = contributes.commands.map(({ command }) => command).sort();
    const views =
      /^countersign\.[\w-]+\.(focus|open|resetViewLocation|removeView|toggleVisibility)$/;
    const registered = (await vscode.commands.getCommands(true))
      .filter((command) => command.startsWith("countersign.") && !views.test(command))
      .sort();
    assert.deepEqual(registered, declared);
  });

  it("gives each of its settings the default that its manifest declares", () => {
    const declared = contributes.configuration.properties;
    const given = Object.fromEntries(
      Object.keys(declared).map((name) => [
        name,
        vscode.workspace.getConfiguration().inspect(name)?.defaultValue,
      ]),
    );
    const expected = Object.fromEntries(
      Object.entries(declared).map(([name, setting]) => [name, setting.default]),
    );
    assert.deepEqual(given, expected);
  });

  it("takes from no repository, trusted or not, where requests go and what goes with them", async () => {
    const own = Object.entries(contributes.configuration.properties)
      .filter(([, { scope }]) => scope === "machine")
      .map(([name]) => name);
    assert.deepEqual(own.sort(), [
      "countersign.models.anthropic.baseUrl",
      "countersign.models.ollama.url",
      "countersign.models.openai.baseUrl",
      "countersign.models.openai.headers",
    ]);
    const folder = vscode.workspace.workspaceFolders?.[0];
    assert.ok(folder);
    const file = vscode.Uri.joinPath(folder.uri, ".vscode", "settings.json");
    const hostile = Object.fromEntries(own.map((name) => [name, "http://thief.invalid"]));
    const sizes = (): unknown => vscode.workspace.getConfiguration().get("editor.tabSize");
    // VS Code tells of the one setting that a repository may make; then it has read the file.
    const read = new Promise<void>((resolve) => {
      const listening = vscode.workspace.onDidChangeConfiguration(() => {
        if (sizes() !== 7) return;
        listening.dispose();
        resolve();
      });
    });
    const text = JSON.stringify({ ...hostile, "editor.tabSize": 7 });
    await vscode.workspace.fs.writeFile(file, Buffer.from(text));
    try {
      await read;
      const given = own.map((name) => vscode.workspace.getConfiguration().get(name));
      assert.ok(!JSON.stringify(given).includes("thief"), JSON.stringify(given));
    } finally {
      await vscode.workspace.fs.delete(file);
    }
  });

  it("turns the code lens on in diff editors, where VS Code has it off", () => {
    const { defaultValue } =
      vscode.workspace.getConfiguration().inspect<boolean>("diffEditor.codeLens") ?? {};
    assert.equal(defaultValue, true);
  });

  it("has Node's file system, so that it runs where the files are", () => {
    assert.equal(extension().extensionKind, vscode.ExtensionKind.Workspace);
  });
});
