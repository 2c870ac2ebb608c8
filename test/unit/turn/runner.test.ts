import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TURN_ANSWERS } from "../../../src/core/limits.js";
import { ChatError } from "../../../src/core/model/chatClient.js";

import type { LiveSession } from "../../../src/core/turn/live.js";
import {
  askAndWait,
  call,
  calling,
  ends,
  eventOf,
  hang,
  makeWorld,
  nextEvent,
  results,
  type Step,
  types,
  untilState,
  type World,
} from "./support.js";
import { assertGrows, closeValid } from "./valid.js";

const surface = "test" as const;

describe("a turn", () => {
  let world: World;
  let session: LiveSession;
  const start = async (...steps: Step[]): Promise<LiveSession> => {
    session = await world.start(...steps);
    return session;
  };
  beforeEach(async () => {
    world = await makeWorld();
  });
  afterEach(() => closeValid(world));

  it("ends with an answer that makes no call, its text as the result", async () => {
    await start({ text: "Hello." });
    await askAndWait(session, "Hi");
    assert.deepEqual(types(session), [
      "session_started",
      "turn_started",
      "model_answered",
      "result",
      "turn_ended",
    ]);
    assert.equal((await eventOf(session, "result")).text, "Hello.");
    assert.equal(session.title, "Hi");
  });

  it("runs the calls of an answer in order, with one result each, and sends all of it again", async () => {
    await writeFile(join(world.workspace, "a.txt"), "one\n");
    await start(
      calling(
        call("read_file", { path: "a.txt" }, "r1"),
        call("search_replace", { path: "a.txt", old: "one", new: "two" }, "w1"),
        call("read_file", { path: "a.txt" }, "r2"),
        call("no_such_tool", {}, "x1"),
        { call: "x2", tool: "read_file", args: null, invalid: '{"path' },
      ),
      calling(call("finish", { result: "done" }, "f1")),
    );
    session.onEvent((event) => {
      if (event.type === "card_raised") {
        void session.answerCard(event.card, "allow_once", { surface });
      }
    });
    await askAndWait(session, "Do it");
    const ended = session.events.filter((event) => event.type === "call_ended");
    assert.deepEqual(
      ended.map((event) => [event.call, event.ok]),
      [
        ["r1", true],
        ["w1", true],
        ["r2", true],
        ["x1", false],
        ["x2", false],
        ["f1", true],
      ],
    );
    assert.match(ended[0]?.result ?? "", /one/);
    assert.match(ended[2]?.result ?? "", /two/);
    assert.match(ended[3]?.result ?? "", /read_file/);
    assert.equal(await readFile(join(world.workspace, "a.txt"), "utf8"), "two\n");
    assert.equal(world.client.requests.length, 2);
    assertGrows(world.client.requests);
  });

  it("takes arguments of 64 levels, and says so of more, without a word of the disk", async () => {
    const nested = (levels: number): Record<string, unknown> => {
      let value: unknown = "a.txt";
      for (let level = 1; level < levels; level++) value = [value];
      return { path: value };
    };
    let deep: unknown = {};
    for (let level = 0; level < 20_000; level++) deep = [deep];
    await start(
      {
        ...calling(
          call("read_file", nested(64), "d64"),
          call("read_file", nested(65), "d65"),
          call("read_file", nested(20_000), "d20000"),
        ),
        extra: { provider: "scripted", data: deep },
      },
      { text: "ok" },
    );
    await askAndWait(session, "go");
    const said = results(session).map(({ result }) => result);
    assert.match(said[0] ?? "", /^Wrong arguments for read_file: path: /);
    for (const result of said.slice(1)) {
      assert.match(result, /must be one JSON object, nested at most 64 levels deep/);
    }
    assert.equal(said.length, 3);
    assert.equal((await eventOf(session, "turn_ended")).reason, "finished");
    await session.close();
    assert.deepEqual((await world.core().openSession(session.id)).damage, []);
  });

  it("waits at a card, refuses an ask in the meantime, and goes on when it is denied", async () => {
    await start(calling(call("run", { argv: ["touch", "made"] })), { text: "As you wish." });
    await session.ask("Make it");
    await untilState(session, "waiting");
    const card = await eventOf(session, "card_raised");
    assert.deepEqual(await session.ask("another"), {
      outcome: "refused",
      message: "A card is open: approve or deny it first, or cancel the turn.",
    });
    assert.equal((await session.goOn()).outcome, "refused");
    assert.equal(session.openCards.length, 1);
    await session.answerCard(card.card, "deny", { note: "not now", surface });
    await untilState(session, "idle");
    assert.match(results(session)[0]?.result ?? "", /Denied.*not now/);
    await assert.rejects(readFile(join(world.workspace, "made")));
    assert.deepEqual(session.queue, []);
  });

  it("waits at a question, refuses an ask, and takes the first answer alone", async () => {
    await start(calling(call("ask", { question: "Which?", options: ["a", "b"] })), { text: "b." });
    await session.ask("Choose");
    await untilState(session, "waiting");
    const open = session.openQuestion;
    assert.ok(open);
    assert.deepEqual([open.text, open.options], ["Which?", ["a", "b"]]);
    const refusal = await session.ask("b");
    assert.ok(refusal.outcome === "refused");
    assert.match(refusal.message, /A question is open/);
    const outcomes = await Promise.all([
      session.answerQuestion(open.question, "b"),
      session.answerQuestion(open.question, "a"),
      session.answerQuestion("another", "a"),
    ]);
    assert.deepEqual(
      outcomes.map(({ outcome }) => outcome),
      ["taken", "gone", "gone"],
    );
    await untilState(session, "idle");
    assert.deepEqual(results(session), [{ ok: true, result: "b" }]);
  });

  it("queues what is asked while it runs, in order, and sends it on by itself", async () => {
    let go: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    await start(async () => {
      await gate;
      return { text: "first" };
    });
    const outcomes = await Promise.all([
      session.ask("one"),
      session.ask("two"),
      session.ask("three"),
      session.ask("four"),
    ]);
    assert.deepEqual(
      outcomes.map(({ outcome }) => outcome),
      ["started", "queued", "queued", "queued"],
    );
    const third = session.queue[1];
    assert.ok(third);
    assert.equal(await session.withdraw(third.ask), true);
    assert.equal(await session.withdraw(third.ask), false);
    go();
    await untilState(session, "idle");
    const asked = session.events.filter((event) => event.type === "turn_started");
    assert.deepEqual(
      asked.map(({ text }) => text),
      ["one", "two", "four"],
    );
    assert.deepEqual(session.queue, []);
    assertGrows(world.client.requests);
  });

  it("starts once where send is pressed twice", async () => {
    await start(hang);
    const heard = world.client.nextRequest();
    const outcomes = await Promise.all([session.ask("x"), session.ask("x")]);
    await heard;
    assert.deepEqual(outcomes.map(({ outcome }) => outcome).sort(), ["queued", "started"]);
    assert.equal(world.client.requests.length, 1);
    await session.cancel();
  });

  it("runs at the same time as the turns of other sessions", async () => {
    await start(hang);
    await session.ask("one");
    world.client.steps.push({ text: "hello" });
    const other = await world.core().newSession(world.workspace);
    await askAndWait(other, "two");
    assert.equal(session.state, "running");
    await session.cancel();
  });

  it("ends as failed with the model's error, and goes on with the very same request", async () => {
    await start(
      calling(call("list_dir", {})),
      new ChatError("key", "The key is wrong. Set another one."),
      { text: "there" },
    );
    const ended = nextEvent(session, "turn_ended");
    await session.ask("go");
    const { reason, message } = await ended;
    assert.deepEqual([reason, message], ["failed", "The key is wrong. Set another one."]);
    await untilState(session, "idle");
    assert.equal((await session.goOn()).outcome, "started");
    await untilState(session, "idle");
    assert.deepEqual(ends(session).at(-1), { reason: "finished" });
    assert.deepEqual(world.client.requests[2]?.messages, world.client.requests[1]?.messages);
  });

  it("does not burn the queue on a model that fails", async () => {
    await start(async (_, options) => {
      options.onDelta({ type: "text", text: "half" });
      await session.ask("two");
      throw new ChatError("stream", "The stream broke off.", true);
    });
    await session.ask("one");
    await untilState(session, "idle");
    assert.equal(session.queue.length, 1);
    assert.equal(world.client.requests.length, 1);
  });

  it("is refused, its text kept, where there is no model", async () => {
    session = await world
      .core({ client: () => Promise.reject(new ChatError("model", "Set up a model first.")) })
      .newSession(world.workspace);
    assert.deepEqual(await session.ask("one"), {
      outcome: "refused",
      message: "Set up a model first.",
    });
    assert.deepEqual(types(session), ["session_started"]);
    assert.equal(session.state, "idle");
  });

  it("does not send an empty answer on, whatever comes after it", async () => {
    await start({ text: " " }, calling(call("list_dir", {})), { text: "" }, { text: "yes" });
    await askAndWait(session, "one");
    assert.deepEqual(ends(session), [
      { reason: "finished", message: "The model answered with nothing." },
    ]);
    await askAndWait(session, "two");
    await askAndWait(session, "three");
    assert.equal(world.client.requests.length, 4);
    assertGrows(world.client.requests);
  });

  it("does not make a call that the token limit cut, and says so to the model", async () => {
    await start(
      {
        stop: "length",
        calls: [
          call("list_dir", {}),
          { call: "cut", tool: "write_file", args: null, invalid: '{"path":"a","content":"x' },
        ],
      },
      { text: "ok" },
    );
    await askAndWait(session, "go");
    assert.deepEqual(
      results(session).map(({ ok }) => ok),
      [true, false],
    );
    assert.match(results(session)[1]?.result ?? "", /cut by its token limit.*smaller/);
  });

  it("ends at its limit where the text was cut, and goes on when told to", async () => {
    await start({ text: "The first half", stop: "length" }, { text: "and the second." });
    await askAndWait(session, "tell");
    assert.equal(ends(session)[0]?.reason, "limit");
    await session.goOn();
    await untilState(session, "idle");
    assert.deepEqual(world.client.requests[1]?.messages.slice(-2), [
      { role: "assistant", text: "The first half", calls: [] },
      { role: "user", text: "Go on." },
    ]);
  });

  it("ends after 200 answers, not before, and goes on when told to", async () => {
    await start(...Array.from({ length: TURN_ANSWERS }, () => calling(call("list_dir", {}))), {
      text: "done",
    });
    await askAndWait(session, "loop");
    assert.equal(world.client.requests.length, TURN_ANSWERS);
    assert.deepEqual(ends(session), [
      { reason: "limit", message: "The turn ended after 200 answers of the model." },
    ]);
    await session.goOn();
    await untilState(session, "idle");
    assert.deepEqual(ends(session).at(-1), { reason: "finished" });
  });

  it("keeps the 200th answer where that one finishes", async () => {
    await start(...Array.from({ length: TURN_ANSWERS - 1 }, () => calling(call("list_dir", {}))), {
      text: "done",
    });
    await askAndWait(session, "loop");
    assert.deepEqual(ends(session), [{ reason: "finished" }]);
  });

  it("gives each call a name of its own where a server numbers them anew", async () => {
    await start(
      calling(call("list_dir", {}, "call_0"), call("list_dir", {}, "call_0")),
      calling(call("list_dir", {}, "call_0"), call("list_dir", {}, "")),
      { text: "ok" },
    );
    await askAndWait(session, "go");
    assert.equal(results(session).length, 4);
    const names = session.events.flatMap((event) =>
      event.type === "model_answered" ? event.calls.map((one) => one.call) : [],
    );
    assert.equal(new Set(names).size, 4);
    assert.equal(names[0], "call_0");
  });

  it("makes nothing of the calls after a finish in the same answer", async () => {
    await start(calling(call("finish", { result: "ok" }), call("run", { argv: ["touch", "x"] })));
    await askAndWait(session, "go");
    assert.deepEqual(
      results(session).map(({ ok }) => ok),
      [true, false],
    );
    assert.equal(session.events.filter((event) => event.type === "card_raised").length, 0);
  });

  it("says plainly where the context is too long even when shortened, and is not stuck", async () => {
    const tooLong = new ChatError("context", "Too long for the model. Start a new session.");
    world.client.steps.push(calling(call("read_file", { path: "big.txt" })));
    await writeFile(join(world.workspace, "big.txt"), "x".repeat(32 * 1024));
    await start(tooLong, { text: "short enough" });
    await askAndWait(session, "read");
    // The same turn, once more with less.
    assert.deepEqual(ends(session), [{ reason: "finished" }]);
    const [, whole, shorter] = world.client.requests.map((one) => JSON.stringify(one).length);
    assert.ok((shorter ?? 0) < (whole ?? 0));
    world.client.steps.push(...Array.from({ length: 20 }, () => tooLong), { text: "ok" });
    await askAndWait(session, "more");
    assert.deepEqual(ends(session).at(-1), {
      reason: "failed",
      message: "Too long for the model. Start a new session.",
    });
    world.client.steps.splice(0, world.client.steps.length, { text: "ok" });
    await askAndWait(session, "hi");
    assert.deepEqual(ends(session).at(-1), { reason: "finished" });
  });

  it("tells a listener of an event when it is in the log, and outlives one that throws", async () => {
    await start({ text: "ok" });
    const seen: boolean[] = [];
    session.onEvent((event) => {
      seen.push(session.events.at(-1) === event);
      throw new Error("a listener's own");
    });
    await askAndWait(session, "go");
    assert.deepEqual([...new Set(seen)], [true]);
    assert.match(world.reports.join("\n"), /a listener failed/);
  });

  it("uses an allow in its own session alone, until it is taken back", async () => {
    const run = () => calling(call("run", { argv: ["true"] }));
    await start(run(), run(), { text: "ok" });
    let cards = 0;
    session.onEvent((event) => {
      if (event.type !== "card_raised") return;
      cards++;
      void session.answerCard(event.card, "allow_session", { surface });
    });
    await askAndWait(session, "go");
    assert.equal(cards, 1);
    assert.deepEqual(session.allows, [{ allow: { run: ["true"] }, used: 1 }]);
    assert.equal(await session.revoke({ run: ["true"] }), true);
    assert.deepEqual(session.allows, []);
    world.client.steps.push(run(), { text: "ok" });
    await askAndWait(session, "again");
    assert.equal(cards, 2);
    world.client.steps.push(run());
    const other = await world.core().newSession(world.workspace);
    await other.ask("go");
    await untilState(other, "waiting");
    await other.cancel();
  });

  it("runs no command in an untrusted workspace, and shows no card for it", async () => {
    world.settings = { trusted: false, stopHooks: [{ argv: ["false"] }] };
    await start(calling(call("run", { argv: ["touch", "x"] })), { text: "ok" });
    await askAndWait(session, "go");
    assert.match(results(session)[0]?.result ?? "", /untrusted/);
    assert.deepEqual(
      types(session).filter((type) => type === "card_raised" || type === "hook_ended"),
      [],
    );
  });
});
