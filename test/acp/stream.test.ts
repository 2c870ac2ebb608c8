import assert from "node:assert/strict";
import { methods } from "@agentclientprotocol/sdk";
import { Editor, makeWorld, type World } from "./support/agent.js";

describe("what a client hears of the model", () => {
  let world: World;
  afterEach(() => world.dispose());

  it("hears its thoughts apart from its words, and how full the context is", async () => {
    world = await makeWorld([
      { reasoning: "Let me think.", text: "Forty-two.", usage: { input: 1000, output: 20 } },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    await editor.prompt(session, "What is it?");
    assert.equal(editor.text("agent_thought_chunk"), "Let me think.");
    assert.equal(editor.text("agent_message_chunk"), "Forty-two.");
    const usage = await editor.update(
      (one) => (one.sessionUpdate === "usage_update" ? one : undefined),
      "the usage",
    );
    assert.deepEqual(usage, { sessionUpdate: "usage_update", used: 1020, size: 128_000 });
    await editor.close();
  });

  it("hears words before the answer is whole", async () => {
    let go = (): void => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    world = await makeWorld([{ text: "One two three four.", hold: held }]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Count");
    await editor.until(
      () => (editor.text("agent_message_chunk") === "One two three four." ? true : undefined),
      "the words",
    );
    assert.equal(
      (await world.log(session)).some((event) => event.type === "model_answered"),
      false,
    );
    go();
    assert.deepEqual(await ended, { stopReason: "end_turn" });
    assert.equal(editor.text("agent_message_chunk"), "One two three four.");
    await editor.close();
  });

  for (const notices of [true, false]) {
    it(`hears that it waits to try again, ${notices ? "as a notice" : "as a thought where it takes no notices"}`, async () => {
      world = await makeWorld([{ status: 429, headers: { "retry-after": "0" } }, { text: "Now." }]);
      const editor = new Editor(world);
      await editor.initialize(notices ? { session: { notices: {} } } : {});
      const { sessionId } = await editor.agent.request(methods.agent.session.new, {
        cwd: world.workspace,
        mcpServers: [],
      });
      assert.deepEqual(await editor.prompt(sessionId, "Hello"), { stopReason: "end_turn" });
      const told = editor.updates.flatMap(({ update }) =>
        update.sessionUpdate === "notice" ? [[update.severity, update.title]] : [],
      );
      if (notices) {
        assert.equal(told.length, 1);
        assert.equal(told[0]?.[0], "warning");
        assert.match(told[0]?.[1] ?? "", /Attempt 2/);
        assert.equal(editor.text("agent_thought_chunk"), "");
      } else {
        assert.deepEqual(told, []);
        assert.match(editor.text("agent_thought_chunk"), /Attempt 2/);
      }
      await editor.close();
    });
  }

  it("hears that an answer was cut by its limit", async () => {
    world = await makeWorld([{ text: "Half an ans", finish: "length" }]);
    const editor = new Editor(world);
    const session = await editor.open();
    assert.deepEqual(await editor.prompt(session, "Go"), { stopReason: "max_tokens" });
    await editor.close();
  });

  it("gives a command nothing of the agent's keys and settings", async () => {
    world = await makeWorld([
      { calls: [{ id: "c1", tool: "run", args: { argv: ["env"] } }] },
      { text: "Seen." },
    ]);
    const editor = new Editor(world, { env: { PROJECT_SETTING: "kept" } });
    const session = await editor.open();
    const ended = editor.prompt(session, "Look");
    (await editor.ask(0)).select("allow_once");
    await ended;
    const result = (await world.log(session)).find((event) => event.type === "call_ended");
    const text = result?.type === "call_ended" ? result.result : "";
    assert.match(text, /PROJECT_SETTING=kept/);
    assert.doesNotMatch(text, /OPENAI|COUNTERSIGN|sk-test/);
    await editor.close();
  });

  it("hears the title that the session got", async () => {
    world = await makeWorld([{ text: "Done." }]);
    const editor = new Editor(world);
    const session = await editor.open();
    await editor.prompt(session, "Tidy up the cellar");
    const title = await editor.update(
      (one) => (one.sessionUpdate === "session_info_update" ? one.title : undefined),
      "the title",
    );
    assert.match(title ?? "", /Tidy up the cellar/);
    await editor.close();
  });
});
