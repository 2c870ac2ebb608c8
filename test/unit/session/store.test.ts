import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatMeta } from "../../../src/core/session/meta.js";
import { newSessionId, SessionStore } from "../../../src/core/session/store.js";
import { NO_TITLE, titleFrom } from "../../../src/core/session/title.js";
import { makePlace, opener, type Place } from "./support.js";

describe("the sessions of a home", () => {
  let place: Place;
  let store: SessionStore;
  beforeEach(async () => {
    place = await makePlace();
    store = new SessionStore(place.base, opener);
  });
  afterEach(() => place.dispose());

  it("are none where there is no directory yet", async () => {
    assert.deepEqual(await store.list(), []);
  });

  it("are listed newest first, with what meta.json says", async () => {
    const made: string[] = [];
    for (const hour of [10, 12, 11]) {
      const record = await store.create("/ws");
      made.push(record.id);
      const updated = `2026-01-01T${hour}:00:00.000Z`;
      const meta = { ...record.meta, title: `at ${hour}`, updated, model: "m" };
      await record.close();
      await writeFile(join(record.directory, "meta.json"), formatMeta(meta));
    }
    const listed = await store.list();
    assert.deepEqual(
      listed.map(({ title }) => title),
      ["at 12", "at 11", "at 10"],
    );
    assert.deepEqual(Object.keys(listed[0] ?? {}).sort(), [
      "created",
      "id",
      "model",
      "title",
      "updated",
      "workspace",
    ]);
    assert.equal(listed[0]?.id, made[1]);
  });

  it("are listed without a look into any log", async () => {
    const record = await store.create("/ws");
    await record.close();
    await rm(join(record.directory, "log.jsonl"));
    assert.deepEqual(
      (await store.list()).map(({ id }) => id),
      [record.id],
    );
  });

  it("are listed where a meta.json is lost or broken, from the log's beginning", async () => {
    for (const text of [undefined, "{ broken"]) {
      const record = await store.create("/ws");
      await record.append({ type: "turn_started", turn: "t", text: "Hello there", model: "m" });
      await record.close();
      await rm(join(record.directory, "meta.json"));
      if (text !== undefined) await writeFile(join(record.directory, "meta.json"), text);
    }
    assert.deepEqual(
      (await store.list()).map(({ title, workspace }) => [title, workspace]),
      [
        ["Hello there", "/ws"],
        ["Hello there", "/ws"],
      ],
    );
  });

  it("do not include what is no session", async () => {
    await mkdir(join(store.directory, "notes"), { recursive: true });
    await mkdir(join(store.directory, newSessionId()));
    await writeFile(join(store.directory, "readme.txt"), "");
    assert.deepEqual(await store.list(), []);
  });

  it("are not opened by a name that leads elsewhere", async () => {
    await mkdir(join(place.base, "elsewhere"));
    await writeFile(join(place.base, "elsewhere", "log.jsonl"), "");
    for (const id of ["../elsewhere", "..", "", "x/../../elsewhere", newSessionId()]) {
      await assert.rejects(store.open(id), /There is no session/);
    }
  });

  it("have names that sort by time and are never the same", () => {
    const early = newSessionId(Date.UTC(2026, 0, 1));
    const late = newSessionId(Date.UTC(2026, 0, 2));
    assert.ok(early < late);
    const many = new Set(Array.from({ length: 1000 }, () => newSessionId(0)));
    assert.equal(many.size, 1000);
  });

  it("have a title of at most 60 characters, of one line", () => {
    assert.equal(titleFrom("  Fix\n\tthe bug "), "Fix the bug");
    assert.equal(titleFrom("a".repeat(60)), "a".repeat(60));
    assert.equal(titleFrom("a".repeat(61)), `${"a".repeat(59)}…`);
    const start = performance.now();
    assert.equal(titleFrom("word ".repeat(2_000_000)), `${"word ".repeat(11).trim()}…`);
    // A title is asked for often, and the whole of such an ask takes seconds.
    assert.ok(performance.now() - start < 500);
    assert.equal(titleFrom(`${"word ".repeat(20)}`), `${"word ".repeat(11).trim()}…`);
    assert.equal([...titleFrom("😀".repeat(100))].length, 60);
    assert.equal(titleFrom("\u202e\0 "), NO_TITLE);
  });
});
