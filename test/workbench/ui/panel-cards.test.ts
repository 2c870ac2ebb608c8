import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "../harness.js";
import { finish, gate, type Panel, run, startPanel, write } from "./panel.js";

describe("cards in the panel", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({ files: { "a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n" } });
    await panel.newSession();
  });
  after(() => panel?.stop());

  const answers = async () =>
    (await panel.bench.sessions())
      .flatMap(({ events }) => events)
      .filter((event) => event.type === "card_answered").length;

  it("leave the focus and a half-typed message alone when they come up", async () => {
    const { held, open } = gate();
    const chat = await panel.ask(
      "Change a.txt",
      write("a.txt", "two\n", { text: "A moment.", hold: held }),
      finish("Done."),
    );
    await chat.getByText("A moment.").waitFor();
    const composer = await panel.composer();
    await composer.click();
    await panel.bench.page.keyboard.type("half a ");
    open();
    await panel.card("a.txt");
    await panel.bench.page.keyboard.type("message");
    assert.equal(await composer.inputValue(), "half a message");
    assert.equal(
      await composer.evaluate((field) => field.ownerDocument.activeElement === field),
      true,
    );
  });

  it("are not answered by Enter in the composer, which says why nothing is sent", async () => {
    const composer = await panel.composer();
    const before = await answers();
    await composer.press("Enter");
    await composer.press("Enter");
    const chat = await panel.chat();
    await chat.getByText("A card waits for your answer. Your text is kept.").first().waitFor();
    assert.equal(await composer.inputValue(), "half a message");
    assert.equal(await answers(), before);
    assert.equal(await panel.bench.read("a.txt"), "one\n");
    await panel.card("a.txt");
  });

  it("are in Approvals too, and an answer there counts once", async () => {
    const approvals = await panel.bench.frame(".approvals");
    await approvals.getByRole("button", { name: "Approve", exact: true }).click();
    await panel.bench.event("turn_ended");
    assert.equal(await panel.bench.read("a.txt"), "two\n");
    const answered = await panel.bench.event("card_answered");
    assert.equal(answered.surface, "approvals");
    await (await panel.bench.frame(".none")).getByText("No card waits.").waitFor();
  });

  it("fold to one line once answered, which says what, when and where", async () => {
    const chat = await panel.chat();
    await chat.getByRole("button", { name: /^Approved · .* · in Approvals$/ }).waitFor();
    assert.equal(await chat.getByRole("group", { name: /^Permission: / }).count(), 0);
  });

  it("take a reason with a denial, and the model gets it", async () => {
    await (await panel.composer()).fill("");
    await panel.ask("Change b.txt", write("b.txt", "two\n"), finish("I left it."));
    const card = await panel.card("b.txt");
    await card.getByRole("textbox", { name: /reason/i }).fill("keep b as it is");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    const answered = await panel.bench.event("card_answered", ({ answer }) => answer === "deny");
    assert.equal(answered.note, "keep b as it is");
    await (await panel.chat()).getByText("I left it.").waitFor();
    assert.match(String(panel.model.requests.at(-1)?.raw), /keep b as it is/);
    assert.equal(await panel.bench.read("b.txt"), "one\n");
  });

  it("show an argv one argument a line where blanks could mislead", async () => {
    await panel.ask("Run it", run("printf", "%s", "two words; rm -rf x"), finish("It ran."));
    const card = await panel.card("two words; rm -rf x");
    assert.deepEqual(await card.getByRole("listitem").allTextContents(), [
      "printf",
      "%s",
      "two words; rm -rf x",
    ]);
    await card.getByRole("button", { name: "Approve for this session", exact: true }).click();
    await (await panel.chat()).getByText("It ran.").waitFor();
    await (await panel.chat()).getByRole("button", { name: "Allows: 1" }).waitFor();
  });

  it("say so at once when the file changes under them, and a new one takes an answer's place", async () => {
    await panel.ask("Change c.txt", write("c.txt", "two\n"), finish("C is done."));
    const card = await panel.card("c.txt");
    await writeFile(join(panel.bench.folder, "c.txt"), "other\n");
    await card.getByText(/The file has changed on disk/).waitFor();
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    await panel.bench.event("card_spent");
    const fresh = await panel.card("c.txt");
    await fresh.getByText("-other").waitFor();
    assert.equal(await panel.bench.read("c.txt"), "other\n");
    await fresh.getByRole("button", { name: "Approve", exact: true }).click();
    await (await panel.chat()).getByText("C is done.").waitFor();
    assert.equal(await panel.bench.read("c.txt"), "two\n");
  });

  it("do not let the second click of a double click answer the card that comes next", async () => {
    await panel.ask(
      "Change both",
      {
        calls: [
          { tool: "write_file", args: { path: "a.txt", content: "three\n" } },
          { tool: "write_file", args: { path: "b.txt", content: "three\n" } },
        ],
      },
      finish("Both."),
    );
    const card = await panel.card("a.txt");
    await card.getByRole("button", { name: "Approve", exact: true }).dblclick();
    const second = await panel.card("b.txt");
    await until("a.txt to be written", async () => (await panel.bench.read("a.txt")) === "three\n");
    assert.equal(await panel.bench.read("b.txt"), "one\n");
    await second.getByRole("button", { name: "Deny", exact: true }).click();
    await (await panel.chat()).getByText("Both.").waitFor();
    assert.equal(await panel.bench.read("b.txt"), "one\n");
  });
});
