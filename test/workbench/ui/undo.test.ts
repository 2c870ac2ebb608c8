import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionEvent } from "../../../src/core/session/events.js";
import { until } from "../harness.js";
import { finish, type Panel, run, startPanel, write } from "./panel.js";

const LINES = Array.from({ length: 12 }, (_, index) => `line ${index}\n`);
const BEFORE = LINES.join("");
const AFTER = BEFORE.replace("line 2\n", "line two\n");
const SINCE = AFTER.replace("line 9\n", "line nine, mine\n");
const MERGED = BEFORE.replace("line 9\n", "line nine, mine\n");

describe("undo, in VS Code", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({
      files: { "a.txt": BEFORE, "b.txt": "one\n" },
      settings: { "countersign.diff.openAutomatically": false },
    });
  });

  after(async () => {
    await panel?.stop();
  });

  const all = () => panel.bench.page.locator(".quick-input-widget .monaco-list-row");
  /** The row of a picker that reads so. */
  const rows = (text: string) =>
    panel.bench.page.locator(`.quick-input-widget .monaco-list-row[aria-label*="${text}"]`);
  const ok = () => panel.bench.page.locator(".quick-input-widget").getByText("OK", { exact: true });
  const read = (path: string) => panel.bench.read(path);

  async function approve(what: string): Promise<void> {
    const card = await panel.card(what);
    await card.getByRole("button", { name: "Approve", exact: true }).click();
  }

  async function events(): Promise<readonly SessionEvent[]> {
    return (await panel.bench.sessions()).flatMap((session) => session.events);
  }

  /** Waits until as many undos are over, and gives what became of their files, by name. */
  async function outcomes(undos: number): Promise<readonly string[]> {
    return until(`${undos} undos to be over`, async () => {
      const all = await events();
      if (all.filter(({ type }) => type === "undo_ended").length < undos) return undefined;
      return all.flatMap((event) =>
        event.type === "undo_file" ? [`${event.path.split("/").at(-1)} ${event.outcome}`] : [],
      );
    });
  }

  it("is not offered where there is nothing to undo", async () => {
    assert.deepEqual(await panel.bench.offered("Countersign: Undo"), []);
  });

  it("lists the files and the commands of a turn, and takes the files back", async () => {
    await panel.newSession();
    await panel.ask(
      "Change both",
      write("a.txt", AFTER),
      write("new.txt", "new\n"),
      run("touch", "made"),
      finish("All done."),
    );
    await approve("a.txt");
    await approve("new.txt");
    await approve("touch");
    await panel.bench.event("turn_ended");
    assert.deepEqual([await read("a.txt"), await read("new.txt")], [AFTER, "new\n"]);
    await panel.bench.command("Countersign: Undo Turn…");
    await rows("Change both").click();
    await rows("cannot be undone").waitFor();
    assert.deepEqual(
      await all().evaluateAll((found) =>
        found.map((row) => [
          row.querySelector(".label-name")?.textContent?.trim(),
          row.querySelector(".label-description")?.textContent,
          row.getAttribute("aria-checked"),
        ]),
      ),
      [
        ["a.txt", "restored", "true"],
        ["new.txt", "removed, to the trash where there is one", "true"],
        ["touch made", "cannot be undone", "false"],
      ],
    );
    await panel.bench.screenshot("undo-list");
    assert.equal(await read("a.txt"), AFTER);
    await ok().click();
    assert.deepEqual(await outcomes(1), ["a.txt restored", "new.txt removed"]);
    assert.deepEqual(
      [await read("a.txt"), await read("new.txt"), await read("made")],
      [BEFORE, undefined, ""],
    );
  });

  it("shows in the chat what was undone, with a button that brings it back", async () => {
    const chat = await panel.chat();
    const row = chat.getByRole("region", { name: "Undone: the changes of a turn" });
    await row.getByText("new.txt").waitFor();
    await panel.bench.screenshot("undo-row");
    await row.getByRole("button", { name: "Redo" }).click();
    await rows("new.txt, brought back").waitFor();
    await ok().click();
    await outcomes(2);
    assert.deepEqual([await read("a.txt"), await read("new.txt")], [AFTER, "new\n"]);
    await chat.getByRole("region", { name: "Redone: what had been undone" }).waitFor();
  });

  it("tells the model with the next ask", async () => {
    await panel.ask("What is new?", finish("I see."));
    await (await panel.chat()).getByText("I see.").waitFor();
    const told = String(panel.model.requests.at(-1)?.body.messages?.at(-1)?.content);
    assert.match(told, /^\[Note: the user undid changes of a turn\..*"a\.txt".*"new\.txt"/);
    assert.match(told, /\[Note: the user brought changes back.*\n\nWhat is new\?$/s);
  });

  it("undoes one write by the button on its row, and leaves the others", async () => {
    const chat = await panel.chat();
    const line = chat.locator(".call-line").filter({ hasText: "new.txt" });
    await line.getByRole("button", { name: "Undo this change" }).click();
    await rows("new.txt, removed").waitFor();
    assert.equal(await all().count(), 1);
    await panel.bench.page.keyboard.press("Escape");
    await rows("new.txt, removed").waitFor({ state: "hidden" });
    assert.equal(await read("new.txt"), "new\n");
    await line.getByRole("button", { name: "Undo this change" }).click();
    await rows("new.txt, removed").waitFor();
    await ok().click();
    await outcomes(3);
    assert.deepEqual([await read("a.txt"), await read("new.txt")], [AFTER, undefined]);
    await line.getByText("undone", { exact: true }).waitFor();
  });

  it("asks about a file that was changed since, with its three states in view", async () => {
    const { page } = panel.bench;
    await writeFile(join(panel.bench.folder, "a.txt"), SINCE);
    const chat = await panel.chat();
    const line = chat.locator(".call-line").filter({ hasText: "a.txt" });
    await line.getByRole("button", { name: "Undo this change" }).click();
    await rows("a.txt, changed since: tick it to be asked").click();
    await ok().click();
    await rows("Keep what is there now").waitFor();
    await page.getByText("a.txt: before, as it was left, and now").first().waitFor();
    await page.locator(".multiDiffEntry").nth(3).waitFor();
    await panel.bench.screenshot("undo-conflict");
    assert.equal(await read("a.txt"), SINCE);
    await rows("Undo, and keep what was changed since").click();
    await outcomes(4);
    assert.equal(await read("a.txt"), MERGED);
    const started = (await events()).findLast(({ type }) => type === "undo_started");
    assert.ok(started?.type === "undo_started");
    assert.equal(started.files[0]?.choice, "merge");
    await until(
      "the picture to close",
      async () => (await page.getByText("a.txt: before, as it was left, and now").count()) === 0,
    );
  });
});
