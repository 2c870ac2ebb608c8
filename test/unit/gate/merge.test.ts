import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Change } from "../../../src/core/gate/lineDiff.js";
import { anyTouch, mergeLines } from "../../../src/core/gate/merge.js";

async function merged(base: string, one: string, other: string): Promise<string | undefined> {
  const bytes = await mergeLines(...([base, one, other].map((text) => Buffer.from(text)) as Three));
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}
type Three = [Buffer, Buffer, Buffer];

describe("two changes of one text", () => {
  const base = "1\n2\n3\n4\n5\n6\n";

  it("are both made where they stand apart, whichever comes first", async () => {
    strictEqual(
      await merged(base, "1\nb\n3\n4\n5\n6\n", "1\n2\n3\n4\ne\n6\n"),
      "1\nb\n3\n4\ne\n6\n",
    );
    strictEqual(
      await merged(base, "1\n2\n3\n4\ne\n6\n", "1\nb\n3\n4\n5\n6\n"),
      "1\nb\n3\n4\ne\n6\n",
    );
  });

  it("are both made where lines come and go", async () => {
    strictEqual(await merged(base, `0\n${base}`, "1\n2\n3\n4\n"), "0\n1\n2\n3\n4\n");
    strictEqual(await merged(base, "3\n4\n5\n6\n", `${base}7\n8\n`), "3\n4\n5\n6\n7\n8\n");
  });

  it("are not merged where they share a line, stand side by side, or insert at one place", async () => {
    strictEqual(await merged(base, "1\nb\n3\n4\n5\n6\n", "1\nB\n3\n4\n5\n6\n"), undefined);
    strictEqual(await merged(base, "1\nb\n3\n4\n5\n6\n", "1\n2\nC\n4\n5\n6\n"), undefined);
    strictEqual(await merged(base, "1\n2\n2a\n3\n4\n5\n6\n", "1\n2\n2b\n3\n4\n5\n6\n"), undefined);
    strictEqual(await merged(base, "1\nb\n3\n4\n5\n6\n", "1\nb\n3\n4\n5\n6\n"), undefined);
  });

  it("are merged with one unchanged line between them", async () => {
    strictEqual(await merged("1\n2\n3\n", "a\n2\n3\n", "1\n2\nc\n"), "a\n2\nc\n");
  });

  it("keep line endings, a missing last newline and bytes that are no text", async () => {
    strictEqual(
      await merged("1\r\n2\r\n3\n4", "a\r\n2\r\n3\n4", "1\r\n2\r\n3\n4\n"),
      "a\r\n2\r\n3\n4\n",
    );
    const bytes = await mergeLines(
      Buffer.from([0xff, 0x0a, 0x32, 0x0a, 0xfe]),
      Buffer.from([0xff, 0x0a, 0x32, 0x0a, 0xfd]),
      Buffer.from([0xe9, 0x0a, 0x32, 0x0a, 0xfe]),
    );
    deepStrictEqual(Buffer.from(bytes ?? []), Buffer.from([0xe9, 0x0a, 0x32, 0x0a, 0xfd]));
  });

  it("are not merged where a NUL byte says that there are no lines", async () => {
    strictEqual(await merged("1\n2\n3\0\n", "a\n2\n3\0\n", "1\n2\n3\0c\n"), undefined);
  });

  it("are looked at once or twice each, however many there are", () => {
    let looks = 0;
    const counted = (from: number): Change[] =>
      Array.from({ length: 1_000 }, (_, index) => ({
        get old() {
          looks += 1;
          return from + 10 * index;
        },
        removed: 1,
        now: from + 10 * index,
        added: 1,
      }));
    strictEqual(anyTouch(counted(0), counted(5)), false);
    ok(looks < 20_000, `${looks} looks`);
    strictEqual(anyTouch(counted(0), counted(9_990)), true);
  });

  it("are what is there where one side changed nothing", async () => {
    strictEqual(await merged(base, base, "1\n"), "1\n");
    strictEqual(await merged(base, "", base), "");
    strictEqual(await merged("", "", "new\n"), "new\n");
  });
});
