import assert from "node:assert/strict";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { SessionRecord } from "../../../src/core/session/record.js";
import { makePlace, opener, type Place } from "./support.js";

const real = { ...promises };

describe("what permits an effect is on the disk before its name is", () => {
  let place: Place;
  let record: SessionRecord;
  let steps: string[];
  beforeEach(async () => {
    place = await makePlace();
    record = await SessionRecord.create(place.directory, "/ws", opener);
    steps = [];
    const named = (path: unknown): string => basename(String(path)).replace(/[0-9a-f]{16,}/g, "*");
    promises.open = async (path, flags, mode) => {
      const handle = await real.open(path, flags, mode);
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        steps.push(`flush ${named(path)}`);
        await sync();
      };
      return handle;
    };
    promises.rename = async (from, to) => {
      steps.push(`rename ${named(from)} to ${named(to)}`);
      await real.rename(from, to);
    };
    syncBuiltinESMExports();
  });
  afterEach(async () => {
    Object.assign(promises, real);
    syncBuiltinESMExports();
    await record.close();
    await place.dispose();
  });

  it("an allow", async () => {
    await record.addAllow({ run: ["true"] });
    assert.deepEqual(steps, [
      "flush meta.json.*.tmp",
      "rename meta.json.*.tmp to meta.json",
      `flush ${basename(place.directory)}`,
    ]);
  });

  it("the bytes that a write replaces", async () => {
    await record.keep(Buffer.from("old"));
    assert.deepEqual(steps, [
      `flush ${basename(place.directory)}`,
      "flush keeping.tmp",
      "rename keeping.tmp to *",
      "flush blobs",
    ]);
  });
});
