import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import type { LiveSession } from "../../../src/core/turn/live.js";
import { gate } from "../../support/gate.js";
import {
  askAndWait,
  call,
  calling,
  ends,
  eventOf,
  hang,
  makeWorld,
  results,
  type Step,
  types,
  untilState,
  type World,
} from "./support.js";
import { assertGrows, closeValid } from "./valid.js";

const surface = "test" as const;

describe("a turn that was cancelled", () => {
  let world: World;
  let session: LiveSession;
  const start = async (...steps: Step[]): Promise<void> => {
    session = await world.start(...steps);
  };
  beforeEach(async () => {
    world = await makeWorld();
  });
  afterEach(() => closeValid(world));

  it("in its stream is over at once; what is queued waits to be sent on", async () => {
    await start(hang, { text: "second" }, { text: "third" });
    const heard = world.client.nextRequest();
    await session.ask("one");
    await session.ask("two");
    await heard;
    await session.cancel();
    assert.equal(session.state, "idle");
    assert.deepEqual(ends(session), [{ reason: "cancelled" }]);
    assert.equal(session.queue.length, 1);
    assert.equal((await session.goOn()).outcome, "started");
    await untilState(session, "idle");
    assert.deepEqual(ends(session), [{ reason: "cancelled" }, { reason: "finished" }]);
    assert.deepEqual(session.queue, []);
    assertGrows(world.client.requests);
  });

  it("right after the ask has asked nothing of the model", async () => {
    for (let round = 0; round < 20; round++) {
      await start();
      const asking = session.ask("one");
      await session.cancel();
      const outcome = await asking;
      assert.equal(session.state, "idle");
      const last = ends(session).at(-1)?.reason;
      assert.ok(outcome.outcome === "refused" ? last === undefined : last === "cancelled");
    }
    assert.deepEqual(world.client.requests, []);
  });

  it("at a card withdraws it, and gives every call a result", async () => {
    await start(
      calling(
        call("run", { argv: ["touch", "one"] }),
        call("run", { argv: ["touch", "two"] }),
        call("list_dir", {}),
      ),
      { text: "hi" },
    );
    await session.ask("go");
    await untilState(session, "waiting");
    const { card } = await eventOf(session, "card_raised");
    await session.cancel();
    assert.deepEqual(
      results(session).map(({ result }) => result),
      ["cancelled", "cancelled", "cancelled"],
    );
    assert.deepEqual(types(session).slice(-5), [
      "card_withdrawn",
      "call_ended",
      "call_ended",
      "call_ended",
      "turn_ended",
    ]);
    assert.deepEqual(session.openCards, []);
    assert.equal((await session.answerCard(card, "allow_once", { surface })).outcome, "gone");
    await askAndWait(session, "hi");
    assert.deepEqual(await readdir(world.workspace), []);
  });

  it("in a command tells the model that it ran, and what it printed", async () => {
    await start(
      calling(call("run", { argv: ["sh", "-c", "echo begun; sleep 60"] }), call("list_dir", {})),
      { text: "ok" },
    );
    session.onEvent((event) => {
      if (event.type === "card_raised") {
        void session.answerCard(event.card, "allow_once", { surface });
      }
    });
    const printed = new Promise<void>((resolve) => {
      session.onDelta((delta) => {
        if (delta.type === "output") resolve();
      });
    });
    await session.ask("go");
    await printed;
    await session.cancel();
    const [first, second] = results(session);
    assert.match(first?.result ?? "", /had run for[\s\S]*begun/);
    assert.doesNotMatch(first?.result ?? "", /denied/i);
    assert.equal(second?.result, "cancelled");
    await askAndWait(session, "again");
  });

  it("at a question withdraws it", async () => {
    await start(calling(call("ask", { question: "Which?" })));
    await session.ask("go");
    await untilState(session, "waiting");
    await session.cancel();
    assert.equal(session.openQuestion, undefined);
    assert.deepEqual(results(session), [{ ok: false, result: "cancelled" }]);
    assert.equal(session.state, "idle");
  });

  const waits: readonly (readonly [string, Step])[] = [
    ["a card", calling(call("run", { argv: ["touch", "one"] }))],
    ["a question", calling(call("ask", { question: "Which?" }))],
  ];
  for (const [name, step] of waits) {
    it(`at ${name} is followed by what is asked at the same instant`, async () => {
      await start(step, { text: "now" });
      await session.ask("one");
      await untilState(session, "waiting");
      const cancelled = session.cancel();
      assert.equal(session.openQuestion, undefined);
      assert.deepEqual(session.openCards, []);
      const outcome = await session.ask("instead");
      assert.equal(outcome.outcome, "queued");
      await cancelled;
      await untilState(session, "idle");
      assert.deepEqual(asked(), ["one", "instead"]);
    });
  }

  /** Lets a turn that was told to stop go on until `over`, as a write or a command's end does. */
  const slowToStop = () => {
    const { held, open: over } = gate();
    const step: Step = async (_, { signal }) => {
      await held;
      throw signal.reason;
    };
    return { over, step };
  };
  const asked = () =>
    session.events.flatMap((event) => (event.type === "turn_started" ? [event.text] : []));

  it("is followed by what is asked while it stops, before what was queued", async () => {
    const { over, step } = slowToStop();
    await start(step, { text: "now" }, { text: "then" }, { text: "last" });
    const heard = world.client.nextRequest();
    await session.ask("one");
    await session.ask("queued");
    await heard;
    const cancelled = session.cancel();
    const outcomes = [await session.ask("instead"), await session.ask("and then")];
    assert.deepEqual(
      outcomes.map(({ outcome }) => outcome),
      ["queued", "queued"],
    );
    over();
    await cancelled;
    await untilState(session, "idle");
    assert.deepEqual(asked(), ["one", "instead", "queued", "and then"]);
    assert.deepEqual(session.queue, []);
    assertGrows(world.client.requests);
  });

  it("is followed by what is written to the queue as it ends", async () => {
    for (let round = 0; round < 20; round++) {
      await start(hang, { text: "now" });
      const heard = world.client.nextRequest();
      await session.ask("one");
      await heard;
      const cancelled = session.cancel();
      const outcome = await session.ask("instead");
      assert.equal(outcome.outcome, "queued");
      await cancelled;
      await untilState(session, "idle");
      assert.deepEqual([asked(), session.queue], [["one", "instead"], []]);
    }
  });

  it("is not followed by what was taken back, or by what a second cancel found", async () => {
    const { over, step } = slowToStop();
    await start(step, { text: "third" });
    const heard = world.client.nextRequest();
    await session.ask("one");
    await heard;
    const cancels = [session.cancel()];
    const back = await session.ask("back");
    assert.equal(await session.withdraw(back.outcome === "queued" ? back.ask : ""), true);
    const second = session.ask("second");
    cancels.push(session.cancel());
    await second;
    over();
    await Promise.all(cancels);
    assert.equal(session.state, "idle");
    assert.deepEqual(asked(), ["one"]);
    assert.deepEqual(
      session.queue.map(({ text }) => text),
      ["second"],
    );
    assert.equal((await session.goOn()).outcome, "started");
    await untilState(session, "idle");
    assert.deepEqual(asked(), ["one", "second"]);
  });
});
