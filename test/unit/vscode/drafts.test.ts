import assert from "node:assert/strict";
import { Drafts } from "../../../src/vscode/drafts.js";

function memento() {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: <T>(key: string, otherwise?: T) => (values.get(key) as T | undefined) ?? otherwise,
    update: async (key: string, value: unknown) => void values.set(key, value),
  };
}

describe("drafts", () => {
  it("are kept by session until they are empty", async () => {
    const stored = memento();
    await new Drafts(stored as never).set("", "new");
    await new Drafts(stored as never).set("s", "typed");
    assert.deepEqual(new Drafts(stored as never).all, { "": "new", s: "typed" });
    await new Drafts(stored as never).set("s", "");
    assert.deepEqual(new Drafts(stored as never).all, { "": "new" });
  });

  it("are kept for 50 sessions; the one left alone longest goes first", async () => {
    const drafts = new Drafts(memento() as never);
    for (let n = 0; n < 50; n++) await drafts.set(`s${n}`, "text");
    await drafts.set("s0", "again");
    assert.equal(Object.keys(drafts.all).length, 50);
    await drafts.set("s50", "text");
    const ids = Object.keys(drafts.all);
    assert.deepEqual([ids.length, ids.includes("s1"), ids.includes("s0")], [50, false, true]);
  });
});
