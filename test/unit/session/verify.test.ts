import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFile, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import type { LogVerdict } from "../../../src/core/session/chainCheck.js";
import type { EventBody } from "../../../src/core/session/events.js";
import { parseMeta } from "../../../src/core/session/meta.js";
import { SessionRecord } from "../../../src/core/session/record.js";
import { tellVerdict } from "../../../src/core/session/tellVerdict.js";
import { verifyLog, verifySession } from "../../../src/core/session/verify.js";
import { longestHold } from "../../support/held.js";
import { asks, makePlace, makeSession, opener, type Place } from "./support.js";

function hash(line: string | Buffer): string {
  return createHash("sha256").update(line).digest("hex");
}

function kinds({ faults }: LogVerdict): string[] {
  return faults.map(({ kind, line }) => `${kind} ${line}`);
}

/** A line as the version before wrote it: without a hash. */
function oldLine(seq: number, body: EventBody): string {
  return `${JSON.stringify({ seq, at: "2026-01-01T00:00:00.000Z", ...body })}\n`;
}

describe("the chain of a log", () => {
  let place: Place;
  beforeEach(async () => {
    place = await makePlace();
  });
  afterEach(() => place.dispose());

  const lines = async (): Promise<string[]> =>
    (await readFile(place.log, "utf8")).split("\n").slice(0, -1);
  const put = (all: readonly string[]): Promise<void> =>
    writeFile(place.log, all.map((line) => `${line}\n`).join(""));
  /** Opens the session as a host would, and writes what follows. */
  const goOn = async (...texts: string[]): Promise<void> => {
    const record = await SessionRecord.open(place.directory, opener);
    for (const body of asks(...texts)) await record.append(body, { flush: true });
    await record.refreshMeta();
    await record.close();
  };

  it("has in each line the hash of the line before, and none in memory", async () => {
    const record = await SessionRecord.create(place.directory, "/ws", opener);
    for (const body of asks("one", "two \u2028 \0")) await record.append(body);
    await record.close();
    const all = await lines();
    assert.deepEqual(
      all.map((line) => JSON.parse(line).prev),
      [undefined, hash(all[0] ?? ""), hash(all[1] ?? "")],
    );
    assert.deepEqual(
      record.events.map((event) => "prev" in event),
      [false, false, false],
    );
    const again = await SessionRecord.open(place.directory, opener);
    await again.close();
    assert.deepEqual(again.events, record.events);
  });

  it("is whole in a log that nobody touched, and says where it ends", async () => {
    await makeSession(place, asks("one"));
    await goOn("two", "three");
    const all = await lines();
    assert.deepEqual(await verifySession(place.directory), {
      lines: 4,
      chainFrom: 2,
      faults: [],
      more: 0,
      notes: [],
      headLine: 4,
      lastHash: hash(all[3] ?? ""),
    });
  });

  it("keeps in meta.json a line that was flushed, and none that may be lost", async () => {
    await makeSession(place, asks("one"));
    const record = await SessionRecord.open(place.directory, opener);
    for (const body of asks("two")) await record.append(body, { flush: true });
    for (const body of asks("three")) await record.append(body);
    await record.rename("x");
    await record.close();
    const meta = parseMeta(await readFile(join(place.directory, "meta.json"), "utf8"));
    assert.deepEqual(meta?.head, { seq: 3, hash: hash((await lines())[2] ?? "") });
  });

  describe("goes on from the bytes that are really there", () => {
    it("behind a torn line that was set aside", async () => {
      await makeSession(place, asks("one"));
      await appendFile(place.log, '{"seq":3,"at":"x","ty');
      await goOn("two");
      assert.deepEqual(kinds(await verifySession(place.directory)), []);
    });

    it("behind a line whose newline alone was missing", async () => {
      await makeSession(place, asks("one", "two"));
      await truncate(place.log, (await stat(place.log)).size - 1);
      await goOn("three");
      assert.deepEqual(kinds(await verifySession(place.directory)), []);
    });

    it("behind a damaged line, of which it says that it was so already", async () => {
      await makeSession(place, asks("one"));
      await appendFile(place.log, `${"\0".repeat(300)}\n`);
      await goOn("two");
      const verdict = await verifySession(place.directory);
      assert.deepEqual(kinds(verdict), []);
      assert.deepEqual(verdict.notes, [
        "Line 3 cannot be read, and could not when the next was written.",
      ]);
    });
  });

  describe("starts where it starts in a log of the version before", () => {
    const old = [
      oldLine(1, { type: "session_started", schema: 1, workspace: "/ws" }),
      ...asks("one", "two", "three").map((body, index) => oldLine(index + 2, body)),
    ];

    it("and says so", async () => {
      await makeSession(place);
      await writeFile(place.log, old.join(""));
      await writeFile(
        join(place.directory, "meta.json"),
        JSON.stringify({ title: "t", workspace: "/ws", created: "", updated: "" }),
      );
      await goOn("four", "five");
      const verdict = await verifySession(place.directory);
      assert.deepEqual([verdict.chainFrom, kinds(verdict)], [5, []]);
      assert.match(tellVerdict(verdict), /^Lines 1 to 3 are older than the hashes/m);
    });

    const hurt: readonly (readonly [string, readonly (string | undefined)[], string[]])[] = [
      ["nothing", old, []],
      ["a removed line", [old[0], old[2], old[3]], ["removed 2"]],
      ["a moved line", [old[0], old[2], old[1], old[3]], ["removed 2", "moved 3"]],
      ["a line put in", [old[0], old[1], old[1], old[2], old[3]], ["moved 3"]],
      ["what is no event", [old[0], "rubbish\n", old[1], old[2], old[3]], ["unreadable 2"]],
    ];
    for (const [name, all, expected] of hurt) {
      it(`and sees by the numbers alone: ${name}`, async () => {
        await makeSession(place);
        await writeFile(place.log, all.join(""));
        assert.deepEqual(kinds(await verifyLog(place.log)), expected);
      });
    }
  });

  describe("tells which line, and what was done to it:", () => {
    let all: string[];
    beforeEach(async () => {
      await makeSession(place);
      await goOn("two", "three", "four", "five", "six");
      all = await lines();
    });
    const at = (index: number): string => all[index] ?? "";
    const changed = (index: number): string => at(index).replace('"text":"', '"text":"not ');
    const cases: readonly (readonly [string, () => string[], string[]])[] = [
      ["a changed one", () => all.with(2, changed(2)), ["changed 3"]],
      ["the last one, changed", () => all.with(5, changed(5)), ["end 6"]],
      ["a removed one", () => all.toSpliced(2, 1), ["removed 3"]],
      ["the first one, removed", () => all.slice(1), ["removed 1"]],
      ["the last ones, removed", () => all.slice(0, 4), ["end 4"]],
      [
        "one put in",
        () => all.toSpliced(2, 0, oldLine(9, { type: "result", text: "" }).trim()),
        ["inserted 3", "moved 4"],
      ],
      ["one repeated", () => all.toSpliced(2, 0, at(1)), ["moved 3"]],
      [
        "two that changed places",
        () => all.with(2, at(3)).with(3, at(2)),
        ["removed 3", "moved 4", "inserted 4"],
      ],
      ["one made unreadable", () => all.with(2, at(2).slice(1)), ["unreadable 3", "changed 3"]],
    ];
    for (const [name, hurt, expected] of cases) {
      it(name, async () => {
        await put(hurt());
        assert.deepEqual(kinds(await verifySession(place.directory)), expected);
      });
    }

    it("a last line that was cut", async () => {
      await truncate(place.log, (await stat(place.log)).size - 3);
      assert.deepEqual(kinds(await verifySession(place.directory)), ["cut 6", "end 5"]);
    });

    it("in words", async () => {
      await put(all.with(2, changed(2)).slice(0, 5));
      const text = tellVerdict(await verifySession(place.directory))
        .split("\n")
        .slice(0, 3);
      assert.deepEqual(text, [
        "5 lines, and not as they were written:",
        "- Line 3 is not what line 4 was written after: one of the two was changed.",
        "- Lines were removed from the end: number 6 is missing.",
      ]);
    });
  });

  it("remembers lines that were taken from the end, though the session goes on", async () => {
    await makeSession(place);
    await goOn("two", "three");
    await put((await lines()).slice(0, 2));
    const record = await SessionRecord.open(place.directory, opener);
    assert.deepEqual(record.damage, [
      { line: 3, after: 2, reason: "not the line 3 that meta.json knows: Verify Log tells more" },
    ]);
    await record.close();
    await goOn("again", "and again");
    assert.deepEqual(kinds(await verifySession(place.directory)), ["end 4"]);
  });

  it("cannot be seen to end early before meta.json was written again, and says so", async () => {
    await makeSession(place, asks("two", "three"));
    const verdict = await verifySession(place.directory);
    assert.deepEqual([verdict.lines, verdict.headLine, kinds(verdict)], [3, 1, []]);
    assert.match(tellVerdict(verdict), /What came after line 1 could be cut off unseen/);
  });

  it("shows any one change to any one line, and none where there is none", async () => {
    await makeSession(place);
    await goOn(...Array.from({ length: 12 }, (_, index) => `text ${index}\u2028"\\`));
    const whole = await readFile(place.log);
    const { length } = await lines();
    const line = fc.nat(length - 1);
    const change = fc.oneof(
      fc.record({
        how: fc.constant("byte" as const),
        at: fc.nat(whole.length - 1),
        to: fc.nat(255),
      }),
      fc.record({
        how: fc.constant("cut" as const),
        by: fc.integer({ min: 1, max: whole.length }),
      }),
      fc.record({ how: fc.constant("remove" as const), line }),
      fc.record({ how: fc.constant("swap" as const), line, other: line }),
      fc.record({ how: fc.constant("repeat" as const), line, to: fc.nat(length) }),
      fc.record({ how: fc.constant("insert" as const), text: fc.string(), to: fc.nat(length) }),
    );
    const apply = (how: typeof change extends fc.Arbitrary<infer T> ? T : never): Buffer => {
      if (how.how === "byte") {
        const copy = Buffer.from(whole);
        copy[how.at] = how.to;
        return copy;
      }
      if (how.how === "cut") return whole.subarray(0, whole.length - how.by);
      const all = whole.toString("utf8").split("\n").slice(0, -1);
      const one = "line" in how ? (all[how.line] ?? "") : "";
      if (how.how === "remove") all.splice(how.line, 1);
      else if (how.how === "repeat") all.splice(how.to, 0, one);
      else if (how.how === "insert") all.splice(how.to, 0, how.text.replaceAll("\n", " "));
      else {
        all[how.line] = all[how.other] ?? "";
        all[how.other] = one;
      }
      return Buffer.from(all.map((text) => `${text}\n`).join(""));
    };
    await fc.assert(
      fc.asyncProperty(change, async (how) => {
        const bytes = apply(how);
        await writeFile(place.log, bytes);
        const { faults } = await verifySession(place.directory);
        assert.equal(faults.length > 0, !bytes.equals(whole));
      }),
      { numRuns: 250 },
    );
  });

  it("is read without holding the host, at any length", async () => {
    await makeSession(place);
    const body = { turn: "t", type: "call_ended", call: "c", ok: true, result: "x".repeat(150) };
    let prev = hash((await lines())[0] ?? "");
    const made: string[] = [];
    for (let seq = 2; seq <= 100_000; seq++) {
      const line = JSON.stringify({ seq, at: "x", ...body, prev });
      prev = hash(line);
      made.push(line);
    }
    // One longer than any that is parsed.
    const long = JSON.stringify({
      seq: 100_001,
      at: "x",
      type: "result",
      text: "y".repeat(9e6),
      prev,
    });
    const last = JSON.stringify({
      seq: 100_002,
      at: "x",
      type: "result",
      text: "",
      prev: hash(long),
    });
    await appendFile(place.log, `${made.join("\n")}\n${long}\n${last}\n`);
    const longest = await longestHold(async () => {
      const verdict = await verifySession(place.directory);
      assert.deepEqual([verdict.lines, kinds(verdict), verdict.notes], [100_002, [], []]);
    });
    // 50 ms is the figure of the specification; a busy machine has its own pauses.
    assert.ok(longest < 150, `it held the host for ${longest} ms`);
  });
});
