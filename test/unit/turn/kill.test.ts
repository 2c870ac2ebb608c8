import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SessionEvent } from "../../../src/core/session/events.js";
import { verifySession } from "../../../src/core/session/verify.js";
import { transcript } from "../../../src/core/turn/transcript.js";
import { eventOfLine } from "../../support/logLine.js";
import { makeWorld, type World } from "./support.js";
import { assertValid } from "./valid.js";

/** How many processes are killed; each takes a second or so to start. */
const KILLS = Number(process.env.COUNTERSIGN_TEST_KILLS ?? 8);
const SEED = Number(process.env.COUNTERSIGN_TEST_SEED ?? Date.now() % 100_000);
const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Host {
  readonly child: ChildProcess;
  readonly id: Promise<string>;
  readonly ended: Promise<void>;
}

function host(world: World, id: string): Host {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", CHILD, world.home, world.workspace, id],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  assert.ok(child.stdout);
  const lines = createInterface({ input: child.stdout });
  let gone: (error: Error) => void = () => {};
  const death = new Promise<never>((_, reject) => {
    gone = reject;
  });
  death.catch(() => {});
  child.once("exit", () => gone(new Error("the host is gone")));
  const named = new Promise<string>((resolve) => lines.once("line", resolve));
  const ended = new Promise<void>((resolve) => {
    lines.on("line", (line) => {
      if (line === "ended") resolve();
    });
  });
  const done = Promise.race([ended, death]);
  done.catch(() => {});
  const first = Promise.race([named, death]);
  first.catch(() => {});
  return { child, id: first, ended: done };
}

async function kill({ child }: Host): Promise<void> {
  const exit = child.exitCode === null && child.signalCode === null ? once(child, "exit") : null;
  child.kill("SIGKILL");
  await exit;
}

async function eventsOf(world: World, id: string): Promise<SessionEvent[]> {
  assert.deepEqual((await verifySession(join(world.home, "sessions", id))).faults, []);
  const text = await readFile(join(world.home, "sessions", id, "log.jsonl"), "utf8");
  const lines = text.split("\n");
  assert.equal(lines.pop(), "", "the log ends with a whole line");
  return lines.map(eventOfLine);
}

describe(`a host that is killed at a random moment (seed ${SEED})`, () => {
  it("leaves a session that goes on, its effects done once, each call with one result", async function () {
    this.timeout(20_000 + KILLS * 10_000);
    const next = random(SEED);
    for (let kills = 0; kills < KILLS; ) {
      const world = await makeWorld();
      let running: Host | undefined;
      try {
        running = host(world, "");
        const id = await running.id;
        let over = false;
        while (!over && kills < KILLS) {
          // From its first line on, a turn takes some 200 ms.
          const moment = delay(next() * 150, "kill" as const);
          over = (await Promise.race([running.ended, moment])) !== "kill";
          await kill(running);
          kills++;
          if (!over) {
            running = host(world, id);
            await running.id;
          }
        }
        if (!over) await running.ended;
        await kill(running);
        await check(world, id);
      } finally {
        if (running !== undefined) await kill(running);
        await world.dispose();
      }
    }
  });

  async function check(world: World, id: string): Promise<void> {
    const events = await eventsOf(world, id);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    const began = events.flatMap((event) => (event.type === "call_started" ? [event.call] : []));
    assert.equal(new Set(began).size, began.length, "no effect began twice");
    const ends = new Map<string, string>();
    for (const event of events) {
      if (event.type !== "call_ended") continue;
      assert.ok(!ends.has(event.call), "one result for each call");
      ends.set(event.call, event.result);
    }
    const ran = await readFile(join(world.workspace, "ran"), "utf8").catch(() => "");
    const lines = ran.split("\n").filter((line) => line !== "");
    assert.equal(new Set(lines).size, lines.length, "no command ran twice");
    for (let count = 0; count < 6; count++) {
      if (!ends.get(`r${count}`)?.startsWith("interrupted")) {
        assert.ok(lines.includes(String(count)), `command ${count} ran`);
      }
      if (!ends.get(`w${count}`)?.startsWith("interrupted")) {
        const file = await readFile(join(world.workspace, `f${count}`), "utf8");
        assert.equal(file, `${count}\n`);
      }
    }
    const messages = transcript(events.slice(0, -1)).slice();
    assertValid({ system: "", tools: [], messages });
    assert.equal(events.at(-1)?.type, "turn_ended");
  }
});
