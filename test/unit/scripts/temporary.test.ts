import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withTemporary } from "../../../scripts/temporary.js";

describe("the temporary directory of a test run", () => {
  it("is gone after it, and with it those of runs that were killed, and no other", async () => {
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    const names = [`countersign-run-${dead}`, "countersign-run-1", `countersign-runs-${dead}`];
    const [killed = "", lives = "", other = ""] = names.map((name) => join(tmpdir(), name));
    for (const path of [killed, lives, other]) {
      await mkdir(path, { recursive: true });
      await writeFile(join(path, "file"), "");
    }
    try {
      const own = await withTemporary(async ({ TMPDIR = "" }) => {
        assert.deepEqual([killed, lives, other, TMPDIR].map(existsSync), [false, true, true, true]);
        await writeFile(join(TMPDIR, "file"), "");
        return TMPDIR;
      });
      assert.equal(existsSync(own), false);
    } finally {
      for (const path of [lives, other]) await rm(path, { recursive: true, force: true });
    }
  });
});
