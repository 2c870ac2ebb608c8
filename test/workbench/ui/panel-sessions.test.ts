import assert from "node:assert/strict";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { gate } from "../../support/gate.js";
import { until } from "../harness.js";
import { finish, type Panel, run, startPanel, write } from "./panel.js";

describe("sessions in the panel", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({ files: { "a.txt": "one\n", "b.txt": "one\n" } });
  });
  after(() => panel?.stop());

  const status = (): Locator =>
    panel.bench.page
      .locator(".statusbar-item")
      .filter({ hasText: /Countersign|Approve|Answer|:\d\d/ });
  const rows = (): Locator => panel.bench.page.locator(".quick-input-list .monaco-list-row");
  const queued = async () => (await panel.chat()).getByRole("list", { name: "Queued" });

  describe("where there is none yet", () => {
    it("the picker says so, and the status bar that nothing goes on", async () => {
      await panel.bench.command("Countersign: Open Session…");
      await panel.bench.page.getByPlaceholder("There is no session in this folder yet").waitFor();
      await panel.bench.screenshot("sessions-none");
      await panel.bench.page.keyboard.press("Escape");
      assert.equal((await status().textContent())?.trim(), "Countersign");
    });
  });

  describe("the queue", () => {
    it("shows what is asked while a turn runs, and gives it back", async () => {
      await panel.newSession();
      const { held, open } = gate();
      const chat = await panel.ask(
        "First",
        { text: "On it.", hold: held },
        { text: "Second done." },
      );
      await chat.getByText("On it.").waitFor();
      await panel.ask("Second");
      await panel.ask("Third");
      const list = await queued();
      await list.getByText("Third").waitFor();
      assert.deepEqual(
        (await list.getByRole("listitem").allTextContents()).map((text) => text.trim()),
        ["Second", "Third"],
      );
      await panel.bench.screenshot("sessions-queue");
      await list
        .getByRole("listitem")
        .filter({ hasText: "Third" })
        .getByRole("button", { name: "Take back" })
        .click();
      await panel.bench.event("ask_withdrawn", ({ text }) => text === "Third");
      await list.getByText("Third").waitFor({ state: "detached" });
      open();
      await chat.getByText("Second done.").waitFor();
      assert.equal(await list.count(), 0);
    });
  });

  describe("the status bar", () => {
    it("counts while a turn runs, warns while a card waits, and a click goes to the card", async () => {
      await panel.newSession();
      const { held, open } = gate();
      const chat = await panel.ask(
        "Change a.txt",
        write("a.txt", "two\n", { text: "A moment.", hold: held }),
        finish("All done."),
      );
      await chat.getByText("A moment.").waitFor();
      await status()
        .filter({ hasText: /^\s*\d+:\d\d\s*$/ })
        .waitFor();
      open();
      await panel.card("a.txt");
      await status().filter({ hasText: "Approve" }).waitFor();
      assert.match((await status().getAttribute("class")) ?? "", /warning-kind/);
      await panel.bench.screenshot("sessions-status-waiting");
      await status().click();
      await chat.locator("[data-card]:focus").waitFor();
      const card = await panel.card("a.txt");
      await card.getByRole("button", { name: "Deny", exact: true }).click();
      await chat.getByText("All done.").waitFor();
      await status().filter({ hasText: "Countersign" }).waitFor();
      assert.doesNotMatch((await status().getAttribute("class")) ?? "", /warning-kind/);
    });

    it("tells of a question, and a click goes to it", async () => {
      const chat = await panel.ask(
        "Ask me",
        { calls: [{ tool: "ask", args: { question: "Which of them?", options: ["This"] } }] },
        finish("Thanks."),
      );
      await chat.getByRole("button", { name: "This" }).waitFor();
      await status().filter({ hasText: "Answer" }).click();
      await chat.locator("article.question:focus").waitFor();
      await chat.getByRole("button", { name: "This" }).click();
      await chat.getByText("Thanks.").waitFor();
    });
  });

  describe("a turn that did not come to its end", () => {
    it("counts down to the next attempt, and says why", async () => {
      await panel.newSession();
      const busy = { status: 429, headers: { "retry-after": "5" } };
      const chat = await panel.ask("Try", busy, { text: "There it is." });
      const line = chat.locator(".activity");
      await line.getByText(/Trying again in [345] s: /).waitFor();
      await line.getByText(/Trying again in [12] s: /).waitFor();
      await chat.getByText("There it is.").waitFor();
      await chat.locator(".end-finished").waitFor();
    });

    it("is gone on with after an error, which stays to be read", async () => {
      const chat = await panel.ask("Fail", { status: 400, body: '{"error":{"message":"no"}}' });
      await chat.locator(".end-failed").waitFor();
      panel.model.push({ text: "Now it works." });
      await panel.bench.screenshot("sessions-failed");
      await chat.getByRole("button", { name: "Go on" }).click();
      await chat.getByText("Now it works.").waitFor();
      assert.equal(await chat.locator(".end-failed").count(), 1);
      assert.equal(await chat.getByRole("button", { name: "Go on" }).count(), 0);
    });

    it("is gone on with after the window was reloaded in mid-stream; the queue is still there", async () => {
      const { held } = gate();
      let chat = await panel.ask("Long", { text: "I begin", hold: held });
      await chat.getByText("I begin").waitFor();
      await panel.ask("Later");
      await (await queued()).getByText("Later").waitFor();
      await panel.bench.reload();
      await panel.bench.command("Countersign: Focus on Chat View");
      chat = await panel.chat();
      await (await queued()).getByText("Later").waitFor();
      await panel.bench.screenshot("sessions-interrupted");
      // The request that was cut short has used up its answer; these are for what follows.
      panel.model.push({ text: "Picked up." }, { text: "And the later one." });
      await chat.getByRole("button", { name: "Go on" }).click();
      await chat.getByText("Picked up.").waitFor();
      await chat.getByText("And the later one.").waitFor();
      assert.equal(await (await queued()).count(), 0);
    });

    it("stops at Cancel Turn, and what was queued waits for a word", async () => {
      const { held } = gate();
      const chat = await panel.ask("Long again", { text: "I start", hold: held });
      await chat.getByText("I start").waitFor();
      await panel.ask("Waits its turn");
      await (await queued()).getByText("Waits its turn").waitFor();
      await panel.bench.command("Countersign: Cancel Turn");
      await chat.locator(".end-cancelled").waitFor();
      panel.model.push({ text: "Sent on." });
      await panel.bench.screenshot("sessions-cancelled");
      await chat.getByRole("button", { name: "Send on" }).click();
      await chat.getByText("Sent on.").waitFor();
    });

    it("goes on with what is asked while it is still stopping, and then with what was queued", async () => {
      await panel.newSession();
      const slow = "trap 'sleep 1.5; exit' TERM; touch up; while :; do sleep 0.05; done";
      const chat = await panel.ask("Begin", run("sh", "-c", slow));
      const card = await panel.card("trap");
      await card.getByRole("button", { name: "Approve", exact: true }).click();
      await until("the command to be up", async () => (await panel.bench.read("up")) !== undefined);
      await panel.ask("Waits");
      await (await queued()).getByText("Waits").waitFor();
      await panel.bench.command("Countersign: Cancel Turn");
      await panel.ask("This first", { text: "First done." }, { text: "Second done." });
      await chat.getByText("Second done.").waitFor();
      const asked = (await panel.bench.sessions())
        .at(-1)
        ?.events.flatMap((event) => (event.type === "turn_started" ? [event.text] : []));
      assert.deepEqual(asked, ["Begin", "This first", "Waits"]);
      assert.equal(await (await queued()).count(), 0);
    });
  });

  describe("notices", () => {
    // With its driver for tests on, VS Code shows no toasts: what came is in its centre.
    const centre = () => panel.bench.page.locator(".notifications-center");
    const notice = () =>
      centre().locator(".monaco-list-row").filter({ hasText: "Countersign waits" });

    let left = 0;

    /**
     * Tells VS Code what a browser tells it when another window comes to the front, and waits until
     * the extension knows: what the page sends to it arrives in order, and a message of the chat
     * that was sent after it has an event to wait for. A turn has to be going on.
     */
    async function unfocus(): Promise<void> {
      const { page } = panel.bench;
      await page.evaluate(`(() => {
        Object.defineProperty(document, "hasFocus", { configurable: true, value: () => false });
        document.dispatchEvent(new Event("visibilitychange"));
      })()`);
      const ask = `After the focus went, ${++left}`;
      await panel.ask(ask);
      await (await queued()).getByRole("button", { name: "Take back" }).click();
      await panel.bench.event("ask_withdrawn", ({ text }) => text === ask);
    }
    async function focus(): Promise<void> {
      await panel.bench.page.evaluate(`(() => {
        delete document.hasFocus;
        document.dispatchEvent(new Event("visibilitychange"));
      })()`);
    }

    it("come while the window has no focus, lead to the card, and hold no link of others", async () => {
      await panel.newSession();
      const { held, open } = gate();
      const chat = await panel.ask(
        "Say the details",
        { ...run("echo", "[Details](command:workbench.action.quit)"), text: "Soon.", hold: held },
        finish("Left it."),
      );
      await chat.getByText("Soon.").waitFor();
      await unfocus();
      open();
      await panel.card("Wants to run a command");
      await focus();
      await panel.bench.command("Notifications: Show Notifications");
      await notice().getByText("Countersign waits for your answer: echo [Details] (com").waitFor();
      assert.equal(await notice().locator("a[href]").count(), 0);
      await panel.bench.screenshot("sessions-notice");
      await notice().getByRole("button", { name: "Show card" }).click();
      await chat.locator("[data-card]:focus").waitFor();
      const card = await panel.card("Wants to run a command");
      await card.getByRole("button", { name: "Deny", exact: true }).click();
      await chat.getByText("Left it.").waitFor();
    });

    it("do not come while it has the focus, nor where the setting is off", async () => {
      await panel.ask("Change b.txt", write("b.txt", "new\n"), finish("Left b.txt."));
      const first = await panel.card("b.txt");
      await first.getByRole("button", { name: "Deny", exact: true }).click();
      const chat = await panel.chat();
      await chat.getByText("Left b.txt.").waitFor();
      await panel.bench.set({ "countersign.notifyWhenUnfocused": false });
      const { held, open } = gate();
      await panel.ask(
        "Change a.txt again",
        write("a.txt", "two\n", { text: "Wait for it.", hold: held }),
        finish("Left it again."),
      );
      await chat.getByText("Wait for it.").waitFor();
      await unfocus();
      open();
      const card = await panel.card("a.txt");
      await status().filter({ hasText: "Approve" }).waitFor();
      await focus();
      await panel.bench.command("Notifications: Show Notifications");
      await centre().getByText("No new notifications").waitFor();
      assert.equal(await notice().count(), 0);
      await panel.bench.page.keyboard.press("Escape");
      await card.getByRole("button", { name: "Deny", exact: true }).click();
      await chat.getByText("Left it again.").waitFor();
    });
  });

  describe("allows", () => {
    it("are listed with their use, and one that is taken back lets nothing through", async () => {
      // VS Code would draw an icon that it does not know, and with it nothing, in the place of "$(x)".
      const argv = ["echo", "twice $(x)"];
      const row = () => rows().filter({ hasText: 'echo "twice $(x)"' });
      await panel.newSession();
      const chat = await panel.ask(
        "Run it twice",
        run(...argv),
        run(...argv),
        finish("Twice it ran."),
      );
      const card = await panel.card("twice $(x)");
      await card.getByRole("button", { name: "Approve for this session" }).click();
      await chat.getByText("Twice it ran.").waitFor();
      await panel.bench.command("Countersign: Show Allows…");
      await row().getByText("used once").waitFor();
      await panel.bench.screenshot("sessions-allows");
      await row().hover();
      await rows().getByRole("button", { name: "Take back" }).click();
      await rows().getByText("There are no allows.").waitFor();
      await panel.bench.page.keyboard.press("Escape");
      await panel.bench.event("allow_revoked");
      await chat.getByText(/An allow was taken back: echo .*twice/).waitFor();
      assert.equal(await chat.getByRole("button", { name: /^Allows: / }).count(), 0);
      await panel.ask("And again", run(...argv), finish("Asked again."));
      const again = await panel.card("twice $(x)");
      await again.getByRole("button", { name: "Deny", exact: true }).click();
      await chat.getByText("Asked again.").waitFor();
    });
  });

  describe("the picker", () => {
    const input = () => panel.bench.page.locator(".quick-input-widget input[type=text]");

    async function pickButton(title: string, button: string): Promise<void> {
      const row = rows().filter({ hasText: title });
      await row.hover();
      await row.getByRole("button", { name: button }).click();
    }

    it("lists them with state and model, and finds one by its title", async () => {
      await panel.bench.command("Countersign: Open Session…");
      await rows().filter({ hasText: "Run it twice" }).getByText("idle").waitFor();
      await panel.bench.screenshot("sessions-picker");
      await input().fill("run it");
      await until("the list to shrink", async () => (await rows().count()) === 1);
      await input().fill("");
    });

    it("renames one", async () => {
      await pickButton("Run it twice", "Rename");
      await panel.bench.page.getByText("Title of the session").waitFor();
      await input().fill("Twice");
      await panel.bench.page.keyboard.press("Enter");
      await rows().filter({ hasText: "Twice" }).first().waitFor();
      await (await panel.chat()).getByRole("heading", { name: "Twice", level: 1 }).waitFor();
    });

    it("exports one as Markdown, and opens it", async () => {
      await pickButton("Twice", "Export…");
      await rows().filter({ hasText: "Markdown" }).first().click();
      await until("the dialog for a place", async () =>
        (await input().inputValue()).endsWith("Twice.md"),
      );
      await panel.bench.page.keyboard.press("Enter");
      await panel.bench.page.getByRole("tab", { name: "Twice.md" }).waitFor();
      const text = await readFile(join(panel.bench.folder, "Twice.md"), "utf8");
      assert.match(text, /^# `Twice`\n/);
      assert.match(text, /you took back the allow to run `echo` `twice \$\(x\)`\./);
      // The picker comes back once the document is open.
      await rows().filter({ hasText: "Twice" }).first().waitFor();
      await panel.bench.page.keyboard.press("Escape");
    });

    it("deletes one, but only once asked again", async () => {
      const { page } = panel.bench;
      const twice = (await panel.bench.sessions()).find(({ meta }) => meta?.title === "Twice");
      assert.ok(twice);
      await panel.bench.command("Countersign: Open Session…");
      await pickButton("Twice", "Delete");
      const dialog = page.locator(".monaco-dialog-box");
      await dialog.getByText('Delete the session "Twice"?').waitFor();
      await panel.bench.screenshot("sessions-delete");
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await rows().filter({ hasText: "Twice" }).first().waitFor();
      await access(twice.folder);
      await pickButton("Twice", "Delete");
      await dialog.getByRole("button", { name: "Move to Trash" }).click();
      // Where there is no trash, as on a server, it asks once more.
      const forEver = dialog.getByRole("button", { name: "Delete for Ever" });
      await until("the session to be gone", async () => {
        if ((await forEver.count()) > 0) await forEver.click();
        return access(twice.folder).then(
          () => false,
          () => true,
        );
      });
      await until(
        "the list without it",
        async () => (await rows().filter({ hasText: "Twice" }).count()) === 0,
      );
      await page.keyboard.press("Escape");
      await (await panel.chat()).getByRole("heading", { name: "New session", level: 1 }).waitFor();
    });
  });
});
