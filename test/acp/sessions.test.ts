import assert from "node:assert/strict";
import { methods } from "@agentclientprotocol/sdk";
import { Editor, makeWorld, type World } from "./support/agent.js";

describe("sessions over the protocol", () => {
  let world: World;
  afterEach(() => world.dispose());

  it("says what it can do", async () => {
    world = await makeWorld([]);
    const editor = new Editor(world);
    const { agentInfo, ...answer } = await editor.initialize();
    assert.equal(agentInfo?.name, "countersign");
    assert.deepEqual(answer, {
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true, image: false, audio: false },
        mcpCapabilities: { http: false, sse: false },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
    });
    await editor.close();
  });

  it("names a session as its directory, and answers a prompt", async () => {
    world = await makeWorld([{ text: "Hello there." }]);
    const editor = new Editor(world);
    const session = await editor.open();
    assert.deepEqual(await world.sessions(), [session]);
    assert.deepEqual(await editor.prompt(session, "Say hello"), { stopReason: "end_turn" });
    assert.equal(editor.text("agent_message_chunk"), "Hello there.");
    assert.equal(editor.text("user_message_chunk"), "");
    await editor.close();
  });

  it("reports a read as it goes, without a card", async () => {
    world = await makeWorld(
      [
        {
          text: "Looking.",
          calls: [{ id: "r1", tool: "read_file", args: { path: "a.txt", line: 2 } }],
        },
        { text: "It says two." },
      ],
      { "a.txt": "one\ntwo\n" },
    );
    const editor = new Editor(world);
    const session = await editor.open();
    assert.deepEqual(await editor.prompt(session, "What does a.txt say?"), {
      stopReason: "end_turn",
    });
    assert.deepEqual(editor.asked, []);
    assert.deepEqual(editor.statuses("r1"), ["pending", "in_progress", "completed"]);
    const call = await editor.update(
      (one) => (one.sessionUpdate === "tool_call" ? one : undefined),
      "the call",
    );
    assert.deepEqual(call, {
      sessionUpdate: "tool_call",
      toolCallId: "r1",
      status: "pending",
      name: "read_file",
      title: "Read a.txt",
      kind: "read",
      locations: [{ path: `${world.workspace}/a.txt`, line: 2 }],
      rawInput: { path: "a.txt", line: 2 },
    });
    assert.equal(editor.text("agent_message_chunk"), "Looking.It says two.");
    await editor.close();
  });

  it("marks a call that could not be made as failed, and the turn goes on", async () => {
    world = await makeWorld([
      { calls: [{ id: "r1", tool: "read_file", args: { path: "none.txt" } }] },
      { text: "There is none." },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    assert.deepEqual(await editor.prompt(session, "Read it"), { stopReason: "end_turn" });
    assert.equal(editor.statuses("r1").at(-1), "failed");
    await editor.close();
  });

  it("replays a session to another process, and goes on with it", async () => {
    world = await makeWorld(
      [
        { text: "Reading.", calls: [{ id: "r1", tool: "read_file", args: { path: "a.txt" } }] },
        { calls: [{ id: "f1", tool: "finish", args: { result: "It says one." } }] },
        { text: "Still here." },
      ],
      { "a.txt": "one\n" },
    );
    const first = new Editor(world);
    const session = await first.open();
    await first.prompt(session, "What does it say?");
    const told = first.updates.length;
    assert.ok(told > 0);
    await first.close();

    const second = new Editor(world);
    await second.initialize();
    const loaded = await second.load(session);
    assert.equal(loaded?.modes?.currentModeId, "ask");
    assert.equal(second.text("user_message_chunk"), "What does it say?");
    assert.equal(second.text("agent_message_chunk"), "Reading.It says one.");
    assert.deepEqual(second.statuses("r1").at(-1), "completed");
    assert.deepEqual(second.statuses("f1").at(-1), "completed");
    assert.deepEqual(await second.prompt(session, "And now?"), { stopReason: "end_turn" });
    assert.match(second.text("agent_message_chunk"), /Still here\.$/);
    await second.close();
  });

  it("lists sessions, those of one workspace where asked", async () => {
    world = await makeWorld([{ text: "Hello." }]);
    const editor = new Editor(world);
    const session = await editor.open();
    await editor.prompt(session, "Say hello to the list");
    const other = (
      await editor.agent.request(methods.agent.session.new, { cwd: world.dir, mcpServers: [] })
    ).sessionId;
    const all = await editor.agent.request(methods.agent.session.list, {});
    assert.deepEqual(all.sessions.map((one) => one.sessionId).sort(), [session, other].sort());
    const here = await editor.agent.request(methods.agent.session.list, { cwd: world.workspace });
    assert.deepEqual(
      here.sessions.map(({ sessionId, cwd }) => ({ sessionId, cwd })),
      [{ sessionId: session, cwd: world.workspace }],
    );
    assert.match(here.sessions[0]?.title ?? "", /hello/i);
    await editor.close();
  });

  it("resumes without telling the past", async () => {
    world = await makeWorld([{ text: "First." }, { text: "Second." }]);
    const first = new Editor(world);
    const session = await first.open();
    await first.prompt(session, "One");
    await first.close();
    const second = new Editor(world);
    await second.initialize();
    await second.agent.request(methods.agent.session.resume, {
      sessionId: session,
      cwd: world.workspace,
    });
    assert.deepEqual(await second.prompt(session, "Two"), { stopReason: "end_turn" });
    assert.equal(second.text("agent_message_chunk"), "Second.");
    await second.close();
  });

  it("closes a session, which is unknown then and can be loaded again", async () => {
    world = await makeWorld([{ text: "Hello." }]);
    const editor = new Editor(world);
    const session = await editor.open();
    assert.deepEqual(
      await editor.agent.request(methods.agent.session.close, { sessionId: session }),
      {},
    );
    await assert.rejects(editor.prompt(session, "Are you there?"), { code: -32002 });
    await editor.load(session);
    assert.deepEqual(await editor.prompt(session, "Hello?"), { stopReason: "end_turn" });
    await editor.close();
  });

  it("opens a session that another process holds read-only, and says so", async () => {
    world = await makeWorld([{ text: "Hello." }]);
    const first = new Editor(world);
    const session = await first.open();
    await first.prompt(session, "Hello");
    const second = new Editor(world);
    await second.initialize();
    await second.load(session);
    assert.match(second.text("agent_message_chunk"), /^Hello\./);
    await assert.rejects(second.prompt(session, "Me too"), { code: -32600 });
    await second.close();
    await first.close();
  });

  it("refuses a session's id with another workspace", async () => {
    world = await makeWorld([]);
    const editor = new Editor(world);
    const session = await editor.open();
    await assert.rejects(
      editor.load(session, world.dir),
      (error: { code: number; message: string }) => {
        assert.equal(error.code, -32602);
        assert.match(error.message, /the session's workspace is .*workspace, and cwd is/);
        return true;
      },
    );
    await editor.close();
  });

  it("answers in the model and the mode that the client picks", async () => {
    world = await makeWorld([{ text: "Hello." }]);
    const editor = new Editor(world, {
      env: {
        ANTHROPIC_BASE_URL: world.model.origin,
        ANTHROPIC_API_KEY: "sk-ant-test",
        ANTHROPIC_MODEL: "scripted-too",
      },
    });
    await editor.initialize();
    const opened = await editor.agent.request(methods.agent.session.new, {
      cwd: world.workspace,
      mcpServers: [],
    });
    const model = opened.configOptions?.find((one) => one.id === "model");
    assert.deepEqual(model?.type === "select" ? [model.currentValue, model.options] : undefined, [
      "openai:scripted",
      [
        { value: "openai:scripted", name: "scripted" },
        { value: "anthropic:scripted-too", name: "scripted-too" },
      ],
    ]);
    const set = await editor.agent.request(methods.agent.session.setConfigOption, {
      sessionId: opened.sessionId,
      configId: "model",
      value: "anthropic:scripted-too",
    });
    assert.equal(
      set.configOptions.find((one) => one.id === "model")?.currentValue,
      "anthropic:scripted-too",
    );
    await editor.prompt(opened.sessionId, "Hello");
    assert.equal(world.model.requests[0]?.path, "/v1/messages");
    await assert.rejects(
      editor.agent.request(methods.agent.session.setConfigOption, {
        sessionId: opened.sessionId,
        configId: "model",
        value: "none",
      }),
      { code: -32602 },
    );
    await editor.close();
  });

  it("gives the model's fault as the prompt's error, without the key", async () => {
    world = await makeWorld([{ status: 401 }]);
    const editor = new Editor(world);
    const session = await editor.open();
    await assert.rejects(
      editor.prompt(session, "Hello"),
      (error: { code: number; message: string }) => {
        assert.equal(error.code, -32603);
        assert.match(error.message, /key/i);
        assert.doesNotMatch(error.message, /sk-test-0123456789/);
        return true;
      },
    );
    assert.equal((await world.log(session)).at(-1)?.type, "turn_ended");
    await editor.close();
  });

  it("says what to set where no model is set up", async () => {
    world = await makeWorld([]);
    const editor = new Editor(world, {
      env: { OPENAI_MODEL: "", OPENAI_BASE_URL: "", OPENAI_API_KEY: "" },
    });
    const session = await editor.open();
    await assert.rejects(editor.prompt(session, "Hello"), /OPENAI_MODEL/);
    await editor.close();
  });

  it("runs the demo, which needs no model", async () => {
    world = await makeWorld([], { "README.md": "# A project\n\nSome words.\n" });
    const editor = new Editor(world, { env: { COUNTERSIGN_MODEL: "demo" } });
    const session = await editor.open();
    const ended = editor.prompt(session, "Show me");
    const asked = await editor.ask(0);
    asked.select("deny");
    await editor.cancel(session);
    await ended;
    assert.deepEqual(world.model.requests, []);
    await editor.close();
  });

  it("sends a file that a prompt links to as its path, and an embedded text as it is", async () => {
    world = await makeWorld([{ text: "Seen." }]);
    const editor = new Editor(world);
    const session = await editor.open();
    const uri = `file://${world.workspace}/a%20b.txt`;
    await editor.agent.request(methods.agent.session.prompt, {
      sessionId: session,
      prompt: [
        { type: "text", text: "Look at " },
        { type: "resource_link", name: "a b.txt", uri },
        { type: "resource", resource: { uri, text: "```inside```" } },
      ],
    });
    const turn = (await world.log(session)).find((event) => event.type === "turn_started");
    const path = `${world.workspace}/a b.txt`;
    assert.equal(
      turn?.type === "turn_started" ? turn.text : "",
      `Look at ${path}\n${path}:\n\`\`\`\`\n\`\`\`inside\`\`\`\n\`\`\`\``,
    );
    await assert.rejects(
      editor.agent.request(methods.agent.session.prompt, {
        sessionId: session,
        prompt: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
      }),
      { code: -32602 },
    );
    await editor.close();
  });
});
