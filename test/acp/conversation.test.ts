import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import type { ScriptedAnswer } from "../support/scriptedModel.js";
import { Editor, makeWorld, type World } from "./support/agent.js";

const call = (id: string, tool: string, args: object): ScriptedAnswer => ({
  calls: [{ id, tool, args: args as Record<string, unknown> }],
});

/** All that this agent and a client can say to each other, but for what only bad clients say. */
const EVERYTHING = [
  "in $/cancel_request",
  "in error of authenticate",
  "in error of session/close",
  "in error of session/prompt",
  "in result of initialize",
  "in result of session/close",
  "in result of session/list",
  "in result of session/load",
  "in result of session/new",
  "in result of session/prompt",
  "in result of session/resume",
  "in result of session/set_config_option",
  "in result of session/set_mode",
  "in session/request_permission",
  "in session/update agent_message_chunk",
  "in session/update agent_thought_chunk",
  "in session/update available_commands_update",
  "in session/update config_option_update",
  "in session/update current_mode_update",
  "in session/update notice",
  "in session/update session_info_update",
  "in session/update tool_call",
  "in session/update tool_call_update",
  "in session/update usage_update",
  "in session/update user_message_chunk",
  "out $/cancel_request",
  "out authenticate",
  "out error of session/request_permission",
  "out initialize",
  "out result of session/request_permission",
  "out session/cancel",
  "out session/close",
  "out session/list",
  "out session/load",
  "out session/new",
  "out session/prompt",
  "out session/resume",
  "out session/set_config_option",
  "out session/set_mode",
];

describe("a long conversation", () => {
  let world: World;
  afterEach(() => world.dispose());

  it("fits the SDK's schemas, every kind of message both ways", async () => {
    const never = new Promise(() => {});
    world = await makeWorld(
      [
        { status: 429, headers: { "retry-after": "0" } },
        { reasoning: "Hm.", ...call("r1", "read_file", { path: "a.txt", line: 1 }), text: "See:" },
        call("r2", "read_file", { path: "none.txt" }),
        call("g1", "grep", { pattern: "one" }),
        call("w1", "search_replace", { path: "a.txt", old: "one", new: "two" }),
        call("c1", "run", { argv: ["printf", "a\\u202eb"], timeout: 9 }),
        call("c2", "run", { argv: ["true"] }),
        call("o1", "read_file", { path: "/etc/hostname" }),
        call("q1", "ask", { question: "Which?", options: ["red", "blue"] }),
        call("q2", "ask", { question: "Why?" }),
        call("f1", "finish", { result: "Ready." }),
        { text: "Half", hold: never },
        call("c3", "run", { argv: ["false"] }),
        { text: "After it failed." },
        { status: 400 },
        { text: "Cut", finish: "length" },
        call("c4", "run", { argv: ["false"] }),
      ],
      { "a.txt": "one\n" },
    );
    await writeFile(
      join(world.home, "settings.json"),
      JSON.stringify({ "countersign.hooks.stop": [{ argv: ["true"] }] }),
    );
    const editor = new Editor(world);
    const { agent, conversation } = editor;
    const { session: s } = methods.agent;
    await editor.initialize({ session: { notices: {} } });
    await assert.rejects(agent.request(methods.agent.authenticate, { methodId: "none" }));
    const { workspace: cwd } = world;
    const { sessionId } = await agent.request(s.new, { cwd, mcpServers: [] });
    await agent.request(s.setMode, { sessionId, modeId: "deny" });
    await agent.request(s.setConfigOption, { sessionId, configId: "mode", value: "ask" });
    await agent.request(s.setConfigOption, {
      sessionId,
      configId: "model",
      value: "openai:scripted",
    });

    // The file changes under the first answer: a second card, then every way to answer one.
    const long = editor.prompt(sessionId, "Do a lot");
    const spent = await editor.ask(0);
    await writeFile(join(world.workspace, "a.txt"), "one and more\n");
    spent.select("allow_once");
    (await editor.ask(1)).select("allow_once");
    (await editor.ask(2)).select("allow_session");
    (await editor.ask(3)).select("deny", "not now");
    (await editor.ask(4)).select("allow_once");
    (await editor.ask(5)).select("option-2");
    assert.deepEqual(await long, { stopReason: "end_turn" });
    assert.deepEqual(await editor.prompt(sessionId, "Because"), { stopReason: "end_turn" });
    assert.equal(await world.file("a.txt"), "two and more\n");

    const undoing = editor.prompt(sessionId, "/undo");
    (await editor.ask(6)).select("undo");
    await undoing;
    for (const command of ["/allows", "/revoke 1", "/queue", "/withdraw 1", "/verify"]) {
      await editor.prompt(sessionId, command);
    }

    // Cancelled: a turn in mid-stream, a card's request by its turn, a turn by its prompt.
    const half = editor.prompt(sessionId, "Stop in the middle");
    await editor.until(
      () => (editor.text("agent_message_chunk").endsWith("Half") ? true : undefined),
      "half an answer",
    );
    await editor.cancel(sessionId);
    assert.deepEqual(await half, { stopReason: "cancelled" });
    const taken = new AbortController();
    const card = editor.prompt(sessionId, "Run it", taken.signal);
    await editor.ask(7);
    taken.abort();
    assert.deepEqual(await card, { stopReason: "cancelled" });
    await editor.prompt(sessionId, "Go on");
    await assert.rejects(editor.prompt(sessionId, "Fail"));
    assert.deepEqual(await editor.prompt(sessionId, "Be cut"), { stopReason: "max_tokens" });
    const failing = editor.prompt(sessionId, "Run again");
    (await editor.ask(8)).fail(new Error("no window"));
    assert.deepEqual(await failing, { stopReason: "cancelled" });

    await agent.request(s.list, {});
    await editor.load(sessionId);
    await agent.request(s.close, { sessionId });
    // The SDK's client takes the error for what it is: closed already.
    await agent.request(s.close, { sessionId });
    await agent.request(s.resume, { sessionId, cwd });
    await agent.request(s.close, { sessionId });

    assert.deepEqual([...conversation.seen].sort(), EVERYTHING);
    await editor.close();
  });
});
