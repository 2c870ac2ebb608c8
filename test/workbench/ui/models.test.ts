import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import { root } from "../../../scripts/process.js";
import {
  type RecordedMessage,
  type ScriptedModel,
  startScriptedModel,
} from "../../support/scriptedModel.js";
import { startWorkbench, until, type Workbench } from "../harness.js";

const PROVIDER = join(root, "test/fixtures/model-provider");

interface Sent {
  readonly sent?: readonly { readonly role: string; readonly content: readonly Part[] }[];
  readonly tools?: readonly string[];
  readonly cancelled?: true;
}
type Part = Partial<Record<"text" | "call" | "tool" | "result", string>> & {
  readonly args?: unknown;
};

/** Every call has one result, right behind it and in its order, and no name is used twice. */
function assertPaired(messages: readonly RecordedMessage[]): void {
  const waiting: string[] = [];
  const names = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      assert.equal(message.tool_call_id, waiting.shift());
      continue;
    }
    assert.equal(waiting.length, 0, "results come before anything else is said");
    assert.ok(message.content || message.tool_calls?.length, "no message is empty");
    for (const { id } of message.tool_calls ?? []) {
      assert.ok(!names.has(id), id);
      names.add(id);
      waiting.push(id);
    }
  }
  assert.equal(waiting.length, 0);
}

describe("a language model of VS Code's", () => {
  let bench: Workbench;
  let panel: Frame;
  let folder: string;
  let server: ScriptedModel;

  /** What the provider was sent, in order. */
  async function log(): Promise<Sent[]> {
    const text = await readFile(join(folder, "log.jsonl"), "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Sent);
  }

  /**
   * Waits until the panel tells of a turn's end. On disk the end is there before it is flushed, and
   * an ask sent by then would wait in the queue of a turn that failed.
   */
  async function shown(message: RegExp): Promise<void> {
    await panel.getByText(message).last().waitFor();
  }

  async function ask(text: string): Promise<void> {
    const composer = panel.getByRole("textbox", { name: "Message" });
    await composer.fill(text);
    await composer.press("Enter");
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "countersign-lm-"));
    server = await startScriptedModel([]);
    bench = await startWorkbench({
      files: { "a.txt": "one\n" },
      extensions: [PROVIDER],
      env: { COUNTERSIGN_TEST_MODEL_LOG: join(folder, "log.jsonl") },
    });
    await bench.command("Countersign: New Session");
    panel = await bench.frame('[role="log"]');
  });

  after(async () => {
    await bench?.stop();
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Picks a model in the middle of the session. */
  async function pick(name: string): Promise<void> {
    await bench.command("Countersign: Select Model…");
    // The list is whole once the models of VS Code are in it.
    await bench.page.locator(".quick-input-list").getByText("Scripted Model").first().waitFor();
    await bench.page.locator(".quick-input-widget input").fill(name);
    await bench.page.keyboard.press("Enter");
  }

  /** Waits until the panel says that this model is the next to be asked. */
  async function inUse(name: string): Promise<void> {
    await panel.getByRole("button", { name: `Model: ${name}`, exact: true }).waitFor();
  }

  /** Asks, and waits for the end of that turn. */
  async function turn(text: string): Promise<void> {
    await ask(text);
    const { turn: name } = await bench.event("turn_started", (event) => event.text === text);
    const { reason } = await bench.event("turn_ended", (event) => event.turn === name);
    assert.equal(reason, "finished");
    await panel.getByRole("status").getByText("The turn has ended: Finished").waitFor();
  }

  it("is what answers where nothing was picked; its calls are carried out", async () => {
    await panel.getByText("Scripted Model").first().waitFor();
    await ask("look at the file");
    const ended = await bench.event("turn_ended");
    assert.equal(ended.reason, "finished");
    const [session] = await bench.sessions();
    const answers = session?.events.filter((event) => event.type === "model_answered") ?? [];
    assert.deepEqual(
      answers.map(({ text, calls }) => [text, calls.map(({ tool, args }) => [tool, args])]),
      [
        [
          "I look.",
          [
            ["list_dir", {}],
            ["read_file", { path: "a.txt" }],
          ],
        ],
        ["That is all.", []],
      ],
    );
    for (const { usage } of answers) {
      assert.equal(usage?.estimated, true);
      assert.ok((usage?.input ?? 0) > 0 && (usage?.output ?? 0) > 0);
    }
    const [first, second] = await log();
    assert.equal(first?.sent?.[0]?.role, "user");
    assert.ok(first?.tools?.includes("search_replace"));
    // The provider gave both calls one id; each has its own, and its result has the same.
    const tail = second?.sent?.slice(-2).map(({ content }) => content) ?? [];
    const ids = tail[0]?.flatMap(({ call }) => (call === undefined ? [] : [call])) ?? [];
    assert.equal(new Set(ids).size, 2);
    assert.deepEqual(
      tail[1]?.map(({ result }) => result),
      ids,
    );
    // What was sent first is sent again as it was.
    assert.deepEqual(second?.sent?.slice(0, first?.sent?.length), first?.sent);
  });

  for (const [asked, says] of [
    ["quota", /quota of “Scripted Model”.*month's requests.*“Select Model…”/],
    ["consent", /does not let Countersign use “Scripted Model”.*“Manage Language Model Access”/],
    ["gone", /has no model “Scripted Model” any more.*“Select Model…”/],
  ] as const) {
    it(`that fails for a reason (${asked}) ends the turn with what to do, and is not asked again`, async () => {
      const before = (await log()).length;
      await ask(`${asked} please`);
      const ended = await bench.event("turn_ended", ({ message }) => says.test(message ?? ""));
      assert.equal(ended.reason, "failed");
      assert.equal((await log()).length, before + 1);
      await shown(says);
    });
  }

  it("that breaks in mid-answer ends the turn and repeats nothing", async () => {
    const before = (await log()).length;
    await ask("break please");
    const ended = await bench.event(
      "turn_ended",
      ({ message }) => message?.includes("the provider broke") === true,
    );
    assert.match(ended.message ?? "", /ended in an error.*Nothing of it was carried out/);
    assert.equal((await log()).length, before + 1);
    await shown(/the provider broke/);
  });

  it("is told when the turn is cancelled", async () => {
    await ask("hang please");
    await panel.getByText("I think…").waitFor();
    await bench.command("Countersign: Cancel Turn");
    await bench.event("turn_ended", ({ reason }) => reason === "cancelled");
    await until("the provider to be told", async () =>
      (await log()).some(({ cancelled }) => cancelled === true),
    );
  });

  it("hands over to a server's model in mid-session, takes over again, and all requests are valid", async () => {
    const { page } = bench;
    const list = page.locator(".quick-input-list");
    server.push({ calls: [{ tool: "ready", args: {} }] });
    await pick("llama.cpp");
    await page.getByText("Base URL of the server").waitFor();
    await page.locator(".quick-input-widget input").fill(server.url);
    await page.keyboard.press("Enter");
    await list.getByText("scripted", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await inUse("scripted");

    const look = { text: "I too.", calls: [{ id: "call_0", tool: "list_dir", args: {} }] };
    server.push(look, { text: "Seen." });
    await turn("now the server");

    await pick("Scripted Model");
    await inUse("Scripted Model");
    await turn("now VS Code again");

    server.push({ calls: [{ tool: "ready", args: {} }] }, { text: "And back." });
    await pick("llama.cpp");
    await page.getByText("Base URL of the server").waitFor();
    await page.keyboard.press("Enter");
    await list.getByText("scripted", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await inUse("scripted");
    await turn("the server once more");

    // All that was said, cancelled, broken and failed before is in each, and is in order.
    const [first, second, third] = [1, 2, 4].map((n) => server.requests[n]?.body.messages ?? []);
    for (const messages of [first, second, third]) assertPaired(messages ?? []);
    const texts = (first ?? []).map(({ content }) => content);
    assert.ok(texts.includes("That is all.") && texts.includes("now the server"));
    assert.deepEqual(second?.slice(0, first?.length), first);
    assert.deepEqual(third?.slice(0, second?.length), second);
    assert.ok(third?.some(({ content }) => content === "now VS Code again"));

    const sent = (await log()).flatMap((entry) => (entry.sent ? [entry.sent] : [])).at(-1) ?? [];
    const parts = sent.flatMap(({ content }) => content);
    assert.ok(parts.some(({ text }) => text === "Seen."));
    const calls = parts.flatMap(({ call }) => call ?? []);
    assert.equal(new Set(calls).size, calls.length);
    assert.ok(calls.length >= 5);
    assert.deepEqual(
      parts.flatMap(({ result }) => result ?? []),
      calls,
    );
    const [session, ...more] = await bench.sessions();
    assert.equal(more.length, 0);
    const models = session?.events.flatMap((event) =>
      event.type === "turn_started" ? [event.model] : [],
    );
    assert.deepEqual(models?.slice(-3), ["scripted", "scripted-model", "scripted"]);
  });
});

describe("a language model of VS Code's that is not there", () => {
  for (const [name, extensions, says] of [
    ["while there are others", [PROVIDER], /VS Code has no model “gone” any more.*“Select Model…”/],
    ["and no other either", [], /VS Code has no language model.*Sign in.*“Select Model…”/],
  ] as const) {
    it(`is told with what to do, ${name}`, async () => {
      const bench = await startWorkbench({
        files: {},
        extensions,
        settings: { "countersign.models.selected": "vscode:gone" },
      });
      try {
        await bench.command("Countersign: New Session");
        const panel = await bench.frame('[role="log"]');
        const composer = panel.getByRole("textbox", { name: "Message" });
        await composer.fill("hello");
        await composer.press("Enter");
        await panel.getByText(says).first().waitFor();
        // Nothing was begun.
        const [session] = await bench.sessions();
        assert.ok(!session?.events.some(({ type }) => type === "turn_started"));
      } finally {
        await bench.stop();
      }
    });
  }
});

describe("Select Model…", () => {
  const KEY = "sk-canary-typed-5e1f0c";
  let bench: Workbench;
  let model: ScriptedModel;

  before(async () => {
    // The first test of the model finds no key; with one it works.
    model = await startScriptedModel(({ headers }) =>
      headers.authorization === `Bearer ${KEY}`
        ? { calls: [{ tool: "ready", args: {} }] }
        : { status: 401, body: JSON.stringify({ error: { message: "no key" } }) },
    );
    bench = await startWorkbench({ files: { "a.txt": "one\n" } });
  });

  after(async () => {
    await bench?.stop();
    await model?.close();
  });

  it("sets a server up: base URL, model, a test that says what is wrong, and a key in a password box", async () => {
    const { page } = bench;
    const box = page.locator(".quick-input-widget input");
    await bench.command("Countersign: Select Model…");
    await page.getByText("A scripted tour in your folder").waitFor();
    await bench.screenshot("select-model");
    await box.fill("llama.cpp");
    await page.keyboard.press("Enter");
    await page.getByText("Base URL of the server").waitFor();
    await box.fill("not a url");
    await page.getByText("Not a URL.").waitFor();
    await box.fill(model.url);
    await page.keyboard.press("Enter");
    await page.locator(".quick-input-widget").getByText("scripted", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("did not accept the key").waitFor();
    await page.getByRole("button", { name: "Set the Key" }).click();
    await page.getByText("kept in VS Code's secret storage").waitFor();
    assert.equal(await box.getAttribute("type"), "password");
    await box.fill(KEY);
    await page.keyboard.press("Enter");
    await page.locator(".quick-input-widget").getByText("scripted", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("“scripted” works").first().waitFor();
    // It is in use once that is said, not a moment later.
    const files = ["Machine", "User"].map((name) => join(bench.data, name, "settings.json"));
    const settings = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
    assert.ok(settings.some((text) => /"countersign.models.openai.model": "scripted"/.test(text)));
    await bench.command("Countersign: New Session");
    const panel = await bench.frame('[role="log"]');
    await panel.getByText("scripted").first().waitFor();
    assert.deepEqual(
      model.requests.map(({ headers }) => headers.authorization),
      [undefined, `Bearer ${KEY}`],
    );
  });

  it("leaves the key in no file: settings, logs, sessions, storage", async () => {
    const found: string[] = [];
    let files = 0;
    for (const entry of await readdir(bench.data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      files += 1;
      const path = join(entry.parentPath, entry.name);
      const bytes = await readFile(path).catch(() => Buffer.alloc(0));
      if (bytes.includes(KEY) || bytes.includes(Buffer.from(KEY).toString("base64")))
        found.push(path);
    }
    assert.ok(files > 3);
    assert.deepEqual(found, []);
  });
});
