import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Core, LiveSession } from "../../../src/core/turn/live.js";
import {
  askAndWait,
  call,
  calling,
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

describe("a session that is opened again", () => {
  let world: World;
  let core: Core;
  let session: LiveSession;
  const start = async (...steps: Step[]): Promise<void> => {
    world.client.steps.push(...steps);
    core = world.core();
    session = await core.newSession(world.workspace);
  };
  const again = async (): Promise<LiveSession> => {
    await session.close();
    core = world.core();
    session = await core.openSession(session.id);
    return session;
  };
  beforeEach(async () => {
    world = await makeWorld();
  });
  afterEach(async () => {
    assertGrows(world.client.requests);
    await closeValid(world);
  });

  it("has its card up again, made from the file as it is now", async () => {
    await writeFile(join(world.workspace, "a"), "one\n");
    await start(calling(call("search_replace", { path: "a", old: "one", new: "two" })), {
      text: "ok",
    });
    await session.ask("go");
    await untilState(session, "waiting");
    const { card } = await eventOf(session, "card_raised");
    await session.close();
    assert.equal(types(session).at(-1), "card_raised");
    await writeFile(join(world.workspace, "a"), "zero\none\n");
    await again();
    assert.equal(session.state, "waiting");
    const [open] = session.openCards;
    assert.equal(open?.event.replaces, card);
    assert.match(open?.event.diff ?? "", /zero/);
    assert.equal((await session.answerCard(card, "allow_once", { surface })).outcome, "gone");
    await session.answerCard(open?.card ?? "", "allow_once", { surface });
    await untilState(session, "idle");
    assert.equal(await readFile(join(world.workspace, "a"), "utf8"), "zero\ntwo\n");
    assert.equal(world.client.requests.length, 2);
  });

  it("has its card up again as it was edited, while the file is the same", async () => {
    await writeFile(join(world.workspace, "a"), "one\n");
    await start(calling(call("search_replace", { path: "a", old: "one", new: "two" })), {
      text: "ok",
    });
    await session.ask("go");
    await untilState(session, "waiting");
    const { card } = await eventOf(session, "card_raised");
    const edited = Buffer.from("three\n");
    assert.deepEqual(await session.editCard(card, edited), { outcome: "taken" });
    await again();
    const [open] = session.openCards;
    assert.equal(open?.event.replaces, card);
    assert.equal(open?.edit?.event.edited, "three\n");
    const shown = open?.edit?.event.digest ?? "";
    await session.revertCard(open?.card ?? "");
    assert.equal(session.openCards[0]?.edit, undefined);
    await session.editCard(open?.card ?? "", edited);
    const early = await session.answerCard(open?.card ?? "", "allow_once", { surface });
    assert.equal(early.outcome, "stale");
    await session.answerCard(open?.card ?? "", "allow_once", { surface, shown });
    await untilState(session, "idle");
    assert.equal(await readFile(join(world.workspace, "a"), "utf8"), "three\n");
    assert.match(results(session)[0]?.result ?? "", /^Wrote a: .*The user edited your proposal/);
    assert.deepEqual(world.client.requests.at(-1)?.messages.at(-1), {
      role: "tool",
      call: open?.call,
      ok: true,
      text: results(session)[0]?.result,
    });
  });

  it("has its card up again without the edit, and says so, where the file has changed", async () => {
    await writeFile(join(world.workspace, "a"), "one\n");
    await start(calling(call("search_replace", { path: "a", old: "one", new: "two" })));
    await session.ask("go");
    await untilState(session, "waiting");
    const { card } = await eventOf(session, "card_raised");
    await session.editCard(card, Buffer.from("three\n"));
    await session.close();
    await writeFile(join(world.workspace, "a"), "zero\none\n");
    await again();
    const [open] = session.openCards;
    assert.equal(open?.edit, undefined);
    assert.equal(open?.event.proposed, "zero\ntwo\n");
    assert.match(open?.event.reasons?.join() ?? "", /your edit is not in it/);
  });

  it("has its question open again, the same one, once", async () => {
    await start(calling(call("ask", { question: "Which?", options: ["a"] })), { text: "ok" });
    await session.ask("go");
    await untilState(session, "waiting");
    const before = session.openQuestion;
    await again();
    assert.equal(session.state, "waiting");
    assert.deepEqual(session.openQuestion, before);
    await session.answerQuestion(before?.question ?? "", "a");
    await untilState(session, "idle");
    assert.equal(types(session).filter((type) => type === "question").length, 1);
    assert.deepEqual(results(session), [{ ok: true, result: "a" }]);
  });

  it("has its queue, which waits to be sent on", async () => {
    await start(hang);
    const heard = world.client.nextRequest();
    await session.ask("one");
    await session.ask("two");
    await session.ask("three");
    await heard;
    await session.cancel();
    await again();
    assert.deepEqual(
      session.queue.map(({ text }) => text),
      ["two", "three"],
    );
    assert.equal(session.state, "idle");
    await session.goOn();
    await untilState(session, "idle");
    assert.deepEqual(session.queue, []);
  });

  it("reads interrupted where it was cut in its stream, and goes on when told to", async () => {
    await start(hang, { text: "there" });
    const heard = world.client.nextRequest();
    await session.ask("one");
    await heard;
    await again();
    assert.equal(session.state, "interrupted");
    assert.equal(world.client.requests.length, 1);
    await session.goOn();
    await untilState(session, "idle");
    assert.deepEqual(world.client.requests[1]?.messages, world.client.requests[0]?.messages);
    assert.equal((await eventOf(session, "turn_ended")).reason, "finished");
  });

  for (const [name, then] of [
    ["an ask", () => session.ask("two")],
    ["a go on", () => session.goOn()],
    ["a second cancel", () => session.cancel()],
  ] as const) {
    it(`ends the turn that was cut once, where ${name} comes while it is cancelled`, async () => {
      const calls = Array.from({ length: 5 }, (_, n) => call("list_dir", {}, `c${n}`));
      await start(calling(...calls), { text: "there" });
      await session.ask("one");
      await eventOf(session, "model_answered");
      await session.close();
      const path = join(world.home, "sessions", session.id, "log.jsonl");
      const lines = (await readFile(path, "utf8")).split("\n");
      const answered = lines.findIndex((line) => line.includes('"type":"model_answered"'));
      await writeFile(path, `${lines.slice(0, answered + 1).join("\n")}\n`);
      await again();
      assert.equal(session.state, "interrupted");
      await Promise.all([session.cancel(), then()]);
      await untilState(session, "idle");
      assert.deepEqual(
        session.events.flatMap((event) => (event.type === "call_ended" ? [event.call] : [])),
        ["c0", "c1", "c2", "c3", "c4"],
      );
      const ends = session.events.filter(({ type }) => type === "turn_ended");
      const starts = session.events.filter(({ type }) => type === "turn_started");
      assert.equal(ends.length, starts.length);
      assert.equal(ends[0]?.type === "turn_ended" && ends[0].reason, "cancelled");
    });
  }

  it("ends the turn that was cut where something else is asked", async () => {
    await start(hang, { text: "there" });
    const heard = world.client.nextRequest();
    await session.ask("one");
    await heard;
    await again();
    await askAndWait(session, "two");
    assert.deepEqual(
      session.events.flatMap((event) => (event.type === "turn_ended" ? [event.reason] : [])),
      ["interrupted", "finished"],
    );
  });

  it("ends the turn that was cut where it is cancelled", async () => {
    await start(hang);
    const heard = world.client.nextRequest();
    await session.ask("one");
    await heard;
    await again();
    await session.cancel();
    assert.equal(session.state, "idle");
    assert.equal((await eventOf(session, "turn_ended")).reason, "cancelled");
    assert.equal((await session.goOn()).outcome, "started");
    await untilState(session, "idle");
  });

  it("never runs a command again that had begun, and tells the model so", async () => {
    await start(calling(call("run", { argv: ["sh", "-c", "echo x >> ran; sleep 60"] }, "r")), {
      text: "ok",
    });
    await session.ask("go");
    await untilState(session, "waiting");
    const { card } = await eventOf(session, "card_raised");
    const begun = nextEvent(session, "call_started");
    await session.answerCard(card, "allow_session", { surface });
    await begun;
    // As a power cut leaves it: without what the closing wrote.
    const log = join(world.home, "sessions", session.id, "log.jsonl");
    const cut = await readFile(log);
    await session.close();
    await writeFile(log, cut);
    core = world.core();
    session = await core.openSession(session.id);
    assert.equal(session.state, "interrupted");
    assert.deepEqual(results(session), [
      { ok: false, result: "interrupted: it may or may not have happened" },
    ]);
    await session.goOn();
    await untilState(session, "idle");
    assert.equal(types(session).filter((type) => type === "call_started").length, 1);
  });

  it("keeps a denial that had no result yet", async () => {
    await start(calling(call("run", { argv: ["touch", "x"] })), { text: "ok" });
    await session.ask("go");
    await untilState(session, "waiting");
    const log = join(world.home, "sessions", session.id, "log.jsonl");
    const { card } = await eventOf(session, "card_raised");
    await session.close();
    const event = {
      type: "card_answered",
      card,
      answer: "deny",
      note: "no",
      turn: session.events[1]?.turn,
    };
    const line = JSON.stringify({ seq: 99, at: "x", ...event });
    await writeFile(log, `${line}\n`, { flag: "a" });
    core = world.core();
    session = await core.openSession(session.id);
    assert.match(results(session)[0]?.result ?? "", /Denied by the user.*no$/);
    assert.equal(session.state, "interrupted");
    assert.deepEqual(session.openCards, []);
    await session.goOn();
    await untilState(session, "idle");
  });

  it("is to read alone while another host has it, and says which", async () => {
    await start(calling(call("run", { argv: ["touch", "x"] })), { text: "ok" });
    await session.ask("go");
    await untilState(session, "waiting");
    const other = await world.core({ host: "Other" }).openSession(session.id);
    assert.match(other.readOnly ?? "", /^test with .* has this session open; here it is read-only/);
    assert.equal(other.state, "waiting");
    assert.deepEqual(other.events, session.events);
    const { card } = await eventOf(session, "card_raised");
    assert.equal((await other.ask("x")).outcome, "refused");
    assert.equal((await other.goOn()).outcome, "refused");
    assert.equal((await other.answerCard(card, "allow_once", { surface })).outcome, "gone");
    assert.equal(await other.revoke({ run: ["x"] }), false);
    assert.equal(await other.withdraw("x"), false);
    await other.cancel();
    await other.close();
    assert.equal(session.state, "waiting");
    await session.answerCard(card, "deny", { surface });
    await untilState(session, "idle");
  });

  it("is the same object while it is open", async () => {
    await start();
    assert.equal(await core.openSession(session.id), session);
    const [one, two] = await Promise.all([again(), Promise.resolve()]).then(() =>
      Promise.all([core.openSession(session.id), core.openSession(session.id)]),
    );
    assert.equal(one, two);
  });

  it("is to read alone where its workspace is gone", async () => {
    await start({ text: "hello" });
    await askAndWait(session, "hi");
    await session.close();
    await rm(world.workspace, { recursive: true });
    core = world.core();
    session = await core.openSession(session.id);
    assert.match(session.readOnly ?? "", /workspace folder .* cannot be opened/);
    assert.equal((await session.ask("x")).outcome, "refused");
    assert.equal(session.events.length, 5);
  });

  it("shows where its log is damaged, and what is left of it", async () => {
    await start(calling(call("list_dir", {}, "c")), { text: "hello" }, { text: "again" });
    await askAndWait(session, "hi");
    await session.close();
    const log = join(world.home, "sessions", session.id, "log.jsonl");
    const lines = (await readFile(log, "utf8")).split("\n");
    assert.match(lines[3] ?? "", /call_ended/);
    lines[3] = "\0".repeat(300);
    await writeFile(log, lines.join("\n"));
    core = world.core();
    session = await core.openSession(session.id);
    assert.deepEqual(session.damage, [{ line: 4, after: 3, reason: "300 NUL bytes" }]);
    world.client.requests.length = 0;
    await askAndWait(session, "more");
    assert.equal(session.state, "idle");
  });

  it("may be renamed, open or not, and keeps that title", async () => {
    await start({ text: "a" }, { text: "b" });
    await core.renameSession(session.id, "Mine");
    await askAndWait(session, "Another text");
    assert.equal(session.title, "Mine");
    const { id } = session;
    await session.close();
    await core.renameSession(id, "Yours");
    assert.equal((await core.listSessions())[0]?.title, "Yours");
    await assert.rejects(core.renameSession("../x", "x"), /There is no session/);
  });

  it("is closed when its directory is handed over", async () => {
    await start(hang);
    await session.ask("one");
    assert.equal(await core.releaseSession(session.id), join(world.home, "sessions", session.id));
    assert.match((await session.ask("x")).outcome, /refused/);
    await assert.rejects(core.openSession("000000000-000000000000"), /There is no session/);
  });

  it("is none where the folder cannot be opened", async () => {
    core = world.core();
    await assert.rejects(core.newSession(join(world.workspace, "none")), /cannot be opened/);
    assert.deepEqual(await core.listSessions(), []);
    await start();
  });

  it("starts with the allows the user has given, on meta.json", async () => {
    world.client.steps.push(calling(call("run", { argv: ["true"] })), { text: "ok" });
    core = world.core();
    session = await core.newSession(world.workspace, { allows: [{ run: ["true"] }] });
    const meta = await readFile(join(world.home, "sessions", session.id, "meta.json"), "utf8");
    assert.match(meta, /\{"run": \["true"\]\}/);
    await askAndWait(session, "go");
    assert.deepEqual(session.allows, [{ allow: { run: ["true"] }, used: 1 }]);
    assert.equal(session.openCards.length, 0);
  });
});
