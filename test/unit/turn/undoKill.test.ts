import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SessionEvent } from "../../../src/core/session/events.js";
import { factsOf } from "../../../src/core/session/state.js";
import { makeWorld } from "./support.js";
import { put, textOf, turn, turnOf, undo, write } from "./undoSupport.js";

/** How many processes are killed; each takes a second or so to start. */
const KILLS = Number(process.env.COUNTERSIGN_TEST_KILLS ?? 4);
const CHILD = fileURLToPath(new URL("undoChild.ts", import.meta.url));
const FILES = ["a", "b", "c", "d", "e"];
/** Some more than a write takes, so that they are killed in the middle of one. */
const LONG = "x".repeat(200_000);

describe("a host that is killed in the middle of an undo", () => {
  it("leaves each file before or after it, and the next one knows which, and does nothing by itself", async function () {
    this.timeout(20_000 + KILLS * 10_000);
    const world = await makeWorld();
    try {
      const session = await world.core().newSession(world.workspace);
      for (const name of FILES) await put(world, name, `before ${name}\n${LONG}`);
      const id = await turnOf(
        world,
        session,
        "go",
        ...FILES.map((name) => write(name, `after ${name}\n${LONG}`)),
        write("new/f", "after\n"),
      );
      await session.close();
      for (let kills = 0; kills < KILLS; kills++) {
        const child = spawn(process.execPath, ["--import", "tsx", CHILD, world.home, session.id], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        const exit = once(child, "exit");
        await once(child.stdout, "data");
        await delay(Math.random() * 150);
        child.kill("SIGKILL");
        await exit;
        const states = new Map<string, string | null>();
        for (const name of FILES) {
          const text = await textOf(world, name);
          assert.ok(text === `before ${name}\n${LONG}` || text === `after ${name}\n${LONG}`, name);
          states.set(join(world.workspace, name), text);
        }
        const fresh = await textOf(world, "new/f");
        assert.ok(fresh === null || fresh === "after\n");
        const left = (await logOf(world.home, session.id)).findLast(
          (event) => event.type === "undo_started",
        );
        const core = world.core();
        const again = await core.openSession(session.id);
        assert.equal(again.readOnly, undefined);
        for (const [path, text] of states) {
          assert.equal(await readFile(path, "utf8"), text, "opening it went on with the undo");
        }
        const leftovers = (await readdir(world.workspace)).filter((name) => name.endsWith(".tmp"));
        assert.deepEqual(leftovers, []);
        const { undo: open } = factsOf(again.events);
        assert.equal(open, undefined, "an undo is open in the log and nobody is at it");
        for (const event of again.events) {
          if (event.type !== "undo_file" || event.found !== true) continue;
          if (left?.type !== "undo_started" || event.undo !== left.undo) continue;
          const text = states.get(event.path);
          if (text === undefined) continue;
          const to = left.files.find(({ path }) => path === event.path)?.after ?? "";
          const kept = join(world.home, "sessions", session.id, "blobs", to);
          assert.equal(event.outcome === "restored", (await readFile(kept, "utf8")) === text);
        }
        // Whatever was done of it, the rest can be undone by whoever wants that.
        if (again.undoneBy(turn(id)) === undefined) await undo(again, turn(id));
        await undo(again, turn(id)).catch(() => {});
        for (const name of FILES) {
          assert.equal(await textOf(world, name), `before ${name}\n${LONG}`);
        }
        assert.equal(await textOf(world, "new/f"), null);
        await core.dispose();
      }
    } finally {
      await world.dispose();
    }
  });
});

async function logOf(home: string, id: string): Promise<SessionEvent[]> {
  const text = await readFile(join(home, "sessions", id, "log.jsonl"), "utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as SessionEvent);
}
