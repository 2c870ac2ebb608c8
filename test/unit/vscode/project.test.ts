import assert from "node:assert/strict";
import type { EventOf } from "../../../src/core/session/events.js";
import { project, projectWhole } from "../../../src/vscode/project.js";

const AT = { seq: 1, at: "2026-01-01T00:00:00.000Z", turn: "t" } as const;
const HIDDEN = "a\u202eb\u200bc";
const SHOWN = "a⟦U+202E⟧b⟦U+200B⟧c";

describe("an event on its way to the panel", () => {
  const card: EventOf<"card_raised"> = {
    ...AT,
    type: "card_raised",
    card: "c1",
    call: "k1",
    tool: "write_file",
    kind: "write",
    path: `/w/${HIDDEN}`,
    relative: HIDDEN,
    given: `./${HIDDEN}`,
    argv: ["echo", HIDDEN],
    digest: null,
    proposed: "every byte",
    proposedEncoding: "utf8",
  };

  it("is a card that hides nothing in any name, and leaves the bytes behind", () => {
    const { proposed: _, ...rest } = card;
    const expected = {
      ...rest,
      path: `/w/${SHOWN}`,
      relative: SHOWN,
      given: `./${SHOWN}`,
      argv: ["echo", SHOWN],
    };
    assert.deepEqual(project(card), expected);
    assert.deepEqual(projectWhole(card), expected);
  });

  it("is an undo that hides nothing in any name", () => {
    const path = `/w/${HIDDEN}`;
    const file = { path, relative: HIDDEN, before: null, left: null, now: null };
    const started = {
      ...AT,
      type: "undo_started",
      undo: "u1",
      kind: "turn",
      of: "t",
      files: [file],
    } as unknown as EventOf<"undo_started">;
    const projected = project(started) as EventOf<"undo_started">;
    assert.deepEqual(projected.files, [{ ...file, path: `/w/${SHOWN}`, relative: SHOWN }]);
    const done = { ...AT, type: "undo_file", undo: "u1", path, outcome: "restored" } as const;
    assert.equal((project(done) as typeof done).path, `/w/${SHOWN}`);
  });

  it("is an edit without its bytes, and an answer without what a provider wants back", () => {
    const edited = { ...AT, type: "card_edited", card: "c1", digest: "d", edited: "bytes" };
    assert.equal("edited" in project(edited as unknown as EventOf<"card_edited">), false);
    const answered = { ...AT, type: "model_answered", text: "hi", calls: [], extra: { a: 1 } };
    assert.equal("extra" in project(answered as unknown as EventOf<"model_answered">), false);
  });

  it("says where a text was cut, and is whole when it is asked for whole", () => {
    const long: EventOf<"result"> = { ...AT, type: "result", text: "x".repeat(500_000) };
    const short = project(long) as EventOf<"result"> & { cut?: boolean };
    assert.equal(short.cut, true);
    assert.ok(short.text.length < long.text.length);
    assert.deepEqual(projectWhole(long), long);
  });
});
