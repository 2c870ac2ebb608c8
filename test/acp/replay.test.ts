import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { createCore } from "../../src/core/core.js";
import { createClient } from "../../src/core/model/index.js";
import { Editor, makeWorld, type World } from "./support/agent.js";

describe("a session that is loaded", () => {
  let world: World;
  afterEach(() => world.dispose());

  it("shows what its writes changed and what was denied, and asks nothing that is over", async () => {
    world = await makeWorld(
      [
        { calls: [{ id: "w1", tool: "write_file", args: { path: "a.txt", content: "two\n" } }] },
        { calls: [{ id: "w2", tool: "write_file", args: { path: "a.txt", content: "three\n" } }] },
        { text: "Done." },
      ],
      { "a.txt": "one\n" },
    );
    const first = new Editor(world);
    const session = await first.open();
    const ended = first.prompt(session, "Change it twice");
    (await first.ask(0)).select("allow_once");
    (await first.ask(1)).select("deny");
    await ended;
    await first.close();

    const second = new Editor(world);
    await second.initialize();
    await second.load(session);
    assert.deepEqual(second.statuses("w1"), ["pending", "in_progress", "completed"]);
    assert.deepEqual(second.statuses("w2"), ["pending", "failed"]);
    const shown = (id: string): string =>
      JSON.stringify(
        second.updates.flatMap(({ update }) =>
          update.sessionUpdate === "tool_call_update" && update.toolCallId === id
            ? (update.content ?? [])
            : [],
        ),
      );
    assert.match(shown("w1"), /-one\\n\+two/);
    assert.match(shown("w2"), /Denied/);
    assert.deepEqual(second.asked, []);
    await second.close();
  });

  it("asks again for an open card when the same client loads it twice, and takes the first back", async () => {
    world = await makeWorld([
      { calls: [{ id: "c1", tool: "run", args: { argv: ["echo", "hello"] } }] },
      { text: "Done." },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Run");
    const first = await editor.ask(0);
    await editor.load(session);
    const second = await editor.ask(1);
    assert.equal(first.signal.aborted, true);
    first.select("deny");
    second.select("allow_once");
    assert.deepEqual(await ended, { stopReason: "end_turn" });
    const answers = (await world.log(session)).flatMap((event) =>
      event.type === "card_answered" ? [event.answer] : [],
    );
    assert.deepEqual(answers, ["allow_once"]);
    await editor.close();
  });

  it("has its card up again, made from the disk as it is now, when its agent was killed", async () => {
    world = await makeWorld(
      [
        {
          calls: [
            { id: "w1", tool: "search_replace", args: { path: "a.txt", old: "one", new: "two" } },
          ],
        },
        { text: "Done." },
      ],
      { "a.txt": "one\n" },
    );
    const first = new Editor(world);
    const session = await first.open();
    void first.prompt(session, "Change it").catch(() => {});
    await first.ask(0);
    first.child.kill("SIGKILL");
    await first.exited;
    await appendFile(join(world.workspace, "a.txt"), "more\n");

    const second = new Editor(world);
    await second.initialize();
    await second.load(session);
    const asked = await second.ask(0);
    assert.deepEqual(asked.request.toolCall.content?.[0], {
      type: "diff",
      path: join(world.workspace, "a.txt"),
      oldText: "one\nmore\n",
      newText: "two\nmore\n",
    });
    asked.select("allow_once");
    await second.until(
      () => (second.text("agent_message_chunk").includes("Done.") ? true : undefined),
      "the turn's end",
    );
    assert.equal(await world.file("a.txt"), "two\nmore\n");
    await second.close();
  });

  it("shows and writes the text that a person had made of a proposal in another host", async () => {
    world = await makeWorld(
      [
        {
          calls: [{ id: "w1", tool: "write_file", args: { path: "a.txt", content: "proposed\n" } }],
        },
        { text: "Done." },
      ],
      { "a.txt": "one\n" },
    );
    const host = createCore({
      home: world.home,
      userHome: world.dir,
      version: "0",
      host: "test",
      ripgrep: () => Promise.reject(new Error("not searched")),
      env: world.env,
      settings: () => ({ stopHooks: [], trusted: true }),
      client: async () =>
        createClient({ provider: "openai", baseUrl: world.model.url, model: "scripted" }),
      unsaved: () => new Set(),
      report: assert.fail,
    });
    const live = await host.newSession(world.workspace);
    const raised = new Promise<string>((resolve) => {
      live.onEvent((event) => {
        if (event.type === "card_raised") resolve(event.card);
      });
    });
    await live.ask("Change it");
    assert.deepEqual(await live.editCard(await raised, Buffer.from("edited\n")), {
      outcome: "taken",
    });
    await host.dispose();

    const editor = new Editor(world);
    await editor.initialize();
    await editor.load(live.id);
    const asked = await editor.ask(0);
    assert.deepEqual(asked.request.toolCall.content?.[0], {
      type: "diff",
      path: join(world.workspace, "a.txt"),
      oldText: "one\n",
      newText: "edited\n",
    });
    assert.match(
      JSON.stringify(asked.request.toolCall.content),
      /Edited by the user: what is written is this text, not the proposal\./,
    );
    assert.equal(await world.file("a.txt"), "one\n");
    asked.select("allow_once");
    await editor.until(
      () => (editor.text("agent_message_chunk").includes("Done.") ? true : undefined),
      "the turn's end",
    );
    assert.equal(await world.file("a.txt"), "edited\n");
    await editor.close();
  });

  it("asks a question with options again, and goes on with the answer though no prompt waits", async () => {
    world = await makeWorld([
      { calls: [{ id: "q1", tool: "ask", args: { question: "Which?", options: ["a", "b"] } }] },
      { text: "Then b." },
    ]);
    const first = new Editor(world);
    const session = await first.open();
    void first.prompt(session, "Ask me").catch(() => {});
    await first.ask(0);
    await first.leave();
    const second = new Editor(world);
    await second.initialize();
    await second.load(session);
    (await second.ask(0)).select("option-2");
    await second.until(
      () => (second.text("agent_message_chunk").includes("Then b.") ? true : undefined),
      "the turn's end",
    );
    await second.close();
  });

  it("says what waits in its queue, and tells the words of it when they are sent on", async () => {
    world = await makeWorld([
      { text: "Never whole", hold: new Promise(() => {}), end: "never" },
      { text: "Second." },
    ]);
    const first = new Editor(world);
    const session = await first.open();
    const one = first.prompt(session, "One");
    await world.model.request(0);
    void first.prompt(session, "Two, please").catch(() => {});
    for (;;) {
      if ((await world.log(session)).some((event) => event.type === "ask_queued")) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await first.cancel(session);
    await one;
    await first.close();

    const second = new Editor(world);
    await second.initialize();
    await second.load(session);
    await second.until(
      () =>
        /wait in the queue:\n1\. Two, please\n/.test(second.text("agent_message_chunk"))
          ? 1
          : undefined,
      "what waits",
    );
    assert.equal(second.text("user_message_chunk"), "One");
    assert.deepEqual(await second.prompt(session, "/go-on"), { stopReason: "end_turn" });
    assert.equal(second.text("user_message_chunk"), "OneTwo, please");
    await second.close();
  });

  it("replays thousands of turns in order, before its response", async () => {
    world = await makeWorld([{ text: "Here." }]);
    const first = new Editor(world);
    const session = await first.open();
    await first.close();
    const turns = 2_000;
    const at = new Date().toISOString();
    const lines: string[] = [];
    let seq = (await world.log(session)).length;
    for (let n = 0; n < turns; n++) {
      const turn = `t${n}`;
      const call = `c${n}`;
      const calls = [{ call, tool: "read_file", args: { path: "a.txt" } }];
      for (const body of [
        { type: "turn_started", text: `ask ${n};`, model: "m" },
        { type: "model_answered", text: `answer ${n};`, calls },
        { type: "call_ended", call, ok: true, result: "text", by: "inside" },
        { type: "result", text: `result ${n};` },
        { type: "turn_ended", reason: "finished" },
      ]) {
        lines.push(JSON.stringify({ seq: ++seq, at, turn, ...body }));
      }
    }
    await appendFile(join(world.home, "sessions", session, "log.jsonl"), `${lines.join("\n")}\n`);

    const second = new Editor(world);
    await second.initialize();
    await second.load(session);
    const numbers = Array.from({ length: turns }, (_, n) => n);
    assert.equal(second.text("user_message_chunk"), numbers.map((n) => `ask ${n};`).join(""));
    assert.equal(
      second.text("agent_message_chunk"),
      numbers.map((n) => `answer ${n};result ${n};`).join(""),
    );
    for (const n of [0, 1_000, turns - 1]) {
      assert.equal(second.statuses(`c${n}`).at(-1), "completed");
    }
    assert.deepEqual(await second.prompt(session, "Still there?"), { stopReason: "end_turn" });
    await second.close();
  });

  it("answers what is open by the mode that the client changes to", async () => {
    world = await makeWorld([
      { calls: [{ id: "c1", tool: "run", args: { argv: ["touch", "made"] } }] },
      { text: "Done." },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Run");
    const asked = await editor.ask(0);
    await editor.agent.request(methods.agent.session.setConfigOption, {
      sessionId: session,
      configId: "mode",
      value: "deny",
    });
    assert.deepEqual(await ended, { stopReason: "end_turn" });
    assert.equal(asked.signal.aborted, true);
    asked.select("allow_once");
    assert.equal(editor.statuses("c1").at(-1), "failed");
    assert.deepEqual(
      await editor.update(
        (one) => (one.sessionUpdate === "current_mode_update" ? one.currentModeId : undefined),
        "the mode",
      ),
      "deny",
    );
    await editor.close();
  });
});
