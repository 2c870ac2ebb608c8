import assert from "node:assert/strict";
import fc from "fast-check";
import { Kept } from "../../../src/core/workspace/kept.js";
import { LineSplitter } from "../../../src/core/workspace/lines.js";
import { runs } from "./setup.js";

describe("what is kept of a stream", () => {
  const keep = (limit: number, chunks: readonly Uint8Array[]) => {
    const kept = new Kept(limit);
    for (const chunk of chunks) kept.add(chunk);
    return { ...kept.text(), total: kept.total };
  };

  it("is all of it up to the limit, however it came", () => {
    assert.deepEqual(keep(6, [Buffer.from("ab"), Buffer.from("cdef")]), {
      text: "abcdef",
      leftOut: 0,
      total: 6,
    });
    assert.deepEqual(keep(6, [Buffer.from("abcdefg")]), {
      text: "abc\n[... 1 bytes left out ...]\nefg",
      leftOut: 1,
      total: 7,
    });
  });

  it("has no half characters", () => {
    assert.deepEqual(keep(8, [Buffer.from("abc\u20ac--\u20acxyz")]), {
      text: "abc\n[... 8 bytes left out ...]\nxyz",
      leftOut: 8,
      total: 14,
    });
  });

  it("is the first and the last half of any stream, in any chunks", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 32, max: 126 }), { maxLength: 50 }), { maxLength: 12 }),
        fc.integer({ min: 2, max: 40 }),
        (parts, limit) => {
          const chunks = parts.map((part) => Buffer.from(part));
          const all = Buffer.concat(chunks).toString();
          const [head, tail] = [Math.ceil(limit / 2), Math.floor(limit / 2)];
          const left = all.length - limit;
          const text =
            left <= 0
              ? all
              : `${all.slice(0, head)}\n[... ${left} bytes left out ...]\n${all.slice(all.length - tail)}`;
          assert.equal(keep(limit, chunks).text, text);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

describe("lines of a stream", () => {
  it("come whole however they came, and of one that is too long only its two ends", () => {
    const lines: [string, string | undefined][] = [];
    const splitter = new LineSplitter(4, (line, rest) =>
      lines.push([line.toString(), rest?.toString()]),
    );
    for (const chunk of ["a", "b\nc", "\n\nabcd", "\nab", "cde", "fg\nlast"])
      splitter.add(Buffer.from(chunk));
    splitter.end();
    assert.deepEqual(lines, [
      ["ab", undefined],
      ["c", undefined],
      ["", undefined],
      ["abcd", undefined],
      ["ab", "cdefg"],
      ["last", undefined],
    ]);
  });
});
