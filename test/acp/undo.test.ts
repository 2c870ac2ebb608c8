import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { methods, type ToolCallContent } from "@agentclientprotocol/sdk";
import type { ScriptedAnswer } from "../support/scriptedModel.js";
import { type Asked, Editor, makeWorld, type World } from "./support/agent.js";

const write = (id: string, path: string, content: string): ScriptedAnswer => ({
  calls: [{ id, tool: "write_file", args: { path, content } }],
});
const DONE: ScriptedAnswer = { text: "Done." };
const OLD = "one\ntwo\nthree\nfour\nfive\n";
const NEW = "ONE\ntwo\nthree\nfour\nfive\n";

const diffs = (content: readonly ToolCallContent[] | null | undefined): ToolCallContent[] =>
  (content ?? []).filter(({ type }) => type === "diff");
const words = (content: readonly ToolCallContent[] | null | undefined): string =>
  (content ?? [])
    .flatMap((one) =>
      one.type === "content" && one.content.type === "text" ? [one.content.text] : [],
    )
    .join("\n");
const options = ({ request }: Asked): string[][] =>
  request.options.map(({ optionId, kind, name }) => [optionId, kind, name]);

describe("undo over the protocol", () => {
  let world: World;
  let editor: Editor;
  let session: string;
  const said = (): string => editor.text("agent_message_chunk");
  const path = (name: string): string => join(world.workspace, name);
  const undos = async (): Promise<string[]> =>
    (await world.log(session)).flatMap(({ type }) => (type.startsWith("undo_") ? [type] : []));

  /** A session whose one turn did what the script says, each card allowed. */
  async function changed(
    script: readonly ScriptedAnswer[],
    files: Readonly<Record<string, string>> = {},
    ...later: ScriptedAnswer[]
  ): Promise<void> {
    world = await makeWorld([...script, DONE, ...later], files);
    editor = new Editor(world);
    session = await editor.open();
    const ended = editor.prompt(session, "Change it");
    for (let n = 0; n < script.length; n++) (await editor.ask(n)).select("allow_once");
    assert.deepEqual(await ended, { stopReason: "end_turn" });
    editor.asked.length = 0;
  }

  afterEach(async () => {
    await editor.close();
    await world.dispose();
  });

  it("shows what would go back, takes it back when it is confirmed, and brings it back again", async () => {
    await changed(
      [
        write("w1", "a.txt", NEW),
        write("w2", "new.txt", "new\n"),
        { calls: [{ id: "c1", tool: "run", args: { argv: ["true"] } }] },
      ],
      { "a.txt": OLD },
    );
    const undoing = editor.prompt(session, "/undo");
    const asked = await editor.ask(0);
    const { toolCall } = asked.request;
    assert.deepEqual(options(asked), [
      ["undo", "allow_once", "Undo 2 files"],
      ["keep", "reject_once", "Leave everything as it is"],
    ]);
    assert.equal(toolCall.title, "Undo: Change it");
    assert.equal(
      words(toolCall.content),
      "```\na.txt: restored\nnew.txt: removed\nran, and stays done: true\n```",
    );
    const back: ToolCallContent[] = [
      { type: "diff", path: path("a.txt"), oldText: NEW, newText: OLD },
      { type: "diff", path: path("new.txt"), oldText: "new\n", newText: "" },
    ];
    assert.deepEqual(diffs(toolCall.content), back);
    // Nothing before the answer.
    assert.deepEqual([await world.file("a.txt"), await undos()], [NEW, []]);
    asked.select("undo");
    assert.deepEqual(await undoing, { stopReason: "end_turn" });
    assert.deepEqual([await world.file("a.txt"), existsSync(path("new.txt"))], [OLD, false]);
    const log = await world.log(session);
    const started = log.find((event) => event.type === "undo_started");
    assert.equal(started?.type === "undo_started" ? started.surface : undefined, "acp");
    assert.deepEqual(await undos(), ["undo_started", "undo_file", "undo_file", "undo_ended"]);
    assert.deepEqual(editor.statuses(toolCall.toolCallId), ["pending", "in_progress", "completed"]);
    const last = editor.updates.findLast(
      ({ update }) =>
        update.sessionUpdate === "tool_call_update" && update.toolCallId === toolCall.toolCallId,
    )?.update;
    assert.ok(last?.sessionUpdate === "tool_call_update");
    assert.deepEqual(diffs(last.content), back);
    assert.match(
      said(),
      /Undone; \/redo brings it back\.\n\n```\na\.txt: restored\nnew\.txt: removed\nran, and stays done: true\n```$/,
    );

    const redoing = editor.prompt(session, "/redo");
    const again = await editor.ask(1);
    assert.deepEqual(options(again)[0], ["undo", "allow_once", "Bring back 2 files"]);
    again.select("undo");
    assert.deepEqual(await redoing, { stopReason: "end_turn" });
    assert.deepEqual([await world.file("a.txt"), await world.file("new.txt")], [NEW, "new\n"]);
    await editor.prompt(session, "/redo");
    assert.match(said(), /There is nothing to bring back: nothing of this session is undone\.$/);
  });

  it("is told in a replay, and to the model with the next prompt", async () => {
    await changed([write("w1", "a.txt", NEW)], { "a.txt": OLD }, DONE);
    const undoing = editor.prompt(session, "/undo");
    (await editor.ask(0)).select("undo");
    await undoing;
    await editor.close();
    editor = new Editor(world);
    await editor.initialize();
    await editor.load(session);
    const told = editor.updates.flatMap(({ update }) =>
      (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") &&
      update.toolCallId.startsWith("undo-")
        ? [[update.title, update.status, words(update.content)]]
        : [],
    );
    assert.deepEqual(told, [
      ["Undo a turn", "in_progress", ""],
      [undefined, "completed", "```\na.txt: restored\n```"],
    ]);
    await editor.prompt(session, "What now?");
    assert.match(
      JSON.stringify(world.model.requests.at(-1)?.body),
      /the user undid changes of a turn/,
    );
  });

  it("undoes turn after turn, from the newest", async () => {
    world = await makeWorld(
      [write("w1", "a.txt", "second\n"), DONE, write("w2", "a.txt", "third\n"), DONE],
      { "a.txt": "first\n" },
    );
    editor = new Editor(world);
    session = await editor.open();
    for (let n = 0; n < 2; n++) {
      const ended = editor.prompt(session, `Ask ${n}`);
      (await editor.ask(n)).select("allow_once");
      await ended;
    }
    for (const [n, text] of ["second\n", "first\n"].entries()) {
      const undoing = editor.prompt(session, "/undo");
      (await editor.ask(2 + n)).select("undo");
      await undoing;
      assert.equal(await world.file("a.txt"), text);
    }
    await editor.prompt(session, "/undo");
    assert.match(said(), /There is nothing to undo: [^\n]*$/);
    assert.equal(editor.asked.length, 4);
  });

  const noes: [string, (asked: Asked) => unknown, string][] = [
    ["leaves everything", (asked) => asked.select("keep"), "end_turn"],
    ["cancels the request", (asked) => asked.cancel(), "cancelled"],
    ["answers what is no option", (asked) => asked.select("allow_once"), "cancelled"],
    ["fails to ask", (asked) => asked.fail(new Error("no")), "cancelled"],
    ["cancels the session", () => editor.cancel(session), "cancelled"],
  ];
  for (const [name, no, stopReason] of noes) {
    it(`changes nothing where the client ${name}`, async () => {
      await changed([write("w1", "a.txt", NEW)], { "a.txt": OLD });
      const undoing = editor.prompt(session, "/undo");
      const asked = await editor.ask(0);
      await no(asked);
      assert.deepEqual(await undoing, { stopReason });
      assert.deepEqual([await world.file("a.txt"), await undos()], [NEW, []]);
      assert.deepEqual(editor.statuses(asked.request.toolCall.toolCallId), ["pending", "failed"]);
      // And it can be asked for again.
      const next = editor.prompt(session, "/undo");
      (await editor.ask(1)).select("undo");
      await next;
      assert.equal(await world.file("a.txt"), OLD);
    });
  }

  it("takes its question back where the client cancels the prompt", async () => {
    await changed([write("w1", "a.txt", NEW)], { "a.txt": OLD });
    const taken = new AbortController();
    const undoing = editor.prompt(session, "/undo", taken.signal);
    const asked = await editor.ask(0);
    taken.abort();
    assert.deepEqual(await undoing, { stopReason: "cancelled" });
    asked.select("undo");
    await editor.prompt(session, "/queue");
    assert.deepEqual([asked.signal.aborted, await undos()], [true, []]);
    assert.equal(await world.file("a.txt"), NEW);
  });

  it("changes nothing where the client goes away while it is asked", async () => {
    await changed([write("w1", "a.txt", NEW)], { "a.txt": OLD });
    void editor.prompt(session, "/undo").catch(() => {});
    await editor.ask(0);
    assert.equal(await editor.leave(), 0);
    assert.deepEqual([await world.file("a.txt"), await undos()], [NEW, []]);
  });

  const conflicts: [string, string, string][] = [
    ["keeps", "keep", `${NEW}six\n`],
    ["merges", "merge", `${OLD}six\n`],
    ["restores", "restore", OLD],
  ];
  for (const [name, choice, text] of conflicts) {
    it(`asks about a file that was changed since, and ${name} it`, async () => {
      await changed([write("w1", "a.txt", NEW), write("w2", "b.txt", "b\n")], { "a.txt": OLD });
      await writeFile(path("a.txt"), `${NEW}six\n`);
      const undoing = editor.prompt(session, "/undo");
      const list = await editor.ask(0);
      assert.equal(options(list)[0]?.[2], "Undo 1 file, and ask about 1 more");
      list.select("undo");
      const asked = await editor.ask(1);
      assert.deepEqual(options(asked), [
        ["keep", "reject_once", "Keep what is there now"],
        ["merge", "allow_once", "Undo, and keep what was changed since"],
        ["restore", "allow_once", "Restore the old text"],
      ]);
      const now = { type: "diff", path: path("a.txt"), oldText: `${NEW}six\n` };
      assert.deepEqual(diffs(asked.request.toolCall.content), [
        { ...now, newText: `${OLD}six\n` },
        { ...now, newText: OLD },
      ]);
      // Nothing before the last answer.
      assert.deepEqual([existsSync(path("b.txt")), await undos()], [true, []]);
      asked.select(choice);
      assert.deepEqual(await undoing, { stopReason: "end_turn" });
      assert.deepEqual([await world.file("a.txt"), existsSync(path("b.txt"))], [text, false]);
    });
  }

  it("asks about a dozen files one after the other and leaves nothing waiting behind", async () => {
    const names = Array.from({ length: 12 }, (_, n) => `f${n}.txt`);
    await changed(
      names.map((name, n) => write(`w${n}`, name, NEW)),
      Object.fromEntries(names.map((name) => [name, OLD])),
    );
    for (const name of names) await writeFile(path(name), "else\n");
    const undoing = editor.prompt(session, "/undo");
    for (let n = 0; n < names.length; n++) (await editor.ask(n)).select("keep");
    assert.deepEqual(await undoing, { stopReason: "end_turn" });
    // Node warns of an 11th listener on one signal: each question has to take its own off again.
    assert.doesNotMatch(editor.stderr, /MaxListenersExceeded/);
  });

  it("changes nothing of all where a conflict's question is cancelled", async () => {
    await changed([write("w1", "a.txt", NEW), write("w2", "b.txt", "b\n")], { "a.txt": OLD });
    await writeFile(path("a.txt"), "else\n");
    const undoing = editor.prompt(session, "/undo");
    (await editor.ask(0)).select("undo");
    (await editor.ask(1)).cancel();
    assert.deepEqual(await undoing, { stopReason: "cancelled" });
    assert.deepEqual([await world.file("a.txt"), await world.file("b.txt")], ["else\n", "b\n"]);
    assert.deepEqual(await undos(), []);
  });

  it("does nothing and asks with a new list where a file changes while the list is up", async () => {
    await changed([write("w1", "a.txt", NEW)], { "a.txt": OLD });
    const undoing = editor.prompt(session, "/undo");
    const first = await editor.ask(0);
    await writeFile(path("a.txt"), "mine\n");
    first.select("undo");
    const second = await editor.ask(1);
    assert.equal(await world.file("a.txt"), "mine\n");
    assert.deepEqual(editor.statuses(first.request.toolCall.toolCallId), ["pending", "failed"]);
    assert.deepEqual(
      options(second).map(([id]) => id),
      ["keep", "restore"],
    );
    second.select("keep");
    assert.deepEqual(await undoing, { stopReason: "end_turn" });
    assert.deepEqual([await world.file("a.txt"), await undos()], ["mine\n", []]);
    assert.match(said(), /Nothing was changed\.$/);
  });

  it("says so where nothing can be taken back", async () => {
    await changed([write("w1", "a.txt", NEW)], { "a.txt": OLD });
    await writeFile(path("a.txt"), OLD);
    await editor.prompt(session, "/undo");
    assert.match(
      said(),
      /Nothing can be taken back\.\n\n```\na\.txt: is as it was before already\n```$/,
    );
    assert.deepEqual(editor.asked, []);
  });

  it("asks nobody and changes nothing in the read-only mode, changed to while it asks too", async () => {
    await changed([write("w1", "a.txt", NEW)], { "a.txt": OLD });
    const undoing = editor.prompt(session, "/undo");
    const asked = await editor.ask(0);
    const mode = { sessionId: session, modeId: "deny" };
    await editor.agent.request(methods.agent.session.setMode, mode);
    asked.select("undo");
    assert.deepEqual(await undoing, { stopReason: "end_turn" });
    await editor.prompt(session, "/undo");
    assert.match(said(), /read-only by its mode: nothing was changed\.This session is read-only/);
    assert.deepEqual([editor.asked.length, await world.file("a.txt"), await undos()], [1, NEW, []]);
  });

  it("changes nothing while a turn runs, one that starts while it asks too", async () => {
    let go = (): void => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    await changed([write("w1", "a.txt", NEW)], { "a.txt": OLD }, { text: "Later.", before: held });
    const undoing = editor.prompt(session, "/undo");
    const asked = await editor.ask(0);
    const running = editor.prompt(session, "And now?");
    await world.model.request(2);
    asked.select("undo");
    assert.deepEqual(await undoing, { stopReason: "end_turn" });
    const refusal = "A turn is running: cancel it or wait for its end, then undo.";
    assert.ok(said().endsWith(refusal), said());
    await editor.prompt(session, "/undo");
    assert.ok(said().endsWith(refusal + refusal), said());
    go();
    assert.deepEqual(await running, { stopReason: "end_turn" });
    assert.deepEqual([editor.asked.length, await world.file("a.txt"), await undos()], [1, NEW, []]);
  });

  it("asks about one undo at a time", async () => {
    await changed([write("w1", "a.txt", NEW)], { "a.txt": OLD });
    const undoing = editor.prompt(session, "/undo");
    const asked = await editor.ask(0);
    await editor.prompt(session, "/undo");
    assert.match(said(), /An undo is being asked about: answer that first, or cancel it\.$/);
    asked.select("undo");
    await undoing;
    assert.deepEqual([editor.asked.length, await world.file("a.txt")], [1, OLD]);
  });

  it("shows what a diff view would hide", async () => {
    await changed([write("w1", "a.txt", "plain\n")], { "a.txt": "tricky \u202e text\n" });
    const undoing = editor.prompt(session, "/undo");
    const asked = await editor.ask(0);
    assert.match(words(asked.request.toolCall.content), /\+tricky ⟦U\+202E⟧ text/);
    asked.select("keep");
    await undoing;
  });
});
