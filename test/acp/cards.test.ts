import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import type { ScriptedAnswer } from "../support/scriptedModel.js";
import { Editor, makeWorld, type World } from "./support/agent.js";

const OPTIONS = [
  { optionId: "allow_once", kind: "allow_once", name: "Allow once" },
  { optionId: "allow_session", kind: "allow_always", name: "Allow for this session" },
  { optionId: "deny", kind: "reject_once", name: "Deny" },
];

const write = (id: string, path: string, content: string): ScriptedAnswer => ({
  calls: [{ id, tool: "write_file", args: { path, content } }],
});
const run = (id: string, ...argv: string[]): ScriptedAnswer => ({
  calls: [{ id, tool: "run", args: { argv } }],
});
const DONE: ScriptedAnswer = { text: "Done." };

describe("cards over the protocol", () => {
  let world: World;
  afterEach(() => world.dispose());

  it("asks for a write with the diff, and writes when it is allowed once", async () => {
    world = await makeWorld([write("w1", "a.txt", "two\n"), DONE], { "a.txt": "one\n" });
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Change it");
    const asked = await editor.ask(0);
    const path = join(world.workspace, "a.txt");
    const { toolCall } = asked.request;
    assert.deepEqual(
      {
        session: asked.request.sessionId,
        options: asked.request.options,
        call: toolCall.toolCallId,
        name: toolCall.name,
        kind: toolCall.kind,
        status: toolCall.status,
        title: toolCall.title,
        locations: toolCall.locations,
        rawInput: toolCall.rawInput,
        diff: toolCall.content?.[0],
      },
      {
        session,
        options: OPTIONS,
        call: "w1",
        name: "write_file",
        kind: "edit",
        status: "pending",
        title: "Write a.txt",
        locations: [{ path }],
        rawInput: { path: "a.txt", content: "two\n" },
        diff: { type: "diff", path, oldText: "one\n", newText: "two\n" },
      },
    );
    assert.equal(await world.file("a.txt"), "one\n");
    asked.select("allow_once");
    assert.deepEqual(await ended, { stopReason: "end_turn" });
    assert.equal(await world.file("a.txt"), "two\n");
    assert.deepEqual(editor.statuses("w1"), ["pending", "in_progress", "completed"]);
    const last = editor.updates.findLast(
      ({ update }) => update.sessionUpdate === "tool_call_update" && update.toolCallId === "w1",
    )?.update;
    assert.deepEqual(last?.sessionUpdate === "tool_call_update" ? last.content : undefined, [
      { type: "diff", path, oldText: "one\n", newText: "two\n" },
    ]);
    await editor.close();
  });

  it("says of a new file that there was none", async () => {
    world = await makeWorld([write("w1", "new/b.txt", "b\n"), DONE]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Make it");
    const asked = await editor.ask(0);
    assert.deepEqual(asked.request.toolCall.content?.[0], {
      type: "diff",
      path: join(world.workspace, "new/b.txt"),
      oldText: null,
      newText: "b\n",
    });
    asked.select("allow_once");
    await ended;
    assert.equal(await world.file("new/b.txt"), "b\n");
    await editor.close();
  });

  it("leaves everything as it was on deny, and the model hears the note", async () => {
    world = await makeWorld([write("w1", "a.txt", "two\n"), DONE], { "a.txt": "one\n" });
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Change it");
    (await editor.ask(0)).select("deny", "use b.txt instead");
    assert.deepEqual(await ended, { stopReason: "end_turn" });
    assert.equal(await world.file("a.txt"), "one\n");
    assert.equal(editor.statuses("w1").at(-1), "failed");
    assert.match(JSON.stringify(world.model.requests[1]?.body), /use b\.txt instead/);
    await editor.close();
  });

  it("never starts a command that is denied", async () => {
    world = await makeWorld([run("c1", "touch", "made.txt"), DONE]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Touch it");
    const asked = await editor.ask(0);
    assert.equal(asked.request.toolCall.kind, "execute");
    assert.equal(asked.request.toolCall.title, "Run touch made.txt");
    assert.deepEqual(asked.request.toolCall.rawInput, { argv: ["touch", "made.txt"] });
    asked.select("deny");
    await ended;
    assert.equal(existsSync(join(world.workspace, "made.txt")), false);
    await editor.close();
  });

  it("asks once for a command that is allowed for the session, and anew for another", async () => {
    world = await makeWorld([
      run("c1", "echo", "a"),
      run("c2", "echo", "a"),
      run("c3", "echo", "a", "b"),
      DONE,
    ]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Run them");
    (await editor.ask(0)).select("allow_session");
    const second = await editor.ask(1);
    assert.equal(second.request.toolCall.toolCallId, "c3");
    assert.deepEqual((await world.meta(session)).allows, [{ run: ["echo", "a"] }]);
    second.select("deny");
    await ended;
    assert.equal(editor.asked.length, 2);
    assert.deepEqual(editor.statuses("c2"), ["pending", "in_progress", "completed"]);

    const listed = editor.text("agent_message_chunk").length;
    assert.deepEqual(await editor.prompt(session, "/allows"), { stopReason: "end_turn" });
    assert.match(
      editor.text("agent_message_chunk").slice(listed),
      /^1\. run `echo a` \(used 1 times\)/,
    );
    await editor.prompt(session, "/revoke 1");
    assert.deepEqual((await world.meta(session)).allows, []);
    const verified = editor.text("agent_message_chunk").length;
    await editor.prompt(session, "/verify");
    assert.match(
      editor.text("agent_message_chunk").slice(verified),
      /^\d+ lines: none was changed, removed, put in or moved\./,
    );
    await editor.close();
  });

  it("shows the whole command and what cannot be seen in it", async () => {
    world = await makeWorld([run("c1", "echo", "a\u202eb", `${"x".repeat(600)}END`, "c d"), DONE]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Run it");
    const asked = await editor.ask(0);
    const shown = JSON.stringify(asked.request.toolCall.content);
    assert.match(shown, /⟦U\+202E⟧/);
    assert.match(shown, /xEND 'c d'/);
    assert.doesNotMatch(asked.request.toolCall.title ?? "", /\u202e/);
    asked.select("deny");
    await ended;
    await editor.close();
  });

  it("names the place of a read outside the workspace", async () => {
    world = await makeWorld([]);
    await mkdir(join(world.dir, "elsewhere"));
    const path = join(world.dir, "elsewhere", "o.txt");
    await writeFile(path, "outside words\n");
    world.model.push({ calls: [{ id: "r1", tool: "read_file", args: { path } }] }, DONE);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Read it");
    const asked = await editor.ask(0);
    assert.deepEqual(asked.request.toolCall.locations, [{ path }]);
    assert.match(JSON.stringify(asked.request.toolCall.content), /outside the workspace/i);
    asked.select("allow_once");
    await ended;
    assert.match(JSON.stringify(world.model.requests[1]?.body), /outside words/);
    await editor.close();
  });

  it("asks again with a new diff where the file changed under the answer", async () => {
    world = await makeWorld(
      [
        {
          calls: [
            { id: "w1", tool: "search_replace", args: { path: "a.txt", old: "one", new: "two" } },
          ],
        },
        DONE,
      ],
      { "a.txt": "one\n" },
    );
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Change it");
    const first = await editor.ask(0);
    await writeFile(join(world.workspace, "a.txt"), "zero\none\n");
    first.select("allow_session");
    const second = await editor.ask(1);
    assert.deepEqual(second.request.toolCall.content?.[0], {
      type: "diff",
      path: join(world.workspace, "a.txt"),
      oldText: "zero\none\n",
      newText: "zero\ntwo\n",
    });
    assert.equal(await world.file("a.txt"), "zero\none\n");
    assert.deepEqual((await world.meta(session)).allows ?? [], []);
    second.select("allow_once");
    await ended;
    assert.equal(await world.file("a.txt"), "zero\ntwo\n");
    await editor.close();
  });

  it("says at once on an open card that its file has changed", async () => {
    world = await makeWorld([write("w1", "a.txt", "two\n"), DONE], { "a.txt": "one\n" });
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Change it");
    const asked = await editor.ask(0);
    await writeFile(join(world.workspace, "a.txt"), "zero\n");
    await editor.update(
      (one) =>
        one.sessionUpdate === "tool_call_update" &&
        one.toolCallId === "w1" &&
        JSON.stringify(one.content ?? "").includes("has changed since this card was made")
          ? true
          : undefined,
      "a word that the file changed",
    );
    assert.equal(editor.asked.length, 1);
    asked.select("deny");
    await ended;
    assert.equal(await world.file("a.txt"), "zero\n");
    await editor.close();
  });

  it("says that another session has a card for the same file, and makes it anew when that one lands", async () => {
    world = await makeWorld(
      (request) =>
        JSON.stringify(request.body.messages).includes('"tool"')
          ? DONE
          : {
              calls: [
                {
                  id: "w1",
                  tool: "search_replace",
                  args: JSON.stringify(request.body.messages).includes("First ask")
                    ? { path: "a.txt", old: "one", new: "ONE" }
                    : { path: "a.txt", old: "two", new: "TWO" },
                },
              ],
            },
      { "a.txt": "one\ntwo\n" },
    );
    const editor = new Editor(world);
    const [one, other] = [await editor.open(), await editor.open()];
    const first = editor.prompt(one, "First ask");
    const cardOfOne = await editor.ask(0);
    const second = editor.prompt(other, "Second ask");
    const cardOfOther = await editor.ask(1);
    const told = (session: string, what: string) =>
      editor.until(
        () =>
          editor.updates.find(
            ({ sessionId, update }) =>
              sessionId === session &&
              update.sessionUpdate === "tool_call_update" &&
              JSON.stringify(update.content ?? "").includes(what),
          ),
        what,
      );
    await told(one, 'Another session has a card for this file too: \\"Second ask\\"');
    await told(other, 'Another session has a card for this file too: \\"First ask\\"');
    cardOfOne.select("allow_once");
    assert.deepEqual(await first, { stopReason: "end_turn" });
    const again = await editor.ask(2);
    assert.deepEqual([again.request.sessionId, cardOfOther.signal.aborted], [other, true]);
    assert.deepEqual(again.request.toolCall.content?.[0], {
      type: "diff",
      path: join(world.workspace, "a.txt"),
      oldText: "ONE\ntwo\n",
      newText: "ONE\nTWO\n",
    });
    // A late answer to the card that is gone changes nothing.
    cardOfOther.select("allow_once");
    assert.equal(await world.file("a.txt"), "ONE\ntwo\n");
    again.select("allow_once");
    assert.deepEqual(await second, { stopReason: "end_turn" });
    assert.equal(await world.file("a.txt"), "ONE\nTWO\n");
    await editor.close();
  });

  it("shows what a diff view would hide", async () => {
    world = await makeWorld([write("w1", "a.txt", "a\u200bb\r\n"), DONE]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Write it");
    const asked = await editor.ask(0);
    const beside = JSON.stringify(asked.request.toolCall.content?.[1]);
    assert.match(beside, /⟦U\+200B⟧/);
    assert.match(beside, /⟦CR⟧/);
    asked.select("deny");
    await ended;
    await editor.close();
  });

  it("denies whatever would ask in the read-only mode, and asks nobody", async () => {
    world = await makeWorld([write("w1", "a.txt", "a\n"), run("c1", "touch", "b.txt"), DONE]);
    const editor = new Editor(world);
    const session = await editor.open();
    await editor.agent.request(methods.agent.session.setMode, {
      sessionId: session,
      modeId: "deny",
    });
    assert.deepEqual(await editor.prompt(session, "Try"), { stopReason: "end_turn" });
    assert.deepEqual(editor.asked, []);
    assert.equal(existsSync(join(world.workspace, "a.txt")), false);
    assert.equal(existsSync(join(world.workspace, "b.txt")), false);
    const answers = (await world.log(session)).flatMap((event) =>
      event.type === "card_answered" ? [event.answer] : [],
    );
    assert.deepEqual(answers, ["deny", "deny"]);
    await editor.close();
  });

  it("cancels the turn where the client cancels the request", async () => {
    world = await makeWorld([write("w1", "a.txt", "a\n"), DONE]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Write");
    (await editor.ask(0)).cancel();
    assert.deepEqual(await ended, { stopReason: "cancelled" });
    const log = await world.log(session);
    assert.deepEqual(
      log.flatMap((event) => (event.type === "card_answered" ? [event] : [])),
      [],
    );
    assert.equal(existsSync(join(world.workspace, "a.txt")), false);
    await editor.close();
  });

  it("takes its request back when the turn is cancelled", async () => {
    world = await makeWorld([run("c1", "touch", "b.txt"), DONE]);
    const editor = new Editor(world);
    const session = await editor.open();
    const ended = editor.prompt(session, "Run");
    const asked = await editor.ask(0);
    await editor.cancel(session);
    assert.deepEqual(await ended, { stopReason: "cancelled" });
    assert.equal(asked.signal.aborted, true);
    asked.select("allow_once");
    assert.deepEqual(await editor.prompt(session, "/allows"), { stopReason: "end_turn" });
    assert.equal(existsSync(join(world.workspace, "b.txt")), false);
    await editor.close();
  });

  it("leaves a card open when the client goes away, and asks again after a load", async () => {
    world = await makeWorld([write("w1", "a.txt", "two\n"), DONE], { "a.txt": "one\n" });
    const first = new Editor(world);
    const session = await first.open();
    void first.prompt(session, "Change it").catch(() => {});
    await first.ask(0);
    assert.equal(await first.leave(), 0);
    const left = await world.log(session);
    assert.equal(left.at(-1)?.type, "card_raised");

    const second = new Editor(world);
    await second.initialize();
    await second.load(session);
    const asked = await second.ask(0);
    assert.deepEqual(asked.request.toolCall.content?.[0], {
      type: "diff",
      path: join(world.workspace, "a.txt"),
      oldText: "one\n",
      newText: "two\n",
    });
    assert.deepEqual(asked.request.toolCall.rawInput, { path: "a.txt", content: "two\n" });
    asked.select("allow_once");
    await second.until(
      () => (second.text("agent_message_chunk").includes("Done.") ? true : undefined),
      "the turn's end",
    );
    assert.equal(await world.file("a.txt"), "two\n");
    await second.close();
  });
});
