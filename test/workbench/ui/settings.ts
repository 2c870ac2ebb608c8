import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gate } from "../../support/gate.js";
import type { ScriptedAnswer } from "../../support/scriptedModel.js";
import { until } from "../harness.js";
import { finish, type Panel, write } from "./panel.js";

/** Settings that count from the start of the window. */
export const SETTINGS = {
  "countersign.models.openai.headers": { "x-team": "blue" },
  "countersign.models.maxTokens": 321,
  "countersign.models.idleTimeout": 10,
} as const;

/** A Stop hook that blocks once, and says so. */
const ONCE = `
  const fs = require("node:fs");
  if (fs.existsSync("hooked")) process.exit(0);
  fs.writeFileSync("hooked", "");
  console.error("not before the tea");
  process.exit(1);
`;

/** Tests of what each setting does to the next request, turn or card. */
export function describeSettings(get: () => Panel): void {
  let panel: Panel;
  let ollama: Server | undefined;

  before(() => {
    panel = get();
  });
  after(async () => {
    ollama?.closeAllConnections();
    ollama?.close();
  });

  const last = () => panel.model.requests.at(-1);
  const inUse = async (label: string) =>
    (await panel.chat()).getByRole("button", { name: `Model: ${label}`, exact: true }).waitFor();
  /** Asks, and waits until the chat shows what the turn ends with. */
  async function turn(text: string, done: string, ...answers: ScriptedAnswer[]): Promise<void> {
    const chat = await panel.ask(text, ...answers);
    await chat.getByText(done, { exact: true }).waitFor();
  }
  const results = async () =>
    (await panel.bench.sessions())
      .flatMap(({ events }) => events)
      .flatMap((event) => (event.type === "call_ended" ? [event.result] : []))
      .join("\n");

  it("say where requests go, for which model, with which headers and limit of tokens", async () => {
    await panel.newSession();
    // Goes on in its session while others run: it falls silent, and its time limit is 10 s.
    const chat = await panel.ask("Fall silent", { text: "I think", hold: gate().held });
    await chat.getByText("I think", { exact: true }).waitFor();
    const { path, headers, body } = last() ?? {};
    assert.deepEqual(
      [path, body?.model, headers?.["x-team"], body?.max_tokens],
      ["/v1/chat/completions", "scripted", "blue", 321],
    );
  });

  it("say how much of a session a request may carry", async () => {
    const carried = () =>
      /Left out to save space: the result \(\d+ bytes\)/.test(last()?.raw ?? "");
    await panel.newSession();
    await panel.bench.set({ "countersign.models.contextTokens": 12_000 });
    const read = { calls: [{ tool: "read_file", args: { path: "large.txt" } }] };
    await turn("Read it", "Read.", read, finish("Read."));
    assert.equal(carried(), true);
    await panel.bench.set({ "countersign.models.contextTokens": 0 });
    await turn("Read it again", "Read again.", read, finish("Read again."));
    assert.equal(carried(), false);
  });

  it("take another provider's server, and back", async () => {
    await panel.bench.set({
      "countersign.models.selected": "anthropic",
      "countersign.models.anthropic.baseUrl": panel.model.origin,
      "countersign.models.anthropic.model": "claude-scripted",
    });
    await inUse("claude-scripted");
    await turn("Say something", "Something.", { text: "Something." });
    assert.deepEqual([last()?.path, last()?.body.model], ["/v1/messages", "claude-scripted"]);
    const asked: string[] = [];
    ollama = createServer((request, response) => {
      asked.push(request.url ?? "");
      const isChat = request.url === "/v1/chat/completions";
      response.writeHead(isChat ? 400 : 200, { "content-type": "application/json" });
      response.end(
        JSON.stringify(isChat ? { error: { message: "no" } } : { models: [{ name: "tiny" }] }),
      );
    }).listen(0, "127.0.0.1");
    await until("the other server", async () => ollama?.listening);
    const { port } = ollama.address() as AddressInfo;
    await panel.bench.set({
      "countersign.models.selected": "ollama:tiny",
      "countersign.models.ollama.url": `http://127.0.0.1:${port}`,
    });
    await inUse("tiny");
    await panel.ask("Say no");
    await (await panel.chat()).locator(".end-failed").waitFor();
    assert.deepEqual([asked[0], asked.at(-1)], ["/api/tags", "/v1/chat/completions"]);
    await panel.bench.set({ "countersign.models.selected": "openai" });
    await inUse("scripted");
  });

  it("take a key to its own server, and forget it", async () => {
    const { page } = panel.bench;
    const box = page.locator(".quick-input-widget input");
    const setKey = async (key: string, says: RegExp) => {
      await panel.bench.command("Countersign: Set API Key…");
      await page.getByText("kept in VS Code's secret storage").waitFor();
      assert.equal(await box.getAttribute("type"), "password");
      await box.fill(key);
      await page.keyboard.press("Enter");
      await page.getByText(says).first().waitFor();
    };
    await setKey("sk-canary-set", /The key for .* is set\./);
    await turn("With a key", "With.", { text: "With." });
    assert.equal(last()?.headers.authorization, "Bearer sk-canary-set");
    await setKey("", /There is no key for .* any more\./);
    await turn("Without a key", "Without.", { text: "Without." });
    assert.equal(last()?.headers.authorization, undefined);
  });

  it("say which programs have a word before a turn ends", async () => {
    const argv = [process.execPath, "-e", ONCE];
    await panel.bench.set({ "countersign.hooks.stop": [{ argv, timeout: 30 }] });
    await turn("Be done", "After the tea.", finish("Ready."), finish("After the tea."));
    assert.match(last()?.raw ?? "", /not before the tea/);
    const chat = await panel.chat();
    assert.equal(await chat.locator(".hook.state-failed").count(), 1);
    assert.equal(await chat.locator(".hook.state-ok").count(), 1);
    await panel.bench.set({ "countersign.hooks.stop": [] });
  });

  it("say what searches", async () => {
    const grep = { calls: [{ tool: "grep", args: { pattern: "^one" } }] };
    await panel.bench.set({ "countersign.ripgrep.path": "/nowhere/rg" });
    await turn("Search", "Sought.", grep, finish("Sought."));
    assert.match(await results(), /ripgrep\.path names \/nowhere\/rg/);
    await panel.bench.set({ "countersign.ripgrep.path": "" });
    await turn("Search again", "Found.", grep, finish("Found."));
    assert.match(await results(), /^d\.txt:1:one$/m);
  });

  it("say whether a diff opens by itself", async () => {
    const tab = panel.bench.page.getByRole("tab", { name: "d.txt (proposed)", exact: false });
    await panel.bench.set({ "countersign.diff.openAutomatically": false });
    await panel.ask("Change d.txt", write("d.txt", "two\n"), finish("Left."));
    const card = await panel.card("d.txt");
    assert.equal(await tab.count(), 0);
    await panel.bench.set({ "countersign.diff.openAutomatically": true });
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await (await panel.chat()).getByText("Left.", { exact: true }).waitFor();
    await panel.ask("Change d.txt again", write("d.txt", "two\n"), finish("Left again."));
    await tab.waitFor();
    await (await panel.card("d.txt")).getByRole("button", { name: "Deny", exact: true }).click();
    await (await panel.chat()).getByText("Left again.").waitFor();
  });

  it("say how long a model may be silent", async () => {
    const ended = await panel.bench.event("turn_ended", ({ message }) =>
      /sent nothing for 10 s/.test(message ?? ""),
    );
    assert.equal(ended.reason, "failed");
  });
}
