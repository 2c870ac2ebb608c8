import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { createInterface } from "node:readline";
import type { Frame } from "playwright-core";
import { must, root } from "../../../scripts/process.js";
import { type ScriptedModel, startScriptedModel } from "../../support/scriptedModel.js";
import { startWorkbench, until, type Workbench } from "../harness.js";
import { finish, run, write } from "./panel.js";

// Last of the suites by its name: packaging puts the production build into dist/.

describe("the package, in a VS Code that has never seen it", () => {
  let temporary: string;
  let vsix: string;
  let bench: Workbench;
  let model: ScriptedModel;
  /** Where VS Code has unpacked it. */
  let installed: string;

  before(async function () {
    this.timeout(240_000);
    temporary = await mkdtemp(join(tmpdir(), "countersign-vsix-"));
    vsix = join(temporary, "countersign.vsix");
    for (const piece of ["acp/chunk-OFBEFORE.js", "extension/chunk-OFBEFORE.cjs"]) {
      await mkdir(dirname(join(root, "dist", piece)), { recursive: true });
      await writeFile(join(root, "dist", piece), "// of an earlier build\n");
    }
    const script = ["--import", "tsx", join(root, "scripts/package.ts"), "--out", vsix];
    await must("npm run package", process.execPath, script, { cwd: root });
    model = await startScriptedModel([]);
    bench = await startWorkbench({
      vsix,
      files: { "README.md": "# Harbour\n", "ships.txt": "one\n" },
      trust: true,
      settings: { "security.workspace.trust.startupPrompt": "always" },
    });
    const extensions = join(bench.data, "extensions");
    const [folder = ""] = (await readdir(extensions)).filter((name) => /^countersign\./.test(name));
    installed = join(extensions, folder);
  });

  after(async () => {
    await bench?.stop();
    await model?.close();
    await rm(temporary, { recursive: true, force: true });
  });

  it("holds what runs and what the listing shows, and nothing else, in less than a megabyte", async () => {
    const entries = await readdir(installed, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(installed, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
      // VS Code's own note of where it came from.
      .filter((name) => name !== ".vsixmanifest");
    const built = await Promise.all(
      ["acp", "extension"].map(async (part) =>
        (await readdir(join(root, "dist", part))).map((name) => `dist/${part}/${name}`),
      ),
    );
    const pieces = built.flat().filter((name) => /\.c?js$/.test(name));
    assert.ok(pieces.length > 2 && !pieces.some((name) => name.includes("OFBEFORE")));
    assert.deepEqual(
      files.sort(),
      [
        ...["LICENSE.txt", "changelog.md", "package.json", "readme.md", "docs/acp.md"],
        ...["dist/extension.cjs", "dist/webview.js", "dist/webview.css", "dist/acp.js"],
        ...["dist/codicon.css", "dist/codicon.ttf", "dist/THIRD-PARTY-NOTICES.txt"],
        ...pieces,
        ...["media/countersign.svg", "media/icon.png"],
        ...["ask", "model", "tour"].map((name) => `media/walkthrough/${name}.md`),
        ...["ask", "model", "tour"].map((name) => `media/walkthrough-${name}.png`),
      ].sort(),
    );
    assert.ok((await stat(vsix)).size < 1024 * 1024);
  });

  it("brings the licence of everything that is bundled", async () => {
    const notices = await readFile(join(installed, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
    const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const missing = Object.entries(manifest.dependencies)
      // Only looked for, never bundled.
      .filter(([name]) => name !== "@vscode/ripgrep")
      .filter(([name, version]) => !notices.includes(`\n${name} ${version}: `));
    assert.deepEqual(missing, []);
  });

  it("holds an agent on stdio that starts", async () => {
    const agent = spawn(process.execPath, [join(installed, "dist/acp.js")], {
      env: { ...process.env, COUNTERSIGN_HOME: join(temporary, "home"), COUNTERSIGN_MODEL: "demo" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(agent, "exit");
    const params = { protocolVersion: 1, clientCapabilities: {} };
    agent.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    const lines: unknown[] = [];
    for await (const line of createInterface({ input: agent.stdout })) lines.push(JSON.parse(line));
    await ended;
    const [answer] = lines as [{ id: number; result: { protocolVersion: number } }];
    assert.deepEqual([lines.length, answer.id, answer.result.protocolVersion], [1, 1, 1]);
  });

  describe("by the keyboard alone", () => {
    /** What is typed and pressed, and no more: no click, no element that is focused from outside. */
    const press = (...keys: readonly string[]) =>
      keys.reduce(
        (before, key) => before.then(() => bench.page.keyboard.press(key)),
        Promise.resolve(),
      );
    const type = (text: string) => bench.page.keyboard.type(text);
    const chat = (): Promise<Frame> => bench.frame('[role="log"]');
    const rows = () => bench.page.locator(".quick-input-widget .monaco-list-row");

    /** Runs a command from the palette, once it is what Enter would take. */
    async function command(title: string): Promise<void> {
      for (let attempt = 0; attempt < 5; attempt++) {
        await press("F1");
        await bench.page.locator(".quick-input-widget input:focus").waitFor();
        await type(title);
        const offered = await until(
          title,
          async () => (await rows().first().textContent())?.includes(title),
          5_000,
        ).catch(() => false);
        if (offered) return press("Enter");
        // An open palette does not hear of commands that come later.
        await press("Escape");
      }
      throw new Error(`the palette does not offer ${title}`);
    }

    /** Presses Tab until `selector` has the focus in the chat. */
    async function tabTo(selector: string): Promise<void> {
      const frame = await chat();
      for (let at = 0; at < 40; at++) {
        if ((await frame.locator(`${selector}:focus`).count()) > 0) return;
        await press("Tab");
      }
      throw new Error(`Tab does not reach ${selector}`);
    }

    /** Waits for the card that names `what`, goes to it by its key, and presses its first button. */
    async function approve(what: string): Promise<void> {
      const frame = await chat();
      const card = frame.getByRole("group", { name: /^Permission: / }).filter({ hasText: what });
      const button = card.getByRole("button", { name: "Approve", exact: true });
      await until(`a card for ${what}`, () => button.isEnabled().catch(() => false));
      await press("Control+Alt+.");
      await frame.locator("[data-card]:focus").waitFor();
      await tabTo("button.primary");
      await press("Enter");
    }

    it("trusts the folder, takes the tour, and has the file that it approved", async () => {
      await bench.page.getByText("Do you trust the authors").first().waitFor();
      await bench.screenshot("vsix-trust");
      await press("Enter");
      await command("Countersign: Start Tour");
      await approve("countersign-demo.md");
      await approve("- [x] read the diff");
      await approve("git --version");
      const frame = await chat();
      const option = frame.getByRole("button", { name: "Finish the tour" });
      await option.waitFor();
      await bench.screenshot("vsix-tour");
      await tabTo('button:text-is("Finish the tour")');
      await press("Enter");
      const { reason } = await bench.event("turn_ended");
      assert.equal(reason, "finished");
      assert.match((await bench.read("countersign-demo.md")) ?? "", /- \[x\] read the diff/);
      const [session] = await bench.sessions();
      assert.deepEqual(
        session?.events.flatMap((one) =>
          one.type === "card_answered" ? [[one.answer, one.surface]] : [],
        ),
        [
          ["allow_once", "chat"],
          ["allow_once", "chat"],
          ["allow_once", "chat"],
        ],
      );
    });

    it("sets a model up, asks it, and approves its edit in the diff editor and its command on the card", async () => {
      model.push({ calls: [{ tool: "ready", args: {} }] });
      await command("Countersign: Select Model…");
      await rows().getByText("llama.cpp").waitFor();
      await type("llama.cpp");
      await press("Enter");
      await bench.page.getByText("Base URL of the server").waitFor();
      await press("Control+a");
      await type(model.url);
      await press("Enter");
      await rows().getByText("scripted", { exact: true }).waitFor();
      await press("Enter");
      await bench.page.getByText("“scripted” works").first().waitFor();

      model.push(
        write("ships.txt", "two\n"),
        run(process.execPath, "-e", "console.log('ahoy')"),
        finish("Two ships."),
      );
      await command("Countersign: New Session");
      const frame = await chat();
      // The field may have the focus before: what is typed then is for the session that is shown then.
      await frame.getByRole("heading", { name: "New session", level: 1 }).waitFor();
      await frame.locator("textarea:focus").waitFor();
      await type("Another ship");
      await press("Enter");
      await frame
        .getByRole("group", { name: /^Permission: / })
        .filter({ hasText: "ships.txt" })
        .waitFor();
      await command("Countersign: Open Proposed Diff");
      await bench.page.locator(".monaco-diff-editor .monaco-editor.focused").waitFor();
      assert.equal(await bench.read("ships.txt"), "one\n");
      await bench.screenshot("vsix-diff");
      await press("Control+k", "Control+y");
      await approve("ahoy");
      await bench.event("result", ({ text }) => text === "Two ships.");
      assert.equal(await bench.read("ships.txt"), "two\n");
      const session = (await bench.sessions()).at(-1);
      assert.deepEqual(
        session?.events.flatMap((one) =>
          one.type === "card_answered" ? [[one.answer, one.surface]] : [],
        ),
        [
          ["allow_once", "command"],
          ["allow_once", "chat"],
        ],
      );
    });
  });
});
