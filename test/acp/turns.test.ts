import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gate } from "../support/gate.js";
import type { ScriptedAnswer } from "../support/scriptedModel.js";
import { Editor, makeWorld, type World } from "./support/agent.js";
import { Wire } from "./support/wire.js";

const question = (options?: string[]) => ({
  calls: [
    {
      id: "q1",
      tool: "ask",
      args: { question: "Which colour?", ...(options === undefined ? {} : { options }) },
    },
  ],
});

/** Once a call shows `text` among its output. */
const printed = (editor: Editor, text: string) =>
  editor.update(
    (one) =>
      one.sessionUpdate === "tool_call_update" && JSON.stringify(one.content ?? "").includes(text)
        ? true
        : undefined,
    `the output ${text}`,
  );

describe("turns over the protocol", () => {
  let world: World;
  afterEach(() => world.dispose());

  it("puts a question with options to the client", async () => {
    world = await makeWorld([question(["red", "blue"]), { text: "Blue it is." }]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Paint");
    const asked = await editor.ask(0);
    assert.deepEqual(asked.request.options, [
      { optionId: "option-1", kind: "allow_once", name: "red" },
      { optionId: "option-2", kind: "allow_once", name: "blue" },
    ]);
    assert.equal(asked.request.toolCall.title, "Question: Which colour?");
    asked.select("option-2");
    assert.deepEqual(await ended, { stopReason: "end_turn" });
    const answered = (await world.log(session)).find((event) => event.type === "question_answered");
    assert.equal(answered?.type === "question_answered" ? answered.text : "", "blue");
    await editor.close();
  });

  it("ends the prompt with an open question, whose answer is the next prompt in the same turn", async () => {
    world = await makeWorld([question(), { text: "Green it is." }]);
    const editor = new Editor(world);
    const session = await editor.open();
    assert.deepEqual(await editor.prompt(session, "Paint"), { stopReason: "end_turn" });
    assert.equal(editor.text("agent_message_chunk"), "Which colour?");
    assert.deepEqual(editor.asked, []);
    assert.deepEqual(await editor.prompt(session, "green"), { stopReason: "end_turn" });
    assert.equal(editor.text("agent_message_chunk"), "Which colour?Green it is.");
    const log = await world.log(session);
    assert.equal(log.filter((event) => event.type === "turn_started").length, 1);
    assert.deepEqual(
      log.flatMap((event) => (event.type === "question_answered" ? [event.text] : [])),
      ["green"],
    );
    await editor.close();
  });

  it("takes the answer to a question from another process, after a load", async () => {
    world = await makeWorld([question(), { text: "Green it is." }]);
    const first = new Editor(world);
    const session = await first.open();
    await first.prompt(session, "Paint");
    await first.close();
    const second = new Editor(world);
    await second.initialize();
    await second.load(session);
    assert.equal(second.text("agent_message_chunk"), "Which colour?");
    assert.deepEqual(await second.prompt(session, "green"), { stopReason: "end_turn" });
    assert.match(second.text("agent_message_chunk"), /Green it is\.$/);
    await second.close();
  });

  it("queues a prompt that comes during a turn, and answers it with its own", async () => {
    const { held, open } = gate();
    world = await makeWorld([
      { text: "First.", hold: held },
      { text: "Second." },
      { text: "Third." },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const order: string[] = [];
    const first = editor.prompt(session, "One").then((end) => order.push(`one ${end.stopReason}`));
    await world.model.request(0);
    const second = editor.prompt(session, "Two").then((end) => order.push(`two ${end.stopReason}`));
    const third = editor
      .prompt(session, "Three")
      .then((end) => order.push(`three ${end.stopReason}`));
    await waitForQueue(world, session, 2);
    open();
    await Promise.all([first, second, third]);
    assert.deepEqual(order, ["one end_turn", "two end_turn", "three end_turn"]);
    assert.equal(editor.text("agent_message_chunk"), "First.Second.Third.");
    await editor.close();
  });

  it("takes a queued prompt back where the client cancels its request", async () => {
    const { held, open } = gate();
    world = await makeWorld([{ text: "First.", hold: held }, { text: "Second." }]);
    const editor = new Editor(world);
    const session = await editor.open();
    const first = editor.prompt(session, "One");
    await world.model.request(0);
    const taken = new AbortController();
    const second = editor.prompt(session, "Two", taken.signal);
    await waitForQueue(world, session, 1);
    taken.abort();
    assert.deepEqual(await second, { stopReason: "cancelled" });
    open();
    assert.deepEqual(await first, { stopReason: "end_turn" });
    assert.equal(world.model.requests.length, 1);
    await editor.close();
  });

  it("refuses a prompt while a card is open, and says why", async () => {
    world = await makeWorld([
      { calls: [{ id: "c1", tool: "run", args: { argv: ["true"] } }] },
      { text: "Done." },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Run");
    const asked = await editor.ask(0);
    await assert.rejects(editor.prompt(session, "And this"), { code: -32600 });
    asked.select("allow_once");
    assert.deepEqual(await ended, { stopReason: "end_turn" });
    await editor.close();
  });

  it("cancels a turn whose model is still talking", async () => {
    world = await makeWorld([
      { text: "Once upon a time", end: "never", hold: new Promise(() => {}) },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Tell");
    await editor.until(
      () => (editor.text("agent_message_chunk") !== "" ? true : undefined),
      "the first words",
    );
    await editor.cancel(session);
    assert.deepEqual(await ended, { stopReason: "cancelled" });
    assert.equal(await (await world.model.request(0)).closed, "aborted");
    await editor.close();
  });

  it("follows a cancelled turn with the prompt that was sent while it stopped", async () => {
    const slow = "trap 'sleep 0.5; exit' TERM; echo started; while :; do sleep 0.05; done";
    world = await makeWorld([
      { calls: [{ id: "c1", tool: "run", args: { argv: ["sh", "-c", slow] } }] },
      { text: "This instead." },
      { text: "And that." },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Run");
    (await editor.ask(0)).select("allow_once");
    await printed(editor, "started");
    const queued = editor.prompt(session, "And that");
    await waitForQueue(world, session, 1);
    const [, instead] = await Promise.all([
      editor.cancel(session),
      editor.prompt(session, "No: this instead"),
    ]);
    assert.deepEqual(
      [await ended, await queued, instead].map(({ stopReason }) => stopReason),
      ["cancelled", "cancelled", "end_turn"],
    );
    await editor.until(
      () => (editor.text("agent_message_chunk") === "This instead.And that." ? true : undefined),
      "what was queued to follow",
    );
    assert.match(editor.text("user_message_chunk"), /And that$/);
    await editor.close();
  });

  const waits: readonly (readonly [string, ScriptedAnswer])[] = [
    ["a card", { calls: [{ id: "c1", tool: "run", args: { argv: ["true"] } }] }],
    ["a question", question()],
  ];
  for (const [name, script] of waits) {
    it(`follows a turn that is cancelled at ${name} with the prompt that comes right behind`, async () => {
      world = await makeWorld([script, { text: "This instead." }]);
      const editor = new Editor(world);
      const session = await editor.open();
      const ended = editor.prompt(session, "Go");
      if (name === "a card") await editor.ask(0);
      else await ended;
      const [, instead] = await Promise.all([
        editor.cancel(session),
        editor.prompt(session, "No: this instead"),
      ]);
      assert.deepEqual(instead, { stopReason: "end_turn" });
      const log = await world.log(session);
      assert.deepEqual(
        log.flatMap((event) => (event.type === "turn_started" ? [event.text] : [])),
        ["Go", "No: this instead"],
      );
      await editor.close();
    });
  }

  it("ends a command on cancel, and shows what it printed while it ran", async () => {
    world = await makeWorld([
      {
        calls: [{ id: "c1", tool: "run", args: { argv: ["sh", "-c", "echo started; sleep 60"] } }],
      },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Run");
    (await editor.ask(0)).select("allow_once");
    await printed(editor, "started");
    await editor.cancel(session);
    assert.deepEqual(await ended, { stopReason: "cancelled" });
    const result = (await world.log(session)).find((event) => event.type === "call_ended");
    assert.match(result?.type === "call_ended" ? result.result : "", /started/);
    await editor.close();
  });

  it("answers every prompt that waits when it is cancelled, and what was queued stays queued", async () => {
    const { held, open } = gate();
    world = await makeWorld([
      { text: "First.", hold: held, end: "never" },
      { text: "Second." },
      { text: "Fourth." },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const first = editor.prompt(session, "One");
    await world.model.request(0);
    const queued: Promise<unknown>[] = [];
    for (const text of ["Two", "Three", "Four"]) {
      queued.push(editor.prompt(session, text));
      await waitForQueue(world, session, queued.length);
    }
    await editor.cancel(session);
    const cancelled = { stopReason: "cancelled" };
    assert.deepEqual(await first, cancelled);
    // Told before the first response, so that a client which shows nothing after it has it too.
    const waiting = "These prompts wait in the queue:\n1. Two\n2. Three\n3. Four\n";
    assert.ok(editor.text("agent_message_chunk").includes(waiting));
    assert.deepEqual(await Promise.all(queued), [cancelled, cancelled, cancelled]);
    assert.equal(world.model.requests.length, 1);
    await editor.prompt(session, "/withdraw 2");
    assert.match(editor.text("agent_message_chunk"), /Taken back: Three$/);
    await editor.prompt(session, "/withdraw 3");
    assert.match(editor.text("agent_message_chunk"), /no queued prompt with the number 3/);
    await editor.prompt(session, "/queue");
    assert.match(editor.text("agent_message_chunk"), /the queue:\n1\. Two\n2\. Four\n/);
    assert.deepEqual(await editor.prompt(session, "/go-on"), { stopReason: "end_turn" });
    await editor.until(
      () => (editor.text("agent_message_chunk").endsWith("Fourth.") ? true : undefined),
      "the turn of the last queued prompt",
    );
    // Their requests are over, so the client hears whose turns these are.
    assert.equal(editor.text("user_message_chunk"), "TwoFour");
    await editor.prompt(session, "/queue");
    assert.match(editor.text("agent_message_chunk"), /No prompt waits in the queue\.$/);
    open();
    await editor.close();
  });

  for (const count of [1, 2, 3]) {
    it(`answers cancelled, and no error, where ${count} prompts and the cancel come at once`, async () => {
      world = await makeWorld(() => ({ text: "Never whole", hold: new Promise(() => {}) }));
      const wire = new Wire(world);
      const session = await wire.open(world.workspace);
      const message = (body: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...body })}\n`;
      const prompts = Array.from({ length: count }, (_, n) =>
        message({
          id: `p${n}`,
          method: "session/prompt",
          params: { sessionId: session, prompt: [{ type: "text", text: `Ask ${n}` }] },
        }),
      );
      const cancel = message({ method: "session/cancel", params: { sessionId: session } });
      wire.raw([...prompts, cancel].join(""));
      for (let n = 0; n < count; n++) {
        const answer = await wire.find((one) => one.method === undefined && one.id === `p${n}`);
        assert.deepEqual([answer.error, answer.result], [undefined, { stopReason: "cancelled" }]);
      }
      assert.equal(await wire.end(), 0);
    });
  }

  it("answers what is queued behind a turn that fails, which stays queued", async () => {
    const { held, open } = gate();
    world = await makeWorld([
      { status: 400, before: held },
      { text: "Gone on." },
      { text: "Second." },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const first = editor.prompt(session, "One");
    await world.model.request(0);
    const second = editor.prompt(session, "Two");
    await waitForQueue(world, session, 1);
    open();
    await assert.rejects(first, { code: -32603 });
    await assert.rejects(second, {
      code: -32603,
      message: "This prompt waits in the queue: the turn before it failed. /go-on goes on.",
    });
    assert.match(editor.text("agent_message_chunk"), /wait in the queue:\n1\. Two\n/);
    assert.deepEqual(await editor.prompt(session, "/go-on"), { stopReason: "end_turn" });
    await editor.until(
      () => (editor.text("agent_message_chunk").endsWith("Second.") ? true : undefined),
      "the turn of the queued prompt",
    );
    await editor.close();
  });

  it("answers with what is wrong where the log cannot be written, not even the turn's end", async () => {
    const { held, open } = gate();
    world = await makeWorld([
      {
        before: held,
        calls: [{ id: "w1", tool: "write_file", args: { path: "a.txt", content: "a" } }],
      },
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Write");
    await world.model.request(0);
    // From here on no file of the agent's grows, as on a full disk.
    execFileSync("prlimit", ["--pid", String(editor.child.pid), "--fsize=0"]);
    open();
    await assert.rejects(ended, { code: -32603, message: /log/ });
    assert.equal(existsSync(join(world.workspace, "a.txt")), false);
    assert.deepEqual(editor.asked, []);
    assert.equal((await world.log(session)).at(-1)?.type, "turn_started");
    await editor.close();
  });

  it("runs two sessions side by side", async () => {
    const { held, open } = gate();
    world = await makeWorld((request) =>
      JSON.stringify(request.body).includes("wait for me")
        ? { text: "Late.", hold: held }
        : { text: "At once." },
    );
    const editor = new Editor(world);
    const one = await editor.open();
    const other = await editor.open();
    const late = editor.prompt(one, "wait for me");
    await world.model.request(0);
    assert.deepEqual(await editor.prompt(other, "now"), { stopReason: "end_turn" });
    open();
    assert.deepEqual(await late, { stopReason: "end_turn" });
    await editor.close();
  });

  it("keeps the calls of two answers apart where the provider gives them one id", async () => {
    world = await makeWorld(
      [
        { calls: [{ id: "same", tool: "read_file", args: { path: "a.txt" } }] },
        { calls: [{ id: "same", tool: "read_file", args: { path: "b.txt" } }] },
        { text: "Both read." },
      ],
      { "a.txt": "a\n", "b.txt": "b\n" },
    );
    const editor = new Editor(world);
    const session = await editor.open();
    assert.deepEqual(await editor.prompt(session, "Read both"), { stopReason: "end_turn" });
    const ids = editor.updates.flatMap(({ update }) =>
      update.sessionUpdate === "tool_call" ? [update.toolCallId] : [],
    );
    assert.equal(new Set(ids).size, 2);
    for (const id of ids) assert.equal(editor.statuses(id).at(-1), "completed");
    await editor.close();
  });

  it("goes on with a turn that its agent's death interrupted", async () => {
    world = await makeWorld([
      { text: "Half", hold: new Promise(() => {}), end: "never" },
      { text: "Whole." },
    ]);
    const first = new Editor(world);
    const session = await first.open();
    void first.prompt(session, "Talk").catch(() => {});
    await world.model.request(0);
    first.child.kill("SIGKILL");
    await first.exited;
    const second = new Editor(world);
    await second.initialize();
    await second.load(session);
    assert.deepEqual(await second.prompt(session, "/go-on"), { stopReason: "end_turn" });
    assert.match(second.text("agent_message_chunk"), /Whole\.$/);
    await second.close();
  });

  it("heeds the Stop hooks of settings.json, and tells of them", async () => {
    world = await makeWorld([
      { calls: [{ id: "f1", tool: "finish", args: { result: "Ready." } }] },
      { calls: [{ id: "c1", tool: "write_file", args: { path: "ok", content: "" } }] },
      { calls: [{ id: "f2", tool: "finish", args: { result: "Really ready." } }] },
    ]);
    const hook = { argv: ["sh", "-c", "test -e ok || { echo no ok file >&2; exit 3; }"] };
    await writeFile(
      join(world.home, "settings.json"),
      JSON.stringify({ "countersign.hooks.stop": [hook] }),
    );
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Finish");
    (await editor.ask(0)).select("allow_once");
    assert.deepEqual(await ended, { stopReason: "end_turn" });
    const hooks = editor.updates.flatMap(({ update }) =>
      update.sessionUpdate === "tool_call" && update.toolCallId.startsWith("hook-")
        ? [update.status]
        : [],
    );
    assert.deepEqual(hooks, ["failed", "completed"]);
    assert.match(JSON.stringify(world.model.requests[1]?.body), /no ok file/);
    assert.match(editor.text("agent_message_chunk"), /Really ready\.$/);
    assert.equal(existsSync(join(world.workspace, "ok")), true);
    await editor.close();
  });
});

/** Waits until the log has `count` queued asks: a prompt's response says nothing of its queue. */
async function waitForQueue(world: World, session: string, count: number): Promise<void> {
  for (;;) {
    const log = await world.log(session);
    if (log.filter((event) => event.type === "ask_queued").length >= count) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
