import assert from "node:assert/strict";
import fc from "fast-check";
import { WRITE_BYTES } from "../../../src/core/limits.js";
import { replaceBytes } from "../../../src/core/workspace/replace.js";
import { ToolError } from "../../../src/core/workspace/types.js";
import { runs } from "./setup.js";

/** The file after it, as Latin-1 text (one character a byte), or the error. */
function replaced(file: string, old: string, next: string, all = false): string {
  const made = replaceBytes(Buffer.from(file, "latin1"), old, next, all);
  return made instanceof ToolError
    ? `error: ${made.message}`
    : Buffer.from(made.bytes).toString("latin1");
}

const utf8 = (text: string) => Buffer.from(text).toString("latin1");

describe("replacing text", () => {
  it("takes the new text literally", () => {
    assert.equal(
      replaced("PID=OLD\ntail\n", "OLD", "$$ $& $` $' $1 \\n"),
      "PID=$$ $& $` $' $1 \\n\ntail\n",
    );
  });

  it("takes the old text literally", () => {
    assert.equal(replaced("a.c abc a*c", "a*c", "x"), "a.c abc x");
    assert.equal(replaced("a\\nb", "\\n", "-"), "a-b");
  });

  it("leaves every other byte as it was", () => {
    assert.equal(
      replaced("const x = 1;\n// caf\xe9\n", "x = 1", "x = 2"),
      "const x = 2;\n// caf\xe9\n",
    );
    assert.equal(replaced("a\nb", "b", "c"), "a\nc");
    assert.equal(replaced("a\0b\xff", "a", "c"), "c\0b\xff");
  });

  it("may take all there is, and may give nothing", () => {
    assert.equal(replaced("a\n", "a\n", ""), "");
    assert.equal(replaced("aXb", "X", ""), "ab");
  });

  it("says so where there is nothing to do", () => {
    assert.match(replaced("abc\n", "", "X"), /^error: old is empty/);
    assert.match(replaced("", "", "X"), /^error: old is empty/);
    assert.match(replaced("a\n", "a", "a"), /^error: old and new are identical/);
    assert.match(replaced("a\r\nb", "a\r\nb", "a\nb"), /^error: The replacement changes nothing/);
    assert.match(replaced("a", "a", "\ud800"), /^error: old and new must be valid text/);
  });
});

describe("old text that is there more than once", () => {
  it("is an error with the count and the lines", () => {
    assert.equal(
      replaced("a=1\nb\na=1\n", "a=1", "a=2"),
      "error: old was found 2 times, on lines 1, 3. Give more of the text around the one that is meant, or set all to replace each.",
    );
    assert.match(replaced("x\n".repeat(30), "x", "y"), /found 30 times, .*19, 20, and 10 more/);
  });

  it("is replaced everywhere with all", () => {
    assert.equal(replaced("a=1\nb\na=1\n", "a=1", "a=2", true), "a=2\nb\na=2\n");
    assert.equal(replaced("aaaa", "aa", "b", true), "bb");
    assert.equal(replaced("abab", "ab", "abab", true), "abababab");
  });

  it("counts where it overlaps itself, since the result would differ", () => {
    assert.match(replaced("aaa", "aa", "b"), /found 2 times, on lines 1/);
    assert.match(replaced("\r\n\r\n\r\n", "\n\n", "x"), /found 2 times, on lines 1, 2/);
  });

  it("counts with LF and with CRLF together", () => {
    assert.match(replaced("a\nb\r\na\r\nb\n", "a\nb", "x"), /found 2 times, on lines 1, 3/);
    assert.equal(replaced("a\nb\r\na\r\nb\n", "a\nb", "x\ny", true), "x\ny\r\nx\r\ny\n");
  });
});

describe("line endings", () => {
  it("of a CRLF file stay CRLF", () => {
    const file = "one\r\ntwo\r\nthree\r\n";
    assert.equal(replaced(file, "two", "TWO"), "one\r\nTWO\r\nthree\r\n");
    assert.equal(replaced(file, "one\ntwo", "1\n2"), "1\r\n2\r\nthree\r\n");
    assert.equal(replaced(file, "one\r\ntwo", "1\n2"), "1\r\n2\r\nthree\r\n");
    assert.equal(replaced(file, "one\ntwo", "1\r\n2"), "1\r\n2\r\nthree\r\n");
    assert.equal(replaced(file, "two", "2\n2.5"), "one\r\n2\r\n2.5\r\nthree\r\n");
    assert.equal(replaced(file, "one\n", "0\n1\n2\n"), "0\r\n1\r\n2\r\ntwo\r\nthree\r\n");
    assert.equal(replaced(file, "\nthree", ""), "one\r\ntwo\r\n");
    assert.equal(replaced(file, "three\n", "3\n4\n"), "one\r\ntwo\r\n3\r\n4\r\n");
    assert.equal(replaced("one\r\ntwo", "two", "2\n3"), "one\r\n2\r\n3");
  });

  it("of an LF file stay LF", () => {
    assert.equal(replaced("a\nb\n", "a\nb", "1\n2\n3"), "1\n2\n3\n");
    assert.equal(replaced("a", "a", "1\n2"), "1\n2");
  });

  it("of lines that were not changed stay theirs in a mixed file", () => {
    assert.equal(replaced("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nB\nc\nd"), "a\r\nB\nc\r\nd\n");
    assert.equal(replaced("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nc\nd"), "a\r\nc\r\nd\n");
    assert.equal(replaced("a\r\nb\nc\r\nd\n", "b", "B"), "a\r\nB\nc\r\nd\n");
    assert.equal(replaced("x\r\ny\nz", "y", "1\n2"), "x\r\n1\n2\nz");
  });

  it("that are a lone CR are text", () => {
    assert.equal(replaced("a\rb\r\nc", "b\nc", "1\n2"), "a\r1\r\n2");
    assert.equal(replaced("a\rb\n", "a\rb", "c\rd"), "c\rd\n");
    assert.match(replaced("a\rb", "a\nb", "x"), /with other white space or line endings/);
    assert.equal(replaced("a\r\nb", "a\r", "x"), "x\nb");
  });

  it("that are CRLF in old are only CRLF in the file", () => {
    assert.match(replaced("a\nb\n", "a\r\nb", "x"), /^error: old was not found as given, but/);
  });
});

describe("a byte order mark", () => {
  const mark = "\xef\xbb\xbf";
  it("stays one", () => {
    assert.equal(replaced(`${mark}hello\n`, "hello", "hello2"), `${mark}hello2\n`);
    assert.equal(replaced(`${mark}hello\n`, "hello", "\ufeffhello2"), `${mark}hello2\n`);
    assert.equal(replaced(`${mark}hello\n`, "\ufeffhello", "\ufeffhello2"), `${mark}hello2\n`);
    assert.equal(replaced("hello\n", "hello", "hello2"), "hello2\n");
  });
  it("goes where it is named and not given back", () => {
    assert.equal(replaced(`${mark}hello\n`, "\ufeffhello", "hello"), "hello\n");
  });
});

describe("UTF-16", () => {
  for (const big of [false, true]) {
    const bytes = (text: string) => {
      const little = Buffer.from(`\ufeff${text}`, "utf16le");
      return big ? little.swap16() : little;
    };
    it(`stays UTF-16 ${big ? "BE" : "LE"}`, () => {
      const made = replaceBytes(
        bytes("hi\r\n\u6f22 \ud83d\ude00\r\n"),
        "hi\n\u6f22",
        "ho\n\u5b57\nx",
        false,
      );
      assert.deepEqual(
        made instanceof ToolError ? made : made.bytes,
        bytes("ho\r\n\u5b57\r\nx \ud83d\ude00\r\n"),
      );
    });
    it(`keeps half a unit at the end of UTF-16 ${big ? "BE" : "LE"}`, () => {
      const made = replaceBytes(Buffer.concat([bytes("hi"), Buffer.from([7])]), "hi", "ho", false);
      assert.deepEqual(
        made instanceof ToolError ? made : made.bytes,
        Buffer.concat([bytes("ho"), Buffer.from([7])]),
      );
    });
  }
});

describe("old text that is not there", () => {
  it("is an error that says what to do", () => {
    assert.equal(
      replaced("abc", "xyz", "1"),
      "error: old was not found in the file. Read the file and give the text exactly as it is there.",
    );
  });

  it("is shown where it is there with other white space", () => {
    assert.equal(
      replaced("if (a) {\n\treturn  1;\n}\n", "if (a) {\n  return 1;\n}", "x"),
      "error: old was not found as given, but with other white space or line endings it is there. Give it exactly as it is from line 1:\nif (a) {\n\treturn  1;\n}",
    );
    assert.match(
      replaced("caf\xc3\xa9  x", utf8("caf\xe9 x"), "y"),
      /^error: old was not found in the file/,
    );
    assert.match(replaced(utf8("caf\xe9  x"), "caf\xe9 x", "y"), /from line 1:\ncaf\xe9 {2}x$/);
  });
});

describe("the size of the result", () => {
  it("may end at the limit with what is put there", () => {
    const head = "a".repeat(WRITE_BYTES - 10);
    assert.equal(replaced(`${head}X`, "X", "0123456789"), `${head}0123456789`);
  });

  it(`may be ${WRITE_BYTES} bytes, and not one more`, () => {
    const file = `X${"a".repeat(WRITE_BYTES - 10)}`;
    assert.equal(replaced(file, "X", "0123456789").length, WRITE_BYTES);
    assert.match(
      replaced(file, "X", "01234567890"),
      /^error: The file would have more than 262144 bytes/,
    );
  });

  it("is an error before it takes the memory", () => {
    assert.match(
      replaced("a".repeat(WRITE_BYTES), "a", "b".repeat(WRITE_BYTES), true),
      /more than 262144/,
    );
  });

  it("is found in good time for the worst of files", () => {
    const size = WRITE_BYTES;
    const half = "a".repeat(size / 2);
    const quarter = "a".repeat(size / 4);
    const worst: [string, string][] = [
      ["a\r\n".repeat(size / 3), "a\n"],
      ["a".repeat(size), "a"],
      ["a".repeat(size), half],
      ["a".repeat(size), `${half}b`],
      ["a".repeat(size), `b${half}`],
      ["a".repeat(size), `${quarter}b${quarter}`],
      ["a".repeat(size), `${half}\nb`],
      ["a ".repeat(size / 2), "b  a"],
      ["a ".repeat(size / 2), `${"a  ".repeat(size / 8)}b${"a  ".repeat(size / 8)}`],
      ["a \n".repeat(size / 3), `${"a\n".repeat(size / 6)}b`],
      ["a \n".repeat(size / 3), `${"a\n".repeat(size / 8)}b\n${"a\n".repeat(size / 8)}`],
      [" ".repeat(size), "b  a"],
      ["\r".repeat(size), "b  a"],
    ];
    // Processor time: that of the machine's other work does not count.
    for (const [file, old] of worst) {
      const began = process.cpuUsage();
      replaced(file, old, "c", true);
      const { user } = process.cpuUsage(began);
      assert.ok(user < 1_500_000, `${user / 1000} ms for ${JSON.stringify(old.slice(0, 10))}`);
    }
  });
});

describe("a replacement and its inverse", () => {
  const word = fc
    .array(fc.constantFrom("a", "b", " ", "\n", "\u00e9", "\u6f22", "\r", "$&"), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.join(""));
  const around = fc.uint8Array({ maxLength: 30 });

  it("give the file back, whatever is around it", () => {
    fc.assert(
      fc.property(
        around,
        around,
        fc.constantFrom("\n", "\r\n"),
        word,
        word,
        (head, tail, ending, old, next) => {
          const there = old.replace(/\n/g, ending);
          const file = Buffer.concat([head, Buffer.from(there), tail]);
          const made = replaceBytes(file, old, next, false);
          // Found twice, identical: an error is right, and tested above.
          fc.pre(!(made instanceof ToolError));
          // A CR before a line feed that is written there becomes one line ending with it.
          fc.pre(!(head.at(-1) === 13 && /^\n/.test(next)));
          // Only where each line ending has one that it takes after can it be told on the way back.
          fc.pre(next.split("\n").length === old.split("\n").length && !/\r/.test(old + next));
          const back = replaceBytes(made.bytes, next, old, false);
          fc.pre(!(back instanceof ToolError));
          assert.deepEqual(Buffer.from(back.bytes), file);
        },
      ),
      { numRuns: runs(400) },
    );
  });

  it("change nothing outside of the place", () => {
    fc.assert(
      fc.property(around, around, word, word, (head, tail, old, next) => {
        const file = Buffer.concat([head, Buffer.from(old), tail]);
        const made = replaceBytes(file, old, next, false);
        fc.pre(!(made instanceof ToolError) && !/[\r\n]/.test(old + next));
        if (made instanceof ToolError) return;
        assert.deepEqual(Buffer.from(made.bytes), Buffer.concat([head, Buffer.from(next), tail]));
      }),
      { numRuns: runs(400) },
    );
  });
});
