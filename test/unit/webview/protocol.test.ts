import assert from "node:assert/strict";
import { parseFromPanel, parseToPanel } from "../../../src/webview/protocol.js";

describe("a message of the panel", () => {
  it("is taken when it is one of ours", () => {
    const answer = { type: "answer", session: "s1", card: "c1", answer: "deny", note: "not now" };
    assert.deepEqual(parseFromPanel(answer), answer);
    const ask = { type: "ask", session: null, ref: 1, text: "hello" };
    assert.deepEqual(parseFromPanel(ask), ask);
    assert.deepEqual(parseFromPanel({ type: "ready" }), { type: "ready" });
  });

  const hostile: readonly [string, unknown][] = [
    ["no object", "answer"],
    ["null", null],
    ["an array", [{ type: "ready" }]],
    ["a type that is not there", { type: "eval", code: "1" }],
    ["an answer that names no card", { type: "answer", session: "s1", answer: "allow_once" }],
    ["an empty card", { type: "answer", session: "s1", card: "", answer: "allow_once" }],
    ["an answer of its own making", { type: "answer", session: "s1", card: "c1", answer: "yes" }],
    ["true for an answer", { type: "answer", session: "s1", card: "c1", answer: true }],
    ["no answer at all", { type: "answer", session: "s1", card: "c1" }],
    [
      "a field too many",
      { type: "answer", session: "s1", card: "c1", answer: "deny", surface: "lens" },
    ],
    [
      "a text shown that is no digest",
      { type: "answer", session: "s1", card: "c1", answer: "allow_once", shown: "A".repeat(64) },
    ],
    ["a command of VS Code's", { type: "command", command: "workbench.action.quit" }],
    ["a command of ours that answers", { type: "command", command: "countersign.approveEdit" }],
    ["the answering command by its short name", { type: "command", command: "approveEdit" }],
    ["a session that is an object", { type: "cancel", session: { toString: "s1" } }],
    ["an id of 201 characters", { type: "cancel", session: "s".repeat(201) }],
    [
      "a text of more than a million",
      { type: "ask", session: null, ref: 1, text: "x".repeat(1_000_001) },
    ],
    ["a line that is no number", { type: "openFile", session: "s", path: "a", line: "1" }],
    ["line 0", { type: "openFile", session: "s", path: "a", line: 0 }],
    ["a path of 4,097 characters", { type: "openFile", session: "s", path: "a".repeat(4_097) }],
    ["a part of a number", { type: "whole", session: "s", seq: 1.5 }],
  ];
  for (const [what, message] of hostile)
    it(`is dropped when it is ${what}`, () => {
      assert.equal(parseFromPanel(message), undefined);
    });

  it("is taken up to its limits", () => {
    const id = "s".repeat(200);
    assert.deepEqual(parseFromPanel({ type: "cancel", session: id }), {
      type: "cancel",
      session: id,
    });
    const yes = { type: "answer", session: "s", card: "c", answer: "allow_once" };
    assert.deepEqual(parseFromPanel(yes), yes);
    const edited = { ...yes, shown: "0a".repeat(32) };
    assert.deepEqual(parseFromPanel(edited), edited);
    const text = "x".repeat(1_000_000);
    const ask = { type: "ask", session: null, ref: 1, text };
    assert.deepEqual(parseFromPanel(ask), ask);
    const file = { type: "openFile", session: "s", path: "a".repeat(4_096), line: 1 };
    assert.deepEqual(parseFromPanel(file), file);
  });
});

describe("a message of the host", () => {
  it("is dropped when its shape is not known", () => {
    assert.equal(parseToPanel({ type: "snapshot" }), undefined);
    assert.equal(parseToPanel({ type: "batch", n: "1", parts: [] }), undefined);
    assert.equal(
      parseToPanel({ type: "batch", n: 1, parts: [{ event: { type: "result" } }] }),
      undefined,
    );
    assert.equal(parseToPanel("say"), undefined);
  });

  it("is taken with its events and deltas in order", () => {
    const batch = {
      type: "batch",
      n: 3,
      parts: [
        { delta: { type: "text", text: "a" } },
        { event: { seq: 7, at: "2026-01-01T00:00:00.000Z", type: "result", text: "done" } },
      ],
    };
    assert.deepEqual(parseToPanel(batch), batch);
  });
});
