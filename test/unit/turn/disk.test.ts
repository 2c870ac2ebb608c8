import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { verifyLog } from "../../../src/core/session/verify.js";
import type { LiveSession } from "../../../src/core/turn/live.js";
import {
  askAndWait,
  call,
  calling,
  eventOf,
  makeWorld,
  nextEvent,
  untilState,
  type World,
} from "./support.js";

const execute = promisify(execFile);

const PAGE = 4096;

/** A file system of 1 MiB for the sessions; needs the right to mount. */
async function mountSmall(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await execute("mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", path]).catch(
    (error: Error) => {
      throw new Error(`this test needs to mount a tmpfs (run it as root in a container): ${error}`);
    },
  );
}

async function fill(path: string): Promise<void> {
  let size = 1024 * 1024;
  for (let part = 0; size >= 1; part++) {
    try {
      await writeFile(join(path, `filler${part}`), Buffer.alloc(size), { flag: "a" });
    } catch {
      await rm(join(path, `filler${part}`), { force: true });
      size = Math.floor(size / 2);
    }
  }
}

async function free(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (name.startsWith("filler")) await rm(join(path, name));
  }
}

async function wholeLines(world: World, id: string): Promise<number> {
  const path = join(world.home, "sessions", id, "log.jsonl");
  const text = await readFile(path, "utf8");
  // What was written half, and taken back, is no link of the chain.
  assert.deepEqual((await verifyLog(path)).faults, []);
  const lines = text.split("\n");
  assert.equal(lines.pop(), "");
  for (const line of lines) JSON.parse(line);
  return lines.length;
}

describe("a turn on a disk that fails", function () {
  this.timeout(30_000);
  let world: World;
  let sessions: string;
  let mounted: boolean;
  beforeEach(async () => {
    world = await makeWorld();
    sessions = join(world.home, "sessions");
    mounted = false;
  });
  afterEach(async () => {
    for (const core of world.cores) await core.dispose();
    if (mounted) await execute("umount", [sessions]);
    await world.dispose();
  });
  const small = async (): Promise<void> => {
    await mountSmall(sessions);
    mounted = true;
  };
  const waiting = async (): Promise<{ session: LiveSession; card: string }> => {
    world.client.steps.push(calling(call("run", { argv: ["touch", "made"] }, "r")), { text: "ok" });
    const session = await world.core().newSession(world.workspace);
    await session.ask("go");
    await untilState(session, "waiting");
    return { session, card: (await eventOf(session, "card_raised")).card };
  };
  const made = (): Promise<boolean> =>
    readFile(join(world.workspace, "made")).then(
      () => true,
      () => false,
    );

  it("stops before the effect where the disk is full, and goes on when there is space", async () => {
    await small();
    const run = calling(call("run", { argv: ["touch", "made"] }, "r"));
    world.client.steps.push(
      async () => {
        for (const size of [2000, 1000, 500, 250, 100, 30, 1]) await session.ask("x".repeat(size));
        return run;
      },
      { text: "ok" },
    );
    const session = await world.core().newSession(world.workspace);
    await session.ask("go");
    await untilState(session, "waiting");
    const { card } = await eventOf(session, "card_raised");
    // The last page of the log has room on a full disk too: the asks that are taken back fill it.
    const size = async (): Promise<number> =>
      (await stat(join(sessions, session.id, "log.jsonl"))).size;
    for (const { ask, text } of [...session.queue]) {
      const line = 150 + text.length;
      if (line < PAGE - ((await size()) % PAGE)) await session.withdraw(ask);
    }
    assert.ok(PAGE - ((await size()) % PAGE) < 180);
    await fill(sessions);
    const outcome = await session.answerCard(card, "allow_once", { surface: "test" });
    assert.ok(outcome.outcome === "gone");
    assert.match(outcome.message, /Not saved: the disk .* is full. Free some space/);
    await untilState(session, "interrupted");
    assert.match(session.trouble ?? "", /is full/);
    assert.equal(await made(), false);
    const refusal = await session.ask("more");
    assert.ok(refusal.outcome === "refused");
    assert.match(refusal.message, /is full/);
    await free(sessions);
    const raised = nextEvent(session, "card_raised");
    assert.equal((await session.goOn()).outcome, "started");
    await raised;
    assert.equal(session.trouble, undefined);
    const [again] = session.openCards;
    assert.equal(again?.event.replaces, card);
    await session.answerCard(again?.card ?? "", "allow_once", { surface: "test" });
    await eventOf(session, "turn_ended");
    assert.equal(await made(), true);
    await untilState(session, "idle");
    assert.equal(await wholeLines(world, session.id), session.events.length);
  });

  it("writes nothing where there is no room for the bytes that would be replaced", async () => {
    await small();
    await writeFile(join(world.workspace, "a.txt"), "old\n");
    const write = calling(call("write_file", { path: "a.txt", content: "new\n" }, "w"));
    world.client.steps.push(write, { text: "ok" });
    const session = await world.core().newSession(world.workspace);
    await session.ask("go");
    await untilState(session, "waiting");
    const { card } = await eventOf(session, "card_raised");
    await fill(sessions);
    // The last page of the log takes the answer; what was there has no page to be kept on.
    assert.deepEqual(await session.answerCard(card, "allow_once", { surface: "test" }), {
      outcome: "taken",
    });
    const { reason, message } = await eventOf(session, "turn_ended");
    assert.equal(reason, "failed");
    assert.match(message ?? "", /^Not saved: the disk .* is full. Free some space/);
    assert.equal(await readFile(join(world.workspace, "a.txt"), "utf8"), "old\n");
    assert.ok(session.events.every(({ type }) => type !== "call_started"));
    await free(sessions);
    world.client.steps.unshift(calling(call("write_file", { path: "a.txt", content: "new\n" })));
    const raised = nextEvent(session, "card_raised");
    await session.goOn();
    await session.answerCard((await raised).card, "allow_once", { surface: "test" });
    await untilState(session, "idle");
    assert.equal(await readFile(join(world.workspace, "a.txt"), "utf8"), "new\n");
    assert.equal((await readdir(join(sessions, session.id, "blobs"))).length, 2);
  });

  it("keeps whole lines where the disk fills up again and again", async () => {
    await small();
    world.client.steps.push({ text: "hello" });
    const session = await world.core().newSession(world.workspace);
    await askAndWait(session, "one");
    for (let round = 0; round < 5; round++) {
      await fill(sessions);
      const big = await session.ask("x".repeat(20_000));
      assert.equal(big.outcome, "refused");
      await free(sessions);
      assert.equal(await wholeLines(world, session.id), session.events.length);
      world.client.steps.push({ text: "hello" });
      await askAndWait(session, `round ${round}`);
    }
    assert.equal(await wholeLines(world, session.id), session.events.length);
  });

  it("opens a session on a full disk, torn line and all, and writes to it when there is space", async () => {
    await small();
    const { session } = await waiting();
    const { id } = session;
    await session.close();
    await writeFile(join(sessions, id, "log.jsonl"), '{"seq":9,"at":"x","ty', { flag: "a" });
    const before = await readFile(join(sessions, id, "log.jsonl"));
    await fill(sessions);
    const again = await world.core().openSession(id);
    assert.ok(again.events.length > 3);
    assert.deepEqual(await readFile(join(sessions, id, "log.jsonl")), before);
    await free(sessions);
    await again.close();
    const third = await world.core().openSession(id);
    assert.equal(third.state, "waiting");
    assert.equal(await wholeLines(world, id), third.events.length);
    await third.cancel();
  });

  it("stops before the effect where the disk turns read-only, and opens to read there", async () => {
    await small();
    const { session, card } = await waiting();
    // The log is open for writing, so it has to be closed for the disk to turn.
    await execute("mount", ["-o", "remount,ro", sessions]).catch(async () => {
      await session.close();
      await execute("mount", ["-o", "remount,ro", sessions]);
    });
    const outcome = await session.answerCard(card, "allow_once", { surface: "test" });
    assert.equal(outcome.outcome, "gone");
    assert.equal(await made(), false);
    await session.close().catch(() => {});
    const again = await world.core().openSession(session.id);
    assert.match(again.readOnly ?? "", /cannot be written to/);
    assert.equal((await again.ask("x")).outcome, "refused");
    assert.equal(again.events.length, session.events.length);
    await again.close();
    await execute("mount", ["-o", "remount,rw", sessions]);
  });

  it("stops before the effect where the directory of its log is gone, and says which", async () => {
    const { session, card } = await waiting();
    const directory = join(sessions, session.id);
    await rename(directory, `${directory}-away`);
    const outcome = await session.answerCard(card, "allow_session", { surface: "test" });
    assert.ok(outcome.outcome === "gone");
    assert.ok(outcome.message.includes(directory));
    await untilState(session, "interrupted");
    assert.equal(await made(), false);
    await rename(`${directory}-away`, directory);
    const seen: string[] = [];
    session.onDelta((delta) => {
      if (delta.type === "state") seen.push(`${delta.state}, ${session.openCards.length} cards`);
    });
    await session.goOn();
    await untilState(session, "waiting");
    // The card of before is open in the log, but nobody can answer it.
    assert.deepEqual(seen, ["running, 0 cards", "waiting, 1 cards"]);
    await session.cancel();
    assert.equal(session.state, "idle");
  });

  it("does nothing where the allow cannot be put on meta.json", async () => {
    const { session, card } = await waiting();
    // The turn's start brings meta.json up to date beside it; a change of ours comes after that one.
    await world.cores[0]?.renameSession(session.id, "Kept");
    await rm(join(sessions, session.id, "meta.json"));
    await mkdir(join(sessions, session.id, "meta.json", "in the way"), { recursive: true });
    const outcome = await session.answerCard(card, "allow_session", { surface: "test" });
    assert.equal(outcome.outcome, "gone");
    await untilState(session, "idle");
    assert.equal(await made(), false);
    assert.deepEqual(session.allows, []);
    assert.equal((await eventOf(session, "turn_ended")).reason, "failed");
  });
});
