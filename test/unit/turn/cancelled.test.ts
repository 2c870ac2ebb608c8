import assert from "node:assert/strict";
import type { LiveSession } from "../../../src/core/turn/live.js";
import { hang, makeWorld, type Step, untilState, type World } from "./support.js";
import { assertGrows, assertValid } from "./valid.js";

describe("a turn that was cancelled", () => {
  let world: World;
  let session: LiveSession;
  const start = async (...steps: Step[]): Promise<void> => {
    world.client.steps.push(...steps);
    session = await world.core().newSession(world.workspace);
  };
  beforeEach(async () => {
    world = await makeWorld();
  });
  afterEach(async () => {
    for (const request of world.client.requests) assertValid(request);
    await world.dispose();
  });

  /** Lets a turn that was told to stop go on until `over`, as a write or a command's end does. */
  const slowToStop = () => {
    let over: () => void = () => {};
    const stopped = new Promise<void>((resolve) => {
      over = resolve;
    });
    const step: Step = async (_, { signal }) => {
      await stopped;
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
