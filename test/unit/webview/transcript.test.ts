import assert from "node:assert/strict";
import type { EventBody } from "../../../src/core/session/events.js";
import { type Item, isSilent } from "../../../src/webview/items.js";
import type { ViewEvent } from "../../../src/webview/protocol.js";
import { Transcript } from "../../../src/webview/transcript.js";
import { windowOf } from "../../../src/webview/window.js";

const at = "2026-01-01T00:00:00.000Z";
const events = (...bodies: EventBody[]): ViewEvent[] =>
  bodies.map((body, seq) => ({ ...body, seq, at }));

/** A row in a few words. */
function row(item: Item): string {
  if (item.kind === "user" || item.kind === "answer" || item.kind === "result")
    return `${item.kind}: ${item.text}`;
  if (item.kind === "reads") return `reads: ${item.calls.map(({ state }) => state).join(" ")}`;
  if (item.kind !== "call") return item.kind;
  const cards = item.call.cards.map(({ event, state }) => ` ${event.card} ${state}`).join("");
  return `${item.call.tool} ${item.call.state}${cards}`;
}
const rows = (transcript: Transcript) =>
  transcript.items.filter((item) => !isSilent(item)).map(row);

const session = events(
  { type: "session_started", schema: 1, workspace: "/w" },
  { type: "turn_started", turn: "t", text: "go", model: "m" },
  {
    type: "model_answered",
    text: "I look.",
    calls: [
      { call: "1", tool: "read_file", args: {} },
      { call: "2", tool: "grep", args: {} },
      { call: "3", tool: "write_file", args: {} },
    ],
  },
  { type: "call_ended", call: "1", ok: true, result: "x" },
  { type: "call_ended", call: "2", ok: false, result: "x" },
  { type: "card_raised", card: "c1", call: "3", tool: "write_file", kind: "write", path: "/w/a" },
  { type: "card_answered", card: "c1", answer: "allow_once" },
  { type: "card_spent", card: "c1" },
  {
    type: "card_raised",
    card: "c2",
    call: "3",
    tool: "write_file",
    kind: "write",
    path: "/w/a",
    replaces: "c1",
  },
);

describe("the rows of a transcript", () => {
  it("are one for a run of reads, and have each card where it came up", () => {
    assert.deepEqual(rows(new Transcript(session)), [
      "user: go",
      "answer: I look.",
      "reads: ok failed",
      "write_file pending c1 spent c2 open",
    ]);
  });

  it("have on a card what the user made of it, until the proposal is back", () => {
    const edit = {
      type: "card_edited",
      card: "c2",
      digest: "d",
      diff: "@@\n",
      added: 1,
      removed: 0,
      bytesAfter: 2,
    } as const;
    const edited = events(...session, edit);
    const made = new Transcript(edited);
    assert.deepEqual(made.cards.get("c2")?.edit, edited.at(-1));
    const rev = made.rowOfCard("c2")?.rev ?? 0;
    made.apply({ ...edit, reverted: true, seq: edited.length, at });
    assert.equal(made.cards.get("c2")?.edit, undefined);
    assert.equal(made.rowOfCard("c2")?.rev, rev + 1);
  });

  it("are the same however the events came: at once, one by one, or twice", () => {
    const whole = rows(new Transcript(session));
    const each = new Transcript();
    for (const event of session) {
      each.apply(event);
      each.apply(event);
    }
    assert.deepEqual(rows(each), whole);
  });

  it("show live text until the whole answer takes its place", () => {
    const transcript = new Transcript(session.slice(0, 2));
    transcript.applyDelta({ type: "text", text: "I " });
    transcript.applyDelta({ type: "text", text: "lo" });
    assert.deepEqual(rows(transcript), ["user: go", "answer: I lo"]);
    for (const event of session.slice(2, 3)) transcript.apply(event);
    assert.deepEqual(rows(transcript).slice(0, 2), ["user: go", "answer: I look."]);
  });

  it("do not say a result twice that the last answer was", () => {
    const transcript = new Transcript(
      events(
        { type: "model_answered", text: "Done.", calls: [] },
        { type: "result", text: "Done." },
        { type: "turn_ended", reason: "finished" },
      ),
    );
    assert.deepEqual(rows(transcript), ["answer: Done.", "end"]);
  });

  it("keep live output to its last 64 Ki characters", () => {
    const transcript = new Transcript(session);
    for (const size of [65_536, 1])
      transcript.applyDelta({
        type: "output",
        call: "3",
        stream: "stdout",
        text: "x".repeat(size),
      });
    const item = transcript.items.at(-1);
    assert.equal(item?.kind === "call" ? item.call.output.length : 0, 65_536);
  });

  it("mark a card whose file changed, and take the mark back", () => {
    const transcript = new Transcript(session);
    const marks = () => {
      const card = transcript.cards.get("c2");
      return [card?.changed, card?.unsaved];
    };
    transcript.applyDelta({ type: "card_changed", card: "c2", unsaved: true });
    assert.deepEqual(marks(), [true, true]);
    transcript.applyDelta({ type: "card_changed", card: "c2", unsaved: false, changed: false });
    assert.deepEqual(marks(), [false, false]);
  });
});

describe("the window on the rows", () => {
  const heights = new Array<number>(10_000).fill(30);
  const sizes = (range: ReturnType<typeof windowOf>) => [
    range.from,
    range.to,
    range.above,
    range.below,
  ];

  it("draws what is near the view and leaves room for the rest", () => {
    assert.deepEqual(sizes(windowOf(heights, 0, 600)), [0, 30, 0, 9_970 * 30]);
    assert.deepEqual(sizes(windowOf(heights, 150_000, 600)), [4_989, 5_030, 149_670, 149_100]);
    assert.deepEqual(sizes(windowOf(heights, 299_400, 600)), [9_969, 10_000, 299_070, 0]);
  });

  it("draws some of it first: what is seen before what is around", () => {
    const part = (most: number) => {
      const range = windowOf(heights, 150_000, 600, most);
      assert.equal(range.above + 30 * (range.to - range.from) + range.below, 300_000);
      return [range.from, range.to, range.clipped];
    };
    assert.deepEqual(part(0), [5_020, 5_020, true]);
    assert.deepEqual(part(4), [5_016, 5_020, true]);
    assert.deepEqual(part(20), [5_000, 5_020, true]);
    assert.deepEqual(part(40), [4_989, 5_029, true]);
    assert.deepEqual(part(41), [4_989, 5_030, false]);
    assert.deepEqual(
      [0, 4, 30, 31].map((most) => {
        const { from, to, clipped } = windowOf(heights, 299_400, 600, most);
        return [from, to, clipped];
      }),
      [
        [10_000, 10_000, true],
        [9_996, 10_000, true],
        [9_970, 10_000, true],
        [9_969, 10_000, false],
      ],
    );
  });

  it("draws nothing of nothing", () => {
    assert.deepEqual(sizes(windowOf([], 0, 600)), [0, 0, 0, 0]);
  });
});
