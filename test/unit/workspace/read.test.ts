import assert from "node:assert/strict";
import { mkdtemp, open, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { readSnapshot, readWindow } from "../../../src/core/workspace/read.js";
import { FileChanged, ToolError } from "../../../src/core/workspace/types.js";
import {
  type PastEnd,
  readByLine,
  readByOffset,
  Start,
  type Window,
} from "../../../src/core/workspace/window.js";
import { fifo, link, type Tree } from "../../support/tree.js";
import { type Ground, ground, located, readPermit, runs } from "./setup.js";

const KiB = 1024;

async function read(tree: Ground, given: string, from: { offset: number } | { line: number }) {
  return readWindow(await readPermit(tree.workspace, given), tree.workspace, from);
}

async function text(tree: Ground, given: string, from: { offset: number } | { line: number }) {
  const result = await read(tree, given, from);
  if (result instanceof FileChanged) throw new Error("changed");
  return result instanceof ToolError ? `error: ${result.message}` : result.text;
}

/** One file, read as `content`. */
async function only(content: string | Uint8Array, from: { offset: number } | { line: number }) {
  return text(await ground({ f: content }), "f", from);
}

describe("reading by offset", () => {
  it("gives a small file as it is, the last newline or its absence included", async () => {
    assert.equal(await only("a\nb\nc", { offset: 0 }), "a\nb\nc");
    assert.equal(await only("a\r\nb\rc\n", { offset: 0 }), "a\r\nb\rc\n");
    assert.equal(await only("\ufeffa", { offset: 0 }), "\ufeffa");
    assert.equal(await only("a\nb\nc", { offset: 2 }), "b\nc");
  });

  it("gives 32 KiB whole, and of one byte more says where to go on", async () => {
    const whole = "x".repeat(32 * KiB);
    assert.equal(await only(whole, { offset: 0 }), whole);
    assert.equal(
      await only(`${whole}y`, { offset: 0 }),
      `${whole}\n[bytes 0 to 32768 of 32769; go on with offset 32768]`,
    );
    assert.equal(await only(`${whole}y`, { offset: 32768 }), "y");
  });

  it("gives a file of 32 KiB whole, though it ends within a character", async () => {
    const cut = Buffer.concat([Buffer.alloc(32 * KiB - 2, "a"), Buffer.from([0xe2, 0x82])]);
    const said = "\n[bytes that are no UTF-8 are shown as U+FFFD]";
    assert.equal(await only(cut, { offset: 0 }), `${"a".repeat(32 * KiB - 2)}\ufffd${said}`);
  });

  it("stops before a character that the limit would cut", async () => {
    const content = `${"a".repeat(32767)}\u20acZ`;
    assert.equal(
      await only(content, { offset: 0 }),
      `${"a".repeat(32767)}\n[bytes 0 to 32767 of 32771; go on with offset 32767]`,
    );
    assert.equal(await only(content, { offset: 32767 }), "\u20acZ");
  });

  it("goes on from the next character where the offset is inside one, and says so", async () => {
    const content = `${"a".repeat(32767)}\u20acZ`;
    for (const offset of [32768, 32769]) {
      assert.equal(
        await only(content, { offset }),
        `Z\n[offset ${offset} is inside a character; this goes on from 32770]`,
      );
    }
    assert.equal(
      await only("\ud83d\ude00!", { offset: 1 }),
      "!\n[offset 1 is inside a character; this goes on from 4]",
    );
  });

  it("does not take a stray byte for the inside of a character", async () => {
    const bytes = Buffer.from([0x41, 0x80, 0x42]);
    assert.equal(
      await only(bytes, { offset: 1 }),
      "\ufffdB\n[bytes that are no UTF-8 are shown as U+FFFD]",
    );
  });

  it("tells an empty file from an offset past the end", async () => {
    assert.equal(await only("", { offset: 0 }), "[f is empty (0 bytes)]");
    const past = (offset: number) =>
      `error: f: offset ${offset} is past the end; the file has 5 bytes.`;
    assert.equal(await only("a\nb\nc", { offset: 4 }), "c");
    assert.equal(await only("a\nb\nc", { offset: 5 }), past(5));
    assert.equal(await only("a\nb\nc", { offset: 999 }), past(999));
  });

  it("shows bytes that are no UTF-8 as U+FFFD and says so", async () => {
    assert.equal(
      await only(Buffer.from("caf\xe9\n", "latin1"), { offset: 0 }),
      "caf\ufffd\n[bytes that are no UTF-8 are shown as U+FFFD]",
    );
    assert.equal(await only("\ufffd\n", { offset: 0 }), "\ufffd\n");
  });

  it("decodes UTF-16 with a byte order mark, and cuts no pair in half", async () => {
    const little = Buffer.from("\ufeffhi\n\ud83d\ude00", "utf16le");
    assert.equal(await only(little, { offset: 0 }), "hi\n\ud83d\ude00\n[UTF-16 LE]");
    assert.equal(
      await only(Buffer.from(little).swap16(), { offset: 0 }),
      "hi\n\ud83d\ude00\n[UTF-16 BE]",
    );
    assert.equal(
      await only(little, { offset: 10 }),
      "error: f: offset 10 is past the end; the file has 12 bytes.",
    );
    const long = Buffer.from(`\ufeff${"a".repeat(16382)}\ud83d\ude00z`, "utf16le");
    assert.equal(
      await only(long, { offset: 0 }),
      `${"a".repeat(16382)}\n[UTF-16 LE; bytes 0 to 32766 of 32772; go on with offset 32766]`,
    );
    assert.equal(await only(long, { offset: 32766 }), "\ud83d\ude00z\n[UTF-16 LE]");
  });

  it("says that a file is binary where a NUL is in its first 8 KiB, and not where it is later", async () => {
    const at = (index: number) => {
      const bytes = Buffer.alloc(9 * KiB, "a");
      bytes[index] = 0;
      return bytes;
    };
    assert.equal(
      await only(at(8191), { offset: 0 }),
      "error: f is a binary file of 9216 bytes and is not shown. Use run with a program that reads it, where that helps.",
    );
    assert.equal(await only(at(8192), { offset: 0 }), at(8192).toString());
    assert.match(
      await only(Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"), { offset: 0 }),
      /binary file of 16 bytes/,
    );
  });

  it("reads Chinese text as text, wherever a sample of it would be cut", async () => {
    const content = "\u6f22".repeat(20000);
    assert.equal(
      await only(content, { offset: 0 }),
      `${"\u6f22".repeat(10922)}\n[bytes 0 to 32766 of 60000; go on with offset 32766]`,
    );
  });

  it("reads files of /proc, which say that they have no bytes", async function () {
    if (process.platform !== "linux") return assert.ok(true);
    this.timeout(5000);
    const tree = await ground({});
    assert.match(await text(tree, `/proc/${process.pid}/status`, { offset: 0 }), /^Name:/);
  });
});

describe("reading by line", () => {
  it("gives the lines from that one on", async () => {
    assert.equal(await only("a\nb\nc", { line: 1 }), "a\nb\nc");
    assert.equal(await only("a\nb\nc", { line: 2 }), "b\nc");
    assert.equal(await only("a\nb\nc", { line: 3 }), "c");
    assert.equal(await only("a\r\nb\rc\r\nd", { line: 2 }), "b\rc\r\nd");
  });

  it("says how long the file is where there is no such line", async () => {
    const past = (line: number, bytes: number, lines: number) =>
      `error: f: line ${line} is past the end; the file has ${bytes} bytes and ${lines} lines.`;
    assert.equal(await only("a\nb\nc", { line: 4 }), past(4, 5, 3));
    assert.equal(await only("a\nb\nc", { line: 100 }), past(100, 5, 3));
    assert.equal(await only("a\n", { line: 2 }), past(2, 2, 1));
    assert.equal(await only("a\n\n", { line: 2 }), "\n");
    assert.equal(await only("", { line: 1 }), "[f is empty (0 bytes)]");
  });

  it("stops at the end of a line and names the next", async () => {
    const line = `${"x".repeat(1023)}\n`;
    assert.equal(await only(line.repeat(32), { line: 1 }), line.repeat(32));
    assert.equal(
      await only(line.repeat(33), { line: 1 }),
      `${line.repeat(32)}[bytes 0 to 32768 of 33792; go on with line 33]`,
    );
    assert.equal(await only(`${line.repeat(33)}end`, { line: 34 }), "end");
  });

  it("gives the beginning of a line that is longer than 32 KiB, and the offset to go on from", async () => {
    const long = "y".repeat(40_000);
    assert.equal(
      await only(`a\n${long}\nb`, { line: 2 }),
      `${"y".repeat(32768)}\n[line 2 is longer than 32768 bytes: this is its beginning; bytes 2 to 32770 of 40004; go on with offset 32770]`,
    );
    assert.equal(await only(`a\n${long}\nb`, { line: 3 }), "b");
  });

  it("counts the lines of UTF-16", async () => {
    const bytes = Buffer.from("\ufeffone\n\u0a0a\ntwo\n", "utf16le");
    assert.equal(await only(bytes, { line: 2 }), "\u0a0a\ntwo\n[UTF-16 LE]");
    assert.equal(await only(Buffer.from(bytes).swap16(), { line: 3 }), "two\n[UTF-16 BE]");
  });

  it("stops on the way where it is cancelled", async () => {
    const tree = await ground({ f: "a\n" });
    const stop = AbortSignal.abort();
    const permit = await readPermit(tree.workspace, "f");
    assert.deepEqual(
      await readWindow(permit, tree.workspace, { line: 9 }, { signal: stop }),
      new ToolError("The read was cancelled."),
    );
  });
});

describe("reading on to the end", () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), "countersign-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  /** Every window from the start on, whatever it says to go on with. */
  async function windows(
    bytes: Uint8Array,
    by: "offset" | "line",
    limit: number,
  ): Promise<Window[]> {
    const file = path.join(dir, "f");
    await writeFile(file, bytes);
    const handle = await open(file);
    try {
      const all: Window[] = [];
      let next: Window["next"] = by === "offset" ? { offset: 0 } : { line: 1 };
      while (next !== undefined) {
        // What was read at first ends before, inside and behind what a window looks at.
        const start = await Start.read(handle, bytes.length, 2 + (all.length % 4) * limit);
        const read: Window | PastEnd =
          "line" in next
            ? await readByLine(start, next.line, limit)
            : await readByOffset(start, next.offset, limit);
        if (read.kind === "past") break;
        all.push(read);
        next = read.next;
      }
      return all;
    } finally {
      await handle.close();
    }
  }

  const pieces = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ unit: "binary", maxLength: 20 }).map((text) => Buffer.from(text)),
    fc
      .constantFrom("\n", "\r\n", "\r", "\u20ac", "\ud83d\ude00", "\ufeff")
      .map((text) => Buffer.from(text)),
    fc
      .constantFrom([0xe2, 0x82], [0xf0, 0x9f], [0x80], [0xff, 0xfe], [0xfe, 0xff], [0xc3])
      .map((bytes) => Buffer.from(bytes)),
  );
  const files = fc.array(pieces, { maxLength: 30 }).map((all) => Buffer.concat(all));

  for (const by of ["offset", "line"] as const) {
    it(`by ${by} gives each byte of the file once, in windows of the limit`, async () => {
      await fc.assert(
        fc.asyncProperty(files, fc.integer({ min: 8, max: 64 }), async (bytes, limit) => {
          const all = await windows(bytes, by, limit);
          let at = 0;
          for (const window of all) {
            assert.equal(window.from, at);
            assert.ok(window.to > at && window.to - window.from <= limit);
            at = window.to;
          }
          assert.equal(at, bytes.length);
        }),
        { numRuns: runs(150) },
      );
    });
  }

  it("gives text back as it was, never half a character", async () => {
    const texts = fc.array(
      fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.constantFrom("\n", "\r\n", "\u6f22", "\ud83d\ude00"),
      ),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 8, max: 64 }), async (parts, limit) => {
        const content = parts.join("");
        for (const by of ["offset", "line"] as const) {
          const all = await windows(Buffer.from(content), by, limit);
          assert.equal(all.map((window) => window.text).join(""), content);
        }
        const wide = Buffer.from(`\ufeff${content}`, "utf16le");
        const all = await windows(wide, "offset", limit);
        assert.equal(all.map((window) => window.text).join(""), content);
      }),
      { numRuns: runs(100) },
    );
  });

  it("reads a 5 MB line in pieces of at most 32 KiB", async () => {
    const bytes = Buffer.from(`{"a":"${"\u20ac".repeat(1_700_000)}"}`);
    const all = await windows(bytes, "line", 32 * KiB);
    assert.ok(all.every((window) => window.to - window.from <= 32 * KiB));
    assert.equal(all.map((window) => window.text).join(""), bytes.toString());
  });

  it("costs what it returns in a file of 10 GiB", async () => {
    const tree = await ground({ big: "first\n".repeat(2000) });
    await truncate(tree.at("ws", "big"), 10 * KiB ** 3 - 4);
    const handle = await open(tree.at("ws", "big"), "a");
    await handle.write("end\n");
    await handle.close();
    const began = performance.now();
    assert.match(await text(tree, "big", { line: 1 }), /^first\n/);
    assert.equal(await text(tree, "big", { offset: 10 * KiB ** 3 - 4 }), "end\n");
    assert.ok(performance.now() - began < 1000);
  });
});

describe("what is no regular file", () => {
  const WS: Tree = { dir: {}, pipe: fifo(), "to-pipe": link("pipe"), "a.txt": "a" };

  it("is never opened, and nothing hangs", async () => {
    const tree = await ground(WS);
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(tree.at("ws", "socket"), resolve));
    try {
      const began = performance.now();
      assert.equal(
        await text(tree, "pipe", { offset: 0 }),
        "error: pipe is not a regular file (it is a pipe) and is not opened.",
      );
      assert.match(await text(tree, "to-pipe", { line: 1 }), /it is a pipe/);
      assert.match(await text(tree, "socket", { offset: 0 }), /it is a socket/);
      assert.match(await text(tree, "/dev/zero", { offset: 0 }), /it is a device/);
      assert.match(await text(tree, "/dev/tty", { offset: 0 }), /it is a device/);
      assert.match(await text(tree, "dir", { offset: 0 }), /is a directory, not a file; list_dir/);
      assert.equal(
        await text(tree, "none", { offset: 0 }),
        "error: none is not there; list_dir shows what is.",
      );
      assert.match(await text(tree, "a.txt/b", { offset: 0 }), /a part of its path is a file/);
      assert.match(await text(tree, "x".repeat(300), { offset: 0 }), /name that is too long/);
      assert.ok(performance.now() - began < 1000);
    } finally {
      server.close();
    }
  });
});

describe("what moves while it is read", () => {
  it("is not read through a directory that became a link between resolve and open", async () => {
    const tree = await ground({ d: { f: "inside" } }, { outside: { f: "SECRET" } });
    const permit = await readPermit(tree.workspace, "d/f");
    const swap = async () => {
      if (swapped) return;
      swapped = true;
      await rename(tree.at("ws", "d"), tree.at("ws", "gone"));
      await symlink("../outside", tree.at("ws", "d"));
    };
    let swapped = false;
    const result = await readWindow(
      permit,
      tree.workspace,
      { offset: 0 },
      { moments: { beforeOpen: swap } },
    );
    assert.deepEqual(result, new FileChanged(tree.at("ws", "d", "f")));
  });

  it("is not read through a file that became a link in between", async () => {
    const tree = await ground({ f: "inside" }, { outside: { f: "SECRET" } });
    const swap = async () => {
      await rm(tree.at("ws", "f"), { force: true });
      await symlink("../outside/f", tree.at("ws", "f"));
    };
    const path = await located(tree.workspace, "f");
    const snapshot = await readSnapshot(tree.workspace, path, 100, { beforeOpen: swap });
    assert.deepEqual(
      snapshot,
      new ToolError("f leads elsewhere than a moment ago; make the call again."),
    );
  });

  it("is a fresh call where the path was turned elsewhere after it was allowed", async () => {
    const tree = await ground({ f: link("a"), a: "a", b: "b" });
    const permit = await readPermit(tree.workspace, "f");
    await rm(tree.at("ws", "f"));
    await symlink("b", tree.at("ws", "f"));
    assert.deepEqual(
      await readWindow(permit, tree.workspace, { offset: 0 }),
      new FileChanged(tree.at("ws", "a")),
    );
  });

  it("is read where an editor saves by a rename in between", async () => {
    const tree = await ground({ f: "old", tmp: "new" });
    const path = await located(tree.workspace, "f");
    const snapshot = await readSnapshot(tree.workspace, path, 100, {
      beforeOpen: () => rename(tree.at("ws", "tmp"), tree.at("ws", "f")).catch(() => {}),
    });
    assert.equal(
      snapshot instanceof ToolError || Buffer.from(snapshot.bytes ?? []).toString(),
      "new",
    );
  });
});

describe("a snapshot", () => {
  it("has the bytes, their SHA-256, the mode and the links", async () => {
    const tree = await ground({ f: "abc" });
    const { chmod, link: hardLink } = await import("node:fs/promises");
    await chmod(tree.at("ws", "f"), 0o640);
    await hardLink(tree.at("ws", "f"), tree.at("ws", "g"));
    assert.deepEqual(await readSnapshot(tree.workspace, await located(tree.workspace, "f"), 3), {
      bytes: Buffer.from("abc"),
      digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      mode: 0o640,
      links: 2,
    });
  });

  it("is an error over its limit too where the file does not tell its size", async () => {
    const tree = await ground({});
    const path = await located(tree.workspace, `/proc/${process.pid}/status`);
    const found = await readSnapshot(tree.workspace, path, 3);
    assert.match(found instanceof ToolError ? found.message : "", /has 4 bytes, and at most 3/);
  });

  it("is an error one byte over its limit, and says so of a missing file", async () => {
    const tree = await ground({ f: "abcd" });
    const found = await readSnapshot(tree.workspace, await located(tree.workspace, "f"), 3);
    assert.match(found instanceof ToolError ? found.message : "", /f has 4 bytes, and at most 3/);
    assert.deepEqual(await readSnapshot(tree.workspace, await located(tree.workspace, "none"), 3), {
      bytes: null,
      digest: null,
      mode: null,
      links: 0,
    });
  });
});
