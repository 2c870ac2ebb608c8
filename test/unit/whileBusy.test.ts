import assert from "node:assert/strict";
import { whileBusy } from "../../src/core/whileBusy.js";

/** Work that the disk refuses the first `times` with `code`. */
function refused(code: string, times: number) {
  const work = {
    tries: 0,
    run: async (): Promise<string> => {
      work.tries += 1;
      if (work.tries <= times) throw Object.assign(new Error(code), { code });
      return "done";
    },
  };
  return work;
}

describe("a file that another program has open", () => {
  for (const code of ["EPERM", "EACCES", "EBUSY"])
    it(`is waited for on Windows (${code})`, async () => {
      const work = refused(code, 9);
      assert.equal(await whileBusy(work.run, "win32"), "done");
      assert.equal(work.tries, 10);
    });

  it("is given up after ten times", async () => {
    const work = refused("EPERM", 10);
    await assert.rejects(whileBusy(work.run, "win32"), { code: "EPERM" });
    assert.equal(work.tries, 10);
  });

  it("is no reason to try again elsewhere, nor is any other error one", async () => {
    for (const [platform, code] of [
      ["linux", "EPERM"],
      ["darwin", "EACCES"],
      ["win32", "ENOSPC"],
      ["win32", "ENOENT"],
    ] as const) {
      const work = refused(code, 1);
      await assert.rejects(whileBusy(work.run, platform), { code });
      assert.equal(work.tries, 1);
    }
  });
});
