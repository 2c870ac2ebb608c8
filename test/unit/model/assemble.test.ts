import assert from "node:assert/strict";
import fc from "fast-check";
import {
  CallAssembler,
  type CallPiece,
  freshId,
  parseArgs,
} from "../../../src/core/model/assemble.js";

const RUNS = Number(process.env.COUNTERSIGN_FUZZ_RUNS ?? 400);
const SEED = Number(process.env.COUNTERSIGN_FUZZ_SEED ?? Date.now() % 2 ** 31);

/** How a server numbers and names the pieces of calls. */
const styles = {
  "by the book": { index: 0, id: "first", name: "first" },
  "without index": { index: undefined, id: "first", name: "first" },
  "index from one": { index: 1, id: "first", name: "first" },
  "every index the same": { index: "same", id: "all", name: "first" },
  "index reused, id once": { index: "same", id: "first", name: "first" },
  "without id": { index: 0, id: "none", name: "first" },
  "empty ids": { index: 0, id: "empty", name: "first" },
  "id and name every time": { index: 0, id: "all", name: "all" },
  "no index, id every time": { index: undefined, id: "all", name: "all" },
  "neither index nor id": { index: undefined, id: "none", name: "first" },
} as const;

const call = fc.record({
  id: fc.stringMatching(/^call_[a-z0-9]{6}$/),
  tool: fc.constantFrom("read_file", "grep", "list_dir", "run", "write_file"),
  args: fc.dictionary(
    fc.constantFrom("path", "pattern", "content", "__proto__", "é"),
    fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.array(fc.string()), fc.constant(null)),
  ),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
});

function split(text: string, cuts: readonly number[]): string[] {
  const places = cuts.map((cut) => Math.floor(cut * text.length)).sort((a, b) => a - b);
  return [0, ...places].map((place, at) => text.slice(place, places[at] ?? text.length));
}

describe("calls put together from a stream", () => {
  for (const [name, style] of Object.entries(styles)) {
    it(`come out as they went in: ${name}`, () => {
      fc.assert(
        fc.property(
          fc.uniqueArray(call, { selector: ({ id }) => id, minLength: 1, maxLength: 4 }),
          (calls) => {
            const assembler = new CallAssembler();
            calls.forEach(({ id, tool, args, cuts }, at) => {
              split(JSON.stringify(args), cuts).forEach((text, part) => {
                const first = part === 0;
                const piece: CallPiece = {
                  index:
                    style.index === "same"
                      ? 0
                      : style.index === undefined
                        ? undefined
                        : style.index + at,
                  id:
                    style.id === "none"
                      ? undefined
                      : style.id === "empty"
                        ? ""
                        : first || style.id === "all"
                          ? id
                          : undefined,
                  name: first || style.name === "all" ? tool : undefined,
                  args: text,
                };
                assembler.add(piece);
              });
            });
            const { calls: made } = assembler.finish(new Set(), false);
            const own = style.id === "none" || style.id === "empty";
            assert.deepEqual(
              made.map(({ call: id, ...rest }) => ({ ...(own ? {} : { id }), ...rest })),
              calls.map(({ id, tool, args }) => ({
                ...(own ? {} : { id }),
                tool,
                args: JSON.parse(JSON.stringify(args)) as unknown,
              })),
            );
          },
        ),
        { numRuns: RUNS, seed: SEED },
      );
    });
  }

  it("keep several calls apart whose pieces are interleaved", () => {
    const assembler = new CallAssembler();
    assembler.add({ index: 0, id: "a", name: "run", args: '{"argv":' });
    assembler.add({ index: 1, id: "b", name: "run", args: '{"argv":' });
    assembler.add({ index: 0, args: '["x"]}' });
    assembler.add({ index: 1, args: '["y"]}' });
    assert.deepEqual(assembler.finish(new Set(), false).calls, [
      { call: "a", tool: "run", args: { argv: ["x"] } },
      { call: "b", tool: "run", args: { argv: ["y"] } },
    ]);
  });

  it("take a name in fragments, growing, or again", () => {
    for (const names of [
      ["read_", "file"],
      ["read", "read_file"],
      ["read_file", "read_file"],
    ]) {
      const assembler = new CallAssembler();
      for (const name of names) assembler.add({ index: 0, id: "a", name });
      assembler.add({ index: 0, args: "{}" });
      assert.deepEqual(assembler.finish(new Set(), false).calls, [
        { call: "a", tool: "read_file", args: {} },
      ]);
    }
  });

  it("make no call of a piece that holds nothing", () => {
    const assembler = new CallAssembler();
    assembler.add({ index: 0 });
    assembler.add({ index: 0, id: "" });
    assembler.add({ index: 1, id: "a", name: "run", args: "{}" });
    assert.equal(assembler.begun, true);
    assert.deepEqual(assembler.finish(new Set(), false), {
      calls: [{ call: "a", tool: "run", args: {} }],
      ids: [undefined, "a"],
    });
  });

  it("never take an id that the session has used, whoever gave it", () => {
    const assembler = new CallAssembler();
    assembler.add({ index: 0, id: "call_0", name: "run", args: "{}" });
    assembler.add({ index: 1, id: "call_0", name: "run", args: "{}" });
    const ids = assembler.finish(new Set(["call_0"]), false).calls.map(({ call: id }) => id);
    assert.equal(new Set([...ids, "call_0"]).size, 3);
    assert.match(freshId("", new Set()), /^[A-Za-z0-9]{9}$/);
    assert.equal(freshId("theirs", new Set(["other"])), "theirs");
  });

  it("cost what they weigh, though a name comes with each of many pieces", () => {
    const content = JSON.stringify({ content: "}".repeat(256 * 1024) });
    const assembler = new CallAssembler();
    const started = performance.now();
    for (let at = 0; at < content.length; at += 4) {
      assembler.add({ index: 0, id: "a", name: "write_file", args: content.slice(at, at + 4) });
    }
    assert.equal(assembler.finish(new Set(), false).calls.length, 1);
    assert.ok(performance.now() - started < 2_000);
  });

  it("read no arguments as none, and as a fault where the answer was cut", () => {
    assert.deepEqual(parseArgs("", false), { args: {} });
    assert.deepEqual(parseArgs(" \n", false), { args: {} });
    assert.deepEqual(parseArgs("", true), { args: null, invalid: "" });
    assert.deepEqual(parseArgs("{}", true), { args: {} });
    assert.deepEqual(parseArgs('{"a":1', false), { args: null, invalid: '{"a":1' });
    assert.deepEqual(parseArgs("[]", false), { args: null, invalid: "[]" });
  });
});
