import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LiveSession } from "../../../src/core/turn/live.js";
import { markOf, temporaryName } from "../../../src/core/workspace/leftovers.js";
import { call, calling, eventOf, makeWorld, nextEvent, untilState, type World } from "./support.js";

const surface = "test" as const;

describe("a session whose host was killed in a write", () => {
  let world: World;
  let session: LiveSession;
  beforeEach(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.dispose());

  /** Two writes of `d/f`, the second by an allow; the log is cut after the n-th `call_started`. */
  async function killedAt(n: number): Promise<{ turn: string; call: string }> {
    world.client.steps.push(
      calling(call("write_file", { path: "d/f", content: "1\n" }, "w1")),
      calling(call("write_file", { path: "d/f", content: "2\n" }, "w2")),
      { text: "done" },
    );
    await mkdir(join(world.workspace, "d"));
    session = await world.core().newSession(world.workspace);
    const ended = nextEvent(session, "turn_ended");
    await session.ask("go");
    const { card } = await eventOf(session, "card_raised");
    await session.answerCard(card, "allow_session", { surface });
    await ended;
    await session.close();
    const log = join(world.home, "sessions", session.id, "log.jsonl");
    const starts = session.events.filter(({ type }) => type === "call_started");
    const cut = starts[n];
    assert.ok(cut?.type === "call_started");
    const lines = (await readFile(log, "utf8")).split("\n").slice(0, cut.seq);
    await writeFile(log, `${lines.join("\n")}\n`);
    return { turn: cut.turn ?? "", call: cut.call };
  }

  const leave = async (turn: string, name: string, at = "ws/d"): Promise<string> => {
    const file = join(world.workspace, "..", at, temporaryName(markOf(turn, name)));
    await writeFile(file, "half");
    return file;
  };

  for (const [n, by] of ["by a card", "by an allow"].entries()) {
    it(`takes its temporary file away when it is opened, and no other (${by})`, async () => {
      const { turn, call: name } = await killedAt(n);
      await leave(turn, name);
      await leave("another turn", name);
      const there = await readdir(join(world.workspace, "d"));
      assert.equal(there.length, 3);
      session = await world.core().openSession(session.id);
      assert.equal(session.state, "interrupted");
      const left = await readdir(join(world.workspace, "d"));
      const others = there.filter((each) => !each.includes(markOf(turn, name)));
      assert.deepEqual(left.sort(), others.sort());
      assert.deepEqual(world.reports, []);
    });
  }

  it("leaves it where another window has the session", async () => {
    const { turn, call: name } = await killedAt(0);
    const first = await world.core().openSession(session.id);
    const file = await leave(turn, name);
    const second = await world.core().openSession(session.id);
    assert.match(second.readOnly ?? "", /has this session open/);
    assert.equal(await readFile(file, "utf8"), "half");
    await first.close();
  });

  it("removes nothing outside where its directory is a link by now", async () => {
    const { turn, call: name } = await killedAt(0);
    const outside = join(world.workspace, "..", "outside");
    await mkdir(outside);
    const file = await leave(turn, name, "outside");
    await rename(join(world.workspace, "d"), join(world.workspace, "away"));
    await symlink(outside, join(world.workspace, "d"));
    session = await world.core().openSession(session.id);
    assert.equal(await readFile(file, "utf8"), "half");
  });

  it("opens where its directory cannot be read any more", async () => {
    await killedAt(0);
    await rm(join(world.workspace, "d"), { recursive: true });
    await writeFile(join(world.workspace, "d"), "a file");
    session = await world.core().openSession(session.id);
    await untilState(session, "interrupted");
    assert.deepEqual(world.reports, []);
  });
});
