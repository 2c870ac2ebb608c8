import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Allow } from "../../../src/core/session/events.js";
import { formatMeta, type Meta, parseMeta, writeMeta } from "../../../src/core/session/meta.js";
import { SessionRecord } from "../../../src/core/session/record.js";
import { asks, makePlace, makeSession, opener, type Place } from "./support.js";

const meta: Meta = {
  title: "A title",
  renamed: false,
  workspace: "/ws",
  created: "2026-01-01T00:00:00.000Z",
  updated: "2026-01-02T00:00:00.000Z",
  model: "m",
  allows: [],
};
const allows: readonly Allow[] = [
  { write: '/ws/a "quoted".txt' },
  { read: "/etc/hosts" },
  { run: ["npm", "run", "te\nst"] },
];

describe("meta.json", () => {
  let place: Place;
  beforeEach(async () => {
    place = await makePlace();
  });
  afterEach(() => place.dispose());

  it("comes back as it was", () => {
    const full = { ...meta, renamed: true, allows: [...allows] };
    assert.deepEqual(parseMeta(formatMeta(full)), full);
    assert.deepEqual(parseMeta(formatMeta({ ...meta, model: undefined })), {
      ...meta,
      model: undefined,
    });
  });

  it("has exactly one line more for each allow", () => {
    const lengths = [0, 1, 2, 3].map(
      (count) => formatMeta({ ...meta, allows: allows.slice(0, count) }).split("\n").length,
    );
    const [first = 0] = lengths;
    assert.deepEqual(lengths, [first, first + 1, first + 2, first + 3]);
    assert.ok(formatMeta({ ...meta, allows }).includes('{"run": ["npm", "run", "te\\nst"]}'));
  });

  it("takes no allow that is not exactly one of the three", () => {
    const odd = [
      { write: "/a", read: "/b" },
      { run: "rm -rf /" },
      { run: ["ok", 1] },
      { anything: true },
      "all",
      null,
      { read: "/good" },
    ];
    const text = JSON.stringify({ ...meta, allows: odd });
    assert.deepEqual(parseMeta(text)?.allows, [{ read: "/good" }]);
  });

  it("is nothing where it is broken", () => {
    for (const text of ["", "{", "null", "[]", '{"title": 1}', "\0".repeat(100)]) {
      assert.equal(parseMeta(text), undefined);
    }
  });

  it("is on disk when an allow was added, and tells the same one once", async () => {
    const record = await SessionRecord.create(place.directory, "/ws", opener);
    for (const allow of [...allows, ...allows]) await record.addAllow(allow);
    const text = await readFile(join(place.directory, "meta.json"), "utf8");
    assert.deepEqual(parseMeta(text)?.allows, allows);
    await record.removeAllow({ read: "/etc/hosts" });
    await record.close();
    const again = await SessionRecord.open(place.directory, opener);
    assert.deepEqual(again.allows(), [allows[0], allows[2]]);
    await again.close();
  });

  it("loses no allow where several are added at once", async () => {
    const record = await SessionRecord.create(place.directory, "/ws", opener);
    await Promise.all([...allows.map((allow) => record.addAllow(allow)), record.rename("x")]);
    await record.close();
    const again = await SessionRecord.open(place.directory, opener);
    assert.deepEqual(again.allows(), allows);
    assert.equal(again.title, "x");
    await again.close();
  });

  it("is what it was where it cannot be written, and the allow is none", async () => {
    const record = await SessionRecord.create(place.directory, "/ws", opener);
    await rm(place.directory, { recursive: true });
    await assert.rejects(record.addAllow({ read: "/x" }), /Not saved: the allow/);
    assert.deepEqual(record.allows(), []);
    await record.close();
  });

  it("leaves no temporary file behind where the rename fails", async () => {
    await mkdir(join(place.directory, "meta.json"), { recursive: true });
    await assert.rejects(writeMeta(place.directory, meta));
    assert.deepEqual(await readdir(place.directory), ["meta.json"]);
  });

  it("is made again from the log where it is lost, without allows", async () => {
    await makeSession(place, [
      { type: "turn_started", turn: "t", text: "Fix   the\nbug, please", model: "m" },
      ...asks("later"),
    ]);
    for (const fault of [
      () => rm(join(place.directory, "meta.json")),
      async () => {
        await writeFile(join(place.directory, "meta.json"), "{ no");
        await chmod(join(place.directory, "meta.json"), 0o600);
      },
    ]) {
      await fault();
      const record = await SessionRecord.open(place.directory, opener);
      assert.equal(record.title, "Fix the bug, please");
      assert.equal(record.meta.workspace, "/ws");
      assert.equal(record.meta.model, "m");
      assert.deepEqual(record.allows(), []);
      await record.close();
    }
  });

  it("loses what a program that was killed while writing left beside it", async () => {
    await makeSession(place);
    await writeFile(join(place.directory, "meta.json.0123456789abcdef.tmp"), "half");
    await writeFile(join(place.directory, "lock.0123456789abcdef.tmp"), "half");
    await writeFile(join(place.directory, "meta.json.notes.tmp"), "the user's");
    await mkdir(join(place.directory, "blobs"));
    await writeFile(join(place.directory, "blobs", "keeping.tmp"), "half");
    const record = await SessionRecord.open(place.directory, opener);
    await record.close();
    assert.deepEqual(await readdir(join(place.directory, "blobs")), []);
    assert.deepEqual((await readdir(place.directory)).sort(), [
      "blobs",
      "log.jsonl",
      "meta.json",
      "meta.json.notes.tmp",
    ]);
  });
});
