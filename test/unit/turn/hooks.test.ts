import assert from "node:assert/strict";
import { once } from "node:events";
import { watch } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HOOK_BLOCKS, HOOK_OUTPUT_BYTES } from "../../../src/core/limits.js";
import type { EventOf } from "../../../src/core/session/events.js";
import type { LiveSession, StopHook } from "../../../src/core/turn/live.js";
import {
  askAndWait,
  call,
  calling,
  makeWorld,
  results,
  type Step,
  types,
  untilState,
  type World,
} from "./support.js";
import { closeValid } from "./valid.js";

function hookEnds(session: LiveSession): EventOf<"hook_ended">[] {
  return session.events.filter((event) => event.type === "hook_ended");
}

describe("Stop hooks", () => {
  let world: World;
  let session: LiveSession;
  const start = async (stopHooks: readonly StopHook[], ...steps: Step[]): Promise<void> => {
    world = await makeWorld(steps);
    world.settings = { trusted: true, stopHooks };
    session = await world.core().newSession(world.workspace);
  };
  afterEach(() => closeValid(world));
  const finish = (): Step => calling(call("finish", { result: "done" }));
  const last = (): EventOf<"turn_ended"> => {
    const event = session.events.at(-1);
    assert.ok(event?.type === "turn_ended");
    return event;
  };

  it("hear of the session, the turn, the result and the changed paths", async () => {
    await start(
      [{ argv: ["sh", "-c", "cat > heard"] }],
      calling(call("write_file", { path: "a", content: "x" })),
      finish(),
    );
    session.onEvent((event) => {
      if (event.type === "card_raised") {
        void session.answerCard(event.card, "allow_once", { surface: "test" });
      }
    });
    await askAndWait(session, "go");
    const turn = session.events[1]?.turn;
    assert.deepEqual(JSON.parse(await readFile(join(world.workspace, "heard"), "utf8")), {
      session: session.id,
      turn,
      workspace: world.workspace,
      result: "done",
      changed: [join(world.workspace, "a")],
      blocked: false,
    });
    assert.equal(last().reason, "finished");
  });

  it("that block give their stderr to the model, and are told that they have", async () => {
    const script = "grep -q '\"blocked\":true' && exit 0; echo tests fail >&2; echo out; exit 2";
    await start([{ argv: ["sh", "-c", script] }], finish(), finish());
    await askAndWait(session, "go");
    assert.deepEqual(
      hookEnds(session).map(({ exit, output }) => [exit, output]),
      [
        [2, "tests fail"],
        [0, undefined],
      ],
    );
    assert.match(
      results(session)[0]?.result ?? "",
      /blocked the end[\s\S]*exit 2[\s\S]*tests fail$/,
    );
    assert.deepEqual(
      results(session).map(({ ok }) => ok),
      [false, true],
    );
    assert.equal(last().reason, "finished");
  });

  it("that block an answer without calls speak to the model as well", async () => {
    const script = "grep -q '\"blocked\":true' && exit 0; echo not yet >&2; exit 1";
    await start([{ argv: ["sh", "-c", script] }], { text: "Done." }, { text: "Now done." });
    await askAndWait(session, "go");
    const said = world.client.requests[1]?.messages.at(-1);
    assert.ok(said?.role === "user");
    assert.match(said.text, /not yet$/);
    assert.equal(last().reason, "finished");
  });

  it("that always block end the turn after five times, and say so", async () => {
    await start(
      [{ argv: ["false"] }],
      ...Array.from({ length: HOOK_BLOCKS * 2 }, (_, index) =>
        index % 2 === 0 ? finish() : { text: "done?" },
      ),
    );
    await askAndWait(session, "go");
    assert.equal(hookEnds(session).length, HOOK_BLOCKS);
    assert.equal(world.client.requests.length, HOOK_BLOCKS);
    assert.equal(last().reason, "limit");
    assert.match(last().message ?? "", /blocked .* 5 times/);
  });

  it("that block four times let the fifth end it", async () => {
    await start(
      [{ argv: ["sh", "-c", "echo x >> n; test $(wc -l < n) -ge 5"] }],
      ...Array.from({ length: HOOK_BLOCKS }, finish),
    );
    await askAndWait(session, "go");
    assert.equal(last().reason, "finished");
  });

  it("that are missing or have no argv say that they could not be started", async () => {
    await start([{ argv: ["no-such-program-x"] }], finish(), { text: "x" });
    world.settings = {
      trusted: true,
      get stopHooks() {
        return hookEnds(session).length === 0
          ? [{ argv: ["no-such-program-x"] }]
          : hookEnds(session).length === 1
            ? [{ argv: [] }]
            : [];
      },
    };
    await askAndWait(session, "go");
    assert.deepEqual(
      hookEnds(session).map(({ exit }) => exit),
      [null, null],
    );
    for (const { fault } of hookEnds(session)) assert.match(fault ?? "", /could not be started/);
    assert.match(results(session)[0]?.result ?? "", /gave no verdict: it could not be started/);
  });

  it("that hang are ended at their time limit, with all they started", async () => {
    await start([{ argv: ["sh", "-c", "sleep 300 & sleep 300"], timeout: 1 }], finish());
    const began = performance.now();
    let first = true;
    session.onEvent((event) => {
      if (event.type === "hook_ended" && first) {
        first = false;
        world.settings = { trusted: true, stopHooks: [] };
      }
    });
    await askAndWait(session, "go");
    assert.ok(performance.now() - began < 6_000);
    assert.match(hookEnds(session)[0]?.fault ?? "", /timed out after 1 s/);
    assert.match(results(session)[0]?.result ?? "", /no verdict: it timed out/);
  });

  it("have 60 s where nothing else is said", async () => {
    await start([{ argv: ["sh", "-c", "exec sleep 300"] }], finish());
    const waits: (number | undefined)[] = [];
    const own = globalThis.setTimeout;
    globalThis.setTimeout = ((run: () => void, ms?: number) => {
      if (ms !== 60_000) return own(run, ms);
      waits.push(ms);
      world.settings = { trusted: true, stopHooks: [] };
      return own(run, 0);
    }) as typeof setTimeout;
    try {
      await askAndWait(session, "go");
    } finally {
      globalThis.setTimeout = own;
    }
    assert.match(hookEnds(session)[0]?.fault ?? "", /timed out after 60 s/);
    assert.deepEqual(waits, [60_000]);
  });

  it("whose child holds the pipe are over when they are", async () => {
    await start([{ argv: ["sh", "-c", "sleep 300 & exit 0"], timeout: 30 }], finish());
    const began = performance.now();
    await askAndWait(session, "go");
    assert.ok(performance.now() - began < 6_000);
    assert.equal(last().reason, "finished");
  });

  it("that flood are cut, and memory with them", async () => {
    await start(
      [{ argv: ["sh", "-c", "yes 0123456789 | head -c 50000000 >&2; exit 1"] }],
      finish(),
      { text: "x" },
    );
    session.onEvent((event) => {
      if (event.type === "hook_ended") world.settings = { trusted: true, stopHooks: [] };
    });
    await askAndWait(session, "go");
    const output = hookEnds(session)[0]?.output ?? "";
    assert.ok(output.length > HOOK_OUTPUT_BYTES - 1024 && output.length < HOOK_OUTPUT_BYTES + 1024);
  });

  it("that never read their input are heard all the same", async () => {
    await start([{ argv: ["true"] }], calling(call("finish", { result: "x".repeat(200_000) })));
    await askAndWait(session, "go");
    assert.equal(last().reason, "finished");
  });

  it("are ended by a cancel, and nothing starts again", async () => {
    await start([{ argv: ["sh", "-c", "touch up; sleep 300"] }], finish());
    const watcher = watch(world.workspace);
    const up = once(watcher, "change");
    await session.ask("go");
    assert.equal((await up)[1], "up");
    watcher.close();
    await session.cancel();
    assert.equal(session.state, "idle");
    assert.equal(last().reason, "cancelled");
    assert.deepEqual(results(session), [{ ok: false, result: "cancelled" }]);
    assert.equal(world.client.requests.length, 1);
  });

  it("get nothing of the agent's keys", async () => {
    world = await makeWorld([finish()]);
    world.settings = { trusted: true, stopHooks: [{ argv: ["sh", "-c", "env > seen"] }] };
    const core = world.core({ env: { PATH: process.env.PATH, OPENAI_API_KEY: "sk-secret" } });
    session = await core.newSession(world.workspace);
    await askAndWait(session, "go");
    assert.doesNotMatch(await readFile(join(world.workspace, "seen"), "utf8"), /sk-secret/);
  });

  it("are as they are now, not as they were when the session began", async () => {
    await start([], finish());
    await writeFile(join(world.workspace, "x"), "");
    world.settings = { trusted: true, stopHooks: [{ argv: ["true"] }, { argv: ["true"] }] };
    await askAndWait(session, "go");
    assert.equal(hookEnds(session).length, 2);
    await untilState(session, "idle");
    assert.equal(types(session).at(-1), "turn_ended");
  });
});
