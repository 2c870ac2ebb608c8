import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
import { assertValid } from "./valid.js";

/** What a crash, a disk or a hand can do to one line of a log, and what is left of all of them. */
const HARMS: Record<string, (lines: readonly string[], at: number) => readonly string[]> = {
  lost: (lines, at) => lines.filter((_, index) => index !== at),
  doubled: (lines, at) => lines.flatMap((line, index) => (index === at ? [line, line] : [line])),
  halved: (lines, at) => lines.map((line, index) => (index === at ? line.slice(0, 40) : line)),
  moved: (lines, at) => [...lines.slice(0, at), ...lines.slice(at + 1), lines[at] ?? ""],
  last: (lines, at) => lines.slice(0, at + 1),
};

describe("a log of which one line is not as it was", () => {
  let world: World;
  let session: LiveSession;
  let lines: readonly string[];
  const log = (): string => join(world.home, "sessions", session.id, "log.jsonl");
  before(async () => {
    world = await makeWorld([
      { text: "Hello." },
      calling(call("run", { argv: ["true"] }, "a"), call("list_dir", {}, "b")),
      calling(call("ask", { question: "Which?" }, "c")),
    ]);
    session = await world.core().newSession(world.workspace);
    await askAndWait(session, "hi");
    await session.ask("go");
    await untilState(session, "waiting");
    const asked = nextEvent(session, "question");
    const { card } = await eventOf(session, "card_raised");
    await session.answerCard(card, "allow_once", { surface: "test" });
    await asked;
    await session.close();
    lines = (await readFile(log(), "utf8")).trimEnd().split("\n");
    assert.equal(lines.length, 14);
  });
  after(() => world.dispose());

  for (const [name, harm] of Object.entries(HARMS)) {
    it(`opens, comes to its end and goes on with valid requests: each line ${name}`, async () => {
      for (const at of lines.keys()) {
        await writeFile(log(), `${harm(lines, at).join("\n")}\n`);
        const again = await world.core().openSession(session.id);
        try {
          await again.cancel();
          assert.equal(again.state, "idle", `line ${at + 1}`);
          world.client.steps.splice(0, 9, { text: "Bye." });
          world.client.requests.length = 0;
          await askAndWait(again, "more");
          assert.equal(world.client.requests.length, 1);
          for (const request of world.client.requests) assertValid(request);
        } catch (error) {
          throw new Error(`line ${at + 1}: ${lines[at]?.slice(0, 120)}`, { cause: error });
        } finally {
          await again.close();
        }
      }
    });
  }
});
