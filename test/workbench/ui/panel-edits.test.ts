import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { WRITE_BYTES } from "../../../src/core/limits.js";
import type { EventOf, EventType } from "../../../src/core/session/events.js";
import { until } from "../harness.js";
import { finish, type Panel, startPanel, write } from "./panel.js";

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);
/** The lines, those of `changes` by their number from 1 in the place of what was there. */
const lines = (changes: Record<number, string> = {}) =>
  LINES.map((line, i) => `${changes[i + 1] ?? line}\n`).join("");

describe("a proposal that is edited before it is approved", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({
      settings: {
        // In a browser VS Code saves by itself, where nobody says otherwise.
        "files.autoSave": "off",
        // What would change the text behind the back of whoever types.
        "files.trimTrailingWhitespace": true,
        "files.insertFinalNewline": true,
        "files.encoding": "windows1252",
      },
      files: {
        "a.txt": lines(),
        "b.txt": lines(),
        "c.txt": "\ufeffone\r\ntwo\r\nthree",
        "d.txt": "one\ntwo\r\n",
        "e.txt": lines(),
        "f.txt": "one\ntwo\nthree\n",
      },
      viewport: { width: 2000, height: 1000 },
    });
    await panel.newSession();
  });
  after(() => panel?.stop());

  const page = () => panel.bench.page;
  const tab = (name: string): Locator =>
    page().getByRole("tab", { name: `${name} (proposed)`, exact: false });
  const right = () =>
    page().locator(".modified-in-monaco-diff-editor .view-lines:not(.line-delete)");
  const lens = (text: string | RegExp): Locator =>
    page().locator(".modified-in-monaco-diff-editor .codelens-decoration").getByText(text);
  /** Presses a lens until `done`: one that is drawn anew under the pointer swallows the click. */
  const press = async (which: Locator, done: () => Promise<unknown>) => {
    for (let tries = 1; ; tries += 1) {
      await which.click();
      try {
        await until("the lens to be heard", async () => Boolean(await done()), 3_000);
        return;
      } catch (error) {
        if (tries === 5) throw error;
      }
    }
  };
  const events = async <T extends EventType>(type: T): Promise<EventOf<T>[]> =>
    (await panel.bench.sessions())
      .flatMap(({ events }) => events)
      .filter((event): event is EventOf<T> => event.type === type);
  const isEdited = async (text: string) => (await events("card_edited")).at(-1)?.edited === text;
  /** Once the newest edit is `text`. */
  const edited = (text: string) =>
    until(`the edit to be ${JSON.stringify(text.slice(0, 200))}`, () => isEdited(text));
  const answers = (count: number) => async () => (await events("card_answered")).length === count;
  const proposal = async (name: string, content: string, done: string): Promise<Locator> => {
    await panel.ask(`Change ${name}`, write(name, content), finish(done));
    const card = await panel.card(name);
    await tab(name).click();
    await lens("Approve edit").waitFor();
    return card;
  };
  const toTop = async () => {
    await right().click();
    await page().keyboard.press("ControlOrMeta+Home");
  };
  /** What the model was told of its last call. */
  const told = () => {
    const sent = panel.model.requests.at(-1)?.body;
    return JSON.stringify(sent);
  };

  it("is typed into, closed without a question, and opened again as it was left", async () => {
    const proposed = { 5: "FIVE", 15: "FIFTEEN \u00e9", 25: "TWENTY-FIVE" };
    const card = await proposal("a.txt", lines(proposed), "A is done.");
    await panel.bench.screenshot("edits-lenses");
    // The left side is the file as it is.
    await page().locator(".original-in-monaco-diff-editor .view-lines").first().click();
    await page().keyboard.type("x");
    await page()
      .getByText(/read-only/)
      .first()
      .waitFor();
    assert.deepEqual(await events("card_edited"), []);
    await toTop();
    await page().keyboard.type("mine  ");
    await page().keyboard.press("ControlOrMeta+s");
    await edited(lines({ ...proposed, 1: "mine  line 1" }));
    await until(
      "nothing to be unsaved",
      async () => (await page().locator(".tab.dirty").count()) === 0,
    );
    await panel.bench.command("View: Close Editor");
    await until("the tab to close", async () => (await tab("a.txt").count()) === 0);
    assert.equal(await page().locator(".monaco-dialog-box").count(), 0);
    await card.getByText("Edited by you").waitFor();
    await card.getByText("+mine  line 1").waitFor();
    await panel.bench.screenshot("edits-card");
    await card.getByRole("button", { name: "Open diff", exact: true }).click();
    await right().getByText("mine").waitFor();
  });

  it("drops a change by its lens, which undo and its own lens bring back", async () => {
    const all = { 1: "mine  line 1", 5: "FIVE", 15: "FIFTEEN \u00e9", 25: "TWENTY-FIVE" };
    const { 15: _, ...dropped } = all;
    const drop = () => lens(/^Drop$/).nth(1);
    await lens("Keep 2/3").waitFor();
    await press(drop(), () => isEdited(lines(dropped)));
    await lens("Dropped 2/3").waitFor();
    await panel.bench.screenshot("edits-dropped");
    await right().click();
    await page().keyboard.press("ControlOrMeta+z");
    await edited(lines(all));
    await page().keyboard.press("ControlOrMeta+Shift+z");
    await edited(lines(dropped));
    await press(lens("Put back"), () => isEdited(lines(all)));
    await press(lens("Keep 2/3"), () => lens("Kept 2/3").count());
    await press(drop(), () => isEdited(lines(dropped)));
  });

  it("is written as the right side shows it, by a lens, and the model is told", async () => {
    await press(lens("Approve as edited"), answers(1));
    const written = lines({ 1: "mine  line 1", 5: "FIVE", 25: "TWENTY-FIVE" });
    await until("a.txt to be written", async () => (await panel.bench.read("a.txt")) === written);
    await (await panel.chat()).getByText("A is done.").waitFor();
    const answered = (await events("card_answered")).at(-1);
    assert.deepEqual(
      [answered?.answer, answered?.surface, answered?.digest],
      ["allow_once", "lens", (await events("card_edited")).at(-1)?.digest],
    );
    const ended = (await events("call_ended")).find(({ changed }) => changed !== undefined);
    assert.match(
      ended?.result ?? "",
      /^Wrote a\.txt: .*Of your 3 changes, 2 written as proposed, 1 dropped, 0 edited\. Dropped, by the file as it was: line 15\./,
    );
    assert.match(ended?.result ?? "", /\n-line 1\n\+mine {2}line 1\n/);
    assert.ok(told().includes("2 written as proposed, 1 dropped"));
    await (await panel.chat()).getByText("Approved as edited").waitFor();
    await panel.bench.screenshot("edits-approved");
  });

  it("is approved in the chat as it is shown there, and Revert brings the proposal back", async () => {
    const card = await proposal("b.txt", lines({ 5: "FIVE" }), "B is done.");
    await toTop();
    await page().keyboard.type("X");
    await card.getByText("+Xline 1").waitFor();
    await card.getByRole("button", { name: "Revert edits", exact: true }).click();
    await until(
      "the proposal to be back",
      async () => (await events("card_edited")).at(-1)?.reverted,
    );
    await card.getByText("Edited by you").waitFor({ state: "detached" });
    await right().getByText("Xline 1").waitFor({ state: "detached" });
    // A revert is a change like any other: undo takes it back.
    await right().click();
    await page().keyboard.press("ControlOrMeta+z");
    await card.getByText("+Xline 1").waitFor();
    await until("the button", () =>
      card.getByRole("button", { name: "Approve", exact: true }).isEnabled(),
    );
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    const written = lines({ 1: "Xline 1", 5: "FIVE" });
    await until("b.txt to be written", async () => (await panel.bench.read("b.txt")) === written);
    await (await panel.chat()).getByText("B is done.").waitFor();
    assert.equal((await events("card_answered")).at(-1)?.surface, "chat");
  });

  it("keeps BOM, CRLF and no newline at the end", async () => {
    await proposal("c.txt", "\ufeffone\r\n2\r\nthree", "C is done.");
    await toTop();
    await page().keyboard.type("a");
    await page().keyboard.press("Enter");
    const written = "\ufeffa\r\none\r\n2\r\nthree";
    await edited(written);
    await press(lens("Approve as edited"), answers(3));
    await (await panel.chat()).getByText("C is done.").waitFor();
    assert.deepEqual(
      await readFile(join(panel.bench.folder, "c.txt")),
      Buffer.from(written, "utf8"),
    );
  });

  it("is a denial once its every change is dropped", async () => {
    await proposal("e.txt", lines({ 5: "FIVE", 25: "TWENTY-FIVE" }), "E is done.");
    await press(lens(/^Drop$/).nth(1), () => lens("Dropped 2/2").count());
    await press(lens(/^Drop$/).first(), () => isEdited(lines()));
    await lens("Nothing is left of the proposal").first().waitFor();
    const card = await panel.card("e.txt");
    await card.getByText("Nothing is left of the proposal").waitFor();
    await panel.bench.screenshot("edits-nothing-left");
    await until("the button", () =>
      card.getByRole("button", { name: "Approve", exact: true }).isEnabled(),
    );
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    await (await panel.chat()).getByText("E is done.").waitFor();
    await (await panel.chat()).getByText("Denied: nothing was left of it").waitFor();
    const answered = (await events("card_answered")).at(-1);
    assert.deepEqual([answered?.answer, answered?.nothingLeft], ["deny", true]);
    assert.ok(told().includes("Denied by the user: every change of it was dropped"));
  });

  it("is made anew without the edit, and says so, where the file has changed", async () => {
    await proposal("e.txt", lines({ 5: "FIVE" }), "E again.");
    await toTop();
    await page().keyboard.type("X");
    await edited(lines({ 1: "Xline 1", 5: "FIVE" }));
    await writeFile(join(panel.bench.folder, "e.txt"), lines({ 30: "someone else" }));
    await press(lens("Approve as edited"), answers(5));
    const card = await panel.card("e.txt");
    await card.getByText("your edit is not in it").waitFor();
    await lens("Approve edit").waitFor();
    assert.equal(await panel.bench.read("e.txt"), lines({ 30: "someone else" }));
    await panel.bench.screenshot("edits-spent");
  });

  it("is there again after the window was loaded anew", async () => {
    await toTop();
    await page().keyboard.type("Y");
    await edited(lines({ 1: "Yline 1", 5: "FIVE" }));
    await panel.bench.reload();
    const card = await panel.card("e.txt");
    await card.getByText("+Yline 1").waitFor();
    await right().getByText("Yline 1").waitFor();
    await press(lens("Approve as edited"), answers(6));
    const written = lines({ 1: "Yline 1", 5: "FIVE" });
    await until("e.txt to be written", async () => (await panel.bench.read("e.txt")) === written);
    await (await panel.chat()).getByText("E again.").waitFor();
  });

  it("cannot be edited, and says why, where an editor would change more than is typed", async () => {
    await panel.ask("Change d.txt", write("d.txt", "ONE\ntwo\r\n"), finish("D is done."));
    await panel.card("d.txt");
    await tab("d.txt").click();
    await lens("its line ends are mixed").waitFor();
    await right().click();
    await page().keyboard.type("x");
    await page()
      .getByText(/Editor is read-only/)
      .first()
      .waitFor();
    await press(lens("Approve edit"), answers(7));
    await until(
      "d.txt to be written",
      async () => (await panel.bench.read("d.txt")) === "ONE\ntwo\r\n",
    );
    await (await panel.chat()).getByText("D is done.").waitFor();
  });

  it("is approved in Approvals as it is shown there", async () => {
    const approvals = await panel.bench.frame(".approvals, .none");
    await proposal("d.txt", "one\ntwo\n", "D again.");
    await toTop();
    await page().keyboard.type("my ");
    const card = approvals.getByRole("group", { name: /^Permission: / });
    await card.getByText("Edited by you").waitFor();
    await card.getByText("+my one").waitFor();
    const approve = card.getByRole("button", { name: "Approve", exact: true });
    await until("the button", () => approve.isEnabled());
    await approve.click();
    await (await panel.chat()).getByText("D again.").waitFor();
    assert.equal(await panel.bench.read("d.txt"), "my one\ntwo\n");
    const answered = (await events("card_answered")).at(-1);
    assert.deepEqual(
      [answered?.answer, answered?.surface, answered?.digest],
      ["allow_once", "approvals", (await events("card_edited")).at(-1)?.digest],
    );
  });

  it("of 256 KiB is edited, and one byte more than that is not approved", async () => {
    const count = WRITE_BYTES / 64;
    const whole = Array.from({ length: count }, (_, n) => `${n}`.padEnd(63, "x"))
      .join("\n")
      .concat("\n");
    assert.equal(whole.length, WRITE_BYTES);
    await writeFile(join(panel.bench.folder, "large.txt"), `old\n${whole.slice(64)}`);
    const card = await proposal("large.txt", whole, "It is large.");
    await toTop();
    await page().keyboard.type("y");
    await lens(/has 262145 bytes, and at most 262144/).waitFor();
    await panel.bench.screenshot("edits-too-large");
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    const warning = page()
      .locator(".monaco-alert")
      .getByText(/and at most 262144 can be written/);
    await until("a warning", async () => (await warning.count()) > 0);
    assert.equal((await events("card_answered")).length, 8);
    await toTop();
    await page().keyboard.press("ArrowRight");
    await page().keyboard.press("Delete");
    const edited = `y${whole.slice(1)}`;
    await press(lens("Approve as edited"), answers(9));
    await (await panel.chat()).getByText("It is large.").waitFor();
    assert.equal(await panel.bench.read("large.txt"), edited);
  });

  it("is told where white space changes that the editor does not mark", async () => {
    await panel.newSession();
    const chat = await panel.ask(
      "Indent a line",
      write("f.txt", "one\n  two\nthree\n"),
      finish("F is left."),
    );
    await panel.card("f.txt");
    await tab("f.txt").waitFor();
    await lens("White space changes that this editor does not mark: 1").waitFor();
    await panel.bench.screenshot("edits-white-space");
    await press(lens("Deny"), async () => (await tab("f.txt").count()) === 0);
    await chat.getByText("F is left.").waitFor();
  });
});
