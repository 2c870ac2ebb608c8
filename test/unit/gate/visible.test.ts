import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { decodeBytes } from "../../../src/core/gate/decode.js";
import { hasBidi, visible } from "../../../src/core/gate/visible.js";
import { revealText, textBytes } from "./reveal.js";

describe("what a person cannot see", () => {
  it("is escaped, and what they can see is left alone", () => {
    const shown: [string, string][] = [
      ["plain text, ünïcödé, 中文, 😀 and \\u202e", "plain text, ünïcödé, 中文, 😀 and \\u202e"],
      ["src\u202egnp.tac", "src⟦U+202E⟧gnp.tac"],
      ["a\u200b.txt", "a⟦U+200B⟧.txt"],
      ["\ufeffhello", "⟦BOM⟧hello"],
      ["a\0b", "a⟦NUL⟧b"],
      ["\x1b[31m", "⟦ESC⟧[31m"],
      ["a\tb\r\n", "a⟦TAB⟧b⟦CR⟧⟦LF⟧"],
      ["no\u00a0break", "no⟦U+00A0⟧break"],
      ["a\u2028b\u2029c", "a⟦U+2028⟧b⟦U+2029⟧c"],
      ["so\u00adft", "so⟦U+00AD⟧ft"],
      ["❤\ufe0f", "❤⟦U+FE0F⟧"],
      ["\u{e0041}", "⟦U+E0041⟧"],
      ["\u3164\u115f\u2800", "⟦U+3164⟧⟦U+115F⟧⟦U+2800⟧"],
      ["\u{1d159}\u{16fe4}", "⟦U+1D159⟧⟦U+16FE4⟧"],
      ["\u{13441}\u{13442}\ufffc", "⟦U+13441⟧⟦U+13442⟧⟦U+FFFC⟧"],
      ["\ue000\uffff", "⟦U+E000⟧⟦U+FFFF⟧"],
      ["half \ud83d", "half ⟦U+D83D⟧"],
      ["\x7f\x85", "⟦U+007F⟧⟦U+0085⟧"],
    ];
    deepStrictEqual(
      shown.map(([text]) => [text, visible(text)]),
      shown,
    );
  });

  it("cannot be imitated: the bracket of an escape is escaped itself", () => {
    strictEqual(visible("⟦U+202E⟧"), "⟦U+27E6⟧U+202E⟧");
  });

  it("is counted from four in a row on, so that a long run hides nothing behind it", () => {
    strictEqual(visible("ok\n\n\n; evil"), "ok⟦LF⟧⟦LF⟧⟦LF⟧; evil");
    strictEqual(visible("ok\n\n\n\n; evil"), "ok⟦LF×4⟧; evil");
    strictEqual(visible(`ok${"\n".repeat(200)}; evil`), "ok⟦LF×200⟧; evil");
    strictEqual(visible("\u{e0041}".repeat(5)), "⟦U+E0041×5⟧");
  });

  it("may be kept, one character at a time", () => {
    strictEqual(visible("a\tb\nc\r", { keep: "\t" }), "a\tb⟦LF⟧c⟦CR⟧");
    strictEqual(visible("a\tb\nc\r", { keep: "\n\t" }), "a\tb\nc⟦CR⟧");
  });

  it("shows a byte that is no UTF-8 as that byte, only where the text came from bytes", () => {
    const text = decodeBytes(Buffer.from("caf\xe9 \xff", "latin1"));
    strictEqual(visible(text, { bytes: true }), "caf⟦0xE9⟧ ⟦0xFF⟧");
    strictEqual(visible("\udce9"), "⟦U+DCE9⟧");
  });

  it("never comes out the same for two texts, nor hidden", () => {
    const unit = fc.oneof(
      fc.constantFrom(..."ab \\⟦⟧×U+0x1\n\t\r\0\u202e\u200b\ufeff\ue000\ud800\udcff"),
      fc.constant("\u{e0041}"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    );
    const text = fc.array(unit, { maxLength: 40 }).map((units) => units.join(""));
    fc.assert(
      fc.property(text, (given) => {
        const shown = visible(given);
        strictEqual(revealText(shown), given);
        strictEqual(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(shown), false);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is told apart where it changes the direction of text", () => {
    deepStrictEqual(["a\u202eb", "a\u2066b", "a\u200bb", "שלום"].map(hasBidi), [
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("bytes as text", () => {
  it("lose nothing, whatever they are", () => {
    const chunk = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc.string({ unit: "binary", maxLength: 4 }).map((text) => new TextEncoder().encode(text)),
      fc.constantFrom(
        ...[
          [0xef, 0xbb, 0xbf],
          [0xed, 0xa0, 0x80],
          [0xf4, 0x90, 0x80, 0x80],
          [0xc0, 0x80],
          [0xe0, 0x9f, 0xbf],
        ].map((list) => Uint8Array.from(list)),
      ),
    );
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), (chunks) => {
        const given = Buffer.concat(chunks);
        deepStrictEqual(textBytes(decodeBytes(given)), given);
      }),
      { numRuns: 3_000 },
    );
  });

  it("are read as UTF-8 wherever they are UTF-8, also beside bytes that are not", () => {
    strictEqual(decodeBytes(Buffer.from("é€😀")), "é€😀");
    strictEqual(
      decodeBytes(Buffer.concat([Buffer.from("é€😀"), Buffer.from([0xe9])])),
      "é€😀\udce9",
    );
  });
});
