import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { finish, type Panel, startPanel, write } from "./panel.js";

describe("the log of a session, in the window", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({ files: { "a.txt": "one\n" } });
    await panel.newSession();
  });
  after(() => panel?.stop());

  /** What the open dialog says; closes it. */
  const dialog = async (): Promise<string> => {
    const box = panel.bench.page.locator(".monaco-dialog-box");
    await box.waitFor();
    const text = await box.textContent();
    await panel.bench.page.keyboard.press("Escape");
    await box.waitFor({ state: "detached" });
    return text ?? "";
  };
  const logFile = async (): Promise<string> => {
    const [session] = await panel.bench.sessions();
    return join(session?.folder ?? "", "log.jsonl");
  };

  it("is verified: nothing was changed, and then which line was", async () => {
    await panel.ask("Change a.txt", write("a.txt", "two\n"), finish("Done."));
    await (await panel.card("a.txt")).getByRole("button", { name: "Approve", exact: true }).click();
    await (await panel.chat()).getByText("Done.").waitFor();
    const { seq } = await panel.bench.event("turn_ended");

    await panel.bench.command("Countersign: Verify Log");
    const sound = await dialog();
    assert.match(sound, /The log is as it was written\./);
    assert.match(sound, new RegExp(`${seq} lines: none was changed, removed, put in or moved\\.`));

    const file = await logFile();
    const whole = await readFile(file, "utf8");
    const answered = await panel.bench.event("card_answered");
    try {
      await writeFile(file, whole.replace('"answer":"allow_once"', '"answer":"allow_many"'));
      await panel.bench.command("Countersign: Verify Log");
      const changed = await dialog();
      assert.match(changed, /The log is not as it was written\./);
      assert.match(changed, new RegExp(`Line ${answered.seq} is not what line`));
    } finally {
      await writeFile(file, whole);
    }
  });
});
