import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import type { EventOf } from "../../../src/core/session/events.js";
import type { ToPanel } from "../../../src/webview/protocol.js";
import { gate } from "../../support/gate.js";
import { until } from "../harness.js";
import { finish, type Panel, run, startPanel, write } from "./panel.js";

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

  describe("in a page that lags behind", () => {
    /** Shows a card in Approvals as it was once, whatever became of it. */
    async function showInApprovals(event: EventOf<"card_raised">): Promise<Frame> {
      const [session] = await panel.bench.sessions();
      const cards = [
        { session: session?.id ?? "", title: "", event, changed: false, unsaved: true, others: [] },
      ];
      const state: ToPanel = { type: "approvals", texts: {}, cards };
      const approvals = await panel.bench.frame(".approvals, .none");
      await approvals.evaluate(
        (data) =>
          (globalThis as unknown as { dispatchEvent(event: Event): void }).dispatchEvent(
            new MessageEvent("message", { data }),
          ),
        state,
      );
      const approve = approvals.getByRole("button", { name: "Approve", exact: true });
      await until("the card's buttons", () => approve.isEnabled());
      return approvals;
    }
    const said = () =>
      panel.bench.page.getByText("This card is not open any more; nothing was changed.").first();
    /** Presses a button there, and waits until the status bar says that it came too late. */
    async function assertTooLate(approvals: Frame, button: string): Promise<void> {
      await said().waitFor({ state: "hidden" });
      await approvals.getByRole("button", { name: button, exact: true }).click();
      await said().waitFor();
    }
    const tabs = () => panel.bench.page.getByRole("tab", { name: /\(proposed\)/ }).count();
    const log = async () =>
      (await panel.bench.sessions()).map(({ events, meta }) => [events, meta?.allows]);

    it("do nothing once they are answered, and say so", async () => {
      await panel.ask("Change c.txt", write("c.txt", "three\n"), finish("C is left."));
      const card = await panel.card("c.txt");
      const raised = await panel.bench.event(
        "card_raised",
        ({ relative, diff }) => relative === "c.txt" && diff?.includes("+three") === true,
      );
      await card.getByRole("button", { name: "Deny", exact: true }).click();
      await (await panel.chat()).locator(".end-finished").last().waitFor();
      await until("the end of the turn", async () => {
        const [session] = await panel.bench.sessions();
        return session?.events.at(-1)?.type === "turn_ended";
      });
      const before = await log();
      await assertTooLate(await showInApprovals(raised), "Approve");
      for (const name of ["Approve for this session", "Deny", "Save"]) {
        const approvals = await showInApprovals(raised);
        await approvals.getByRole("button", { name, exact: true }).click();
      }
      assert.deepEqual(await log(), before);
      assert.equal(await panel.bench.read("c.txt"), "two\n");
      assert.equal(await tabs(), 0);
    });

    it("do nothing once another has taken their place, which is open as before", async () => {
      await panel.ask(
        "Change c.txt again",
        write("c.txt", "three\n"),
        finish("C is done at last."),
      );
      const first = await panel.card("c.txt");
      await writeFile(join(panel.bench.folder, "c.txt"), "other\n");
      await first.getByText(/The file has changed on disk/).waitFor();
      await first.getByRole("button", { name: "Approve", exact: true }).click();
      const fresh = await panel.bench.event(
        "card_raised",
        ({ replaces, diff }) => replaces !== undefined && diff?.includes("+three") === true,
      );
      const old = await panel.bench.event("card_raised", ({ card }) => card === fresh.replaces);
      await panel.card("-other");
      await assertTooLate(await showInApprovals(old), "Open diff");
      const approvals = await showInApprovals(old);
      await approvals.getByRole("button", { name: "Approve", exact: true }).click();
      assert.equal(await panel.bench.read("c.txt"), "other\n");
      const card = await panel.card("-other");
      await card.getByRole("button", { name: "Approve", exact: true }).click();
      await (await panel.chat()).getByText("C is done at last.").last().waitFor();
      assert.equal(await panel.bench.read("c.txt"), "three\n");
    });
  });
});
