import assert from "node:assert/strict";
import { PromptEnds } from "../../src/acp/promptEnds.js";
import { Turns } from "../../src/acp/turns.js";
import type { SessionEvent } from "../../src/core/session/events.js";
import type { AskOutcome, LiveSession } from "../../src/core/turn/live.js";

/** A session that does what a test says, with the instants of a race in the test's hands. */
function staged() {
  const events: SessionEvent[] = [];
  const at = "2026-01-01T00:00:00.000Z";
  const now = { state: "idle", queue: [] as { ask: string; text: string }[], cancels: 0 };
  const live = {
    events,
    get state() {
      return now.state;
    },
    get queue() {
      return now.queue;
    },
    cancel: async () => {
      now.cancels++;
    },
  } as unknown as LiveSession;
  const turns = new Turns(live);
  const told: number[] = [];
  const prompts = new PromptEnds(live, turns, {
    gone: new AbortController().signal,
    report: assert.fail,
    tellQueue: (seq) => told.push(seq),
  });
  const tell = (body: object): void => {
    const event = { seq: events.length + 1, at, ...body } as SessionEvent;
    events.push(event);
    turns.tell(event);
  };
  let answer: (outcome: AskOutcome) => void = () => {};
  const asking = prompts.ofAsk(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
    new AbortController().signal,
  );
  return { now, turns, prompts, told, tell, asking, answer: (one: AskOutcome) => answer(one) };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a prompt and a cancel at the same instant", () => {
  it("cancels the turn that a prompt of before the cancel starts after it", async () => {
    const { now, prompts, tell, asking, answer } = staged();
    prompts.cancelled();
    // The turn before ended by itself meanwhile, so that the queue sent this one on.
    now.state = "running";
    answer({ outcome: "queued", ask: "a" });
    await settle();
    tell({ type: "turn_started", turn: "t", text: "Ask", model: "m", ask: "a" });
    await settle();
    assert.equal(now.cancels, 1);
    now.state = "idle";
    tell({ type: "turn_ended", turn: "t", reason: "cancelled" });
    assert.deepEqual(await asking, { stopReason: "cancelled" });
  });

  it("leaves the turn of a prompt of after the cancel alone", async () => {
    const { now, tell, asking, answer } = staged();
    now.state = "running";
    answer({ outcome: "queued", ask: "a" });
    await settle();
    tell({ type: "turn_started", turn: "t", text: "Ask", model: "m", ask: "a" });
    await settle();
    now.state = "idle";
    tell({ type: "turn_ended", turn: "t", reason: "finished" });
    assert.deepEqual([await asking, now.cancels], [{ stopReason: "end_turn" }, 0]);
  });

  it("tells of the queue where a prompt came into it after the turn's end had told of that", async () => {
    const { now, turns, told, tell, asking, answer } = staged();
    now.state = "running";
    tell({ type: "turn_ended", turn: "s", reason: "cancelled" });
    tell({ type: "ask_queued", ask: "a", text: "Ask" });
    now.queue = [{ ask: "a", text: "Ask" }];
    answer({ outcome: "queued", ask: "a" });
    await settle();
    now.state = "idle";
    turns.state();
    assert.deepEqual([await asking, told], [{ stopReason: "cancelled" }, [2]]);
  });
});
