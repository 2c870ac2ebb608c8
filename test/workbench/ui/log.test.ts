import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EventOf, EventType, SessionEvent } from "../../../src/core/session/events.js";
import { until } from "../harness.js";
import { finish, type Panel, run, startPanel, write } from "./panel.js";

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

  it("says of a command that was cancelled what left it and is still running, and so to the model", async () => {
    const time = `33000000.${process.pid}`;
    const sleeping = () =>
      execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" })
        .split("\n")
        .flatMap((line) => (line.endsWith(` sleep ${time}`) ? [Number.parseInt(line, 10)] : []));
    await panel.newSession();
    const script = `(setsid sleep ${time} >/dev/null 2>&1 &); sleep 60`;
    await panel.ask("Start it", run("sh", "-c", script));
    await (await panel.card("setsid"))
      .getByRole("button", { name: "Approve", exact: true })
      .click();
    const [pid] = await until("the process that leaves", async () => {
      const pids = sleeping();
      return pids.length > 0 && pids;
    });
    try {
      await panel.bench.command("Countersign: Cancel Turn");
      const { result } = await panel.bench.event("call_ended", (event) =>
        /cancelled/.test(event.result),
      );
      assert.match(result, /^SIGTERM was sent to:$/m);
      assert.match(result, /^Still running \(it left the command's group, and was not ended\):$/m);
      assert.ok(result.includes(`\n  ${pid} sleep ${time}\n`), result);
      await panel.bench.event("turn_ended", ({ reason }) => reason === "cancelled");
      await panel.ask("What is left?", finish("One process is left."));
      await (await panel.chat()).getByText("One process is left.").waitFor();
      assert.ok(String(panel.model.requests.at(-1)?.raw).includes(`${pid} sleep ${time}`));
    } finally {
      for (const one of sleeping()) process.kill(one);
    }
  });

  it("is shown as a document that tells by whose answer, and goes on as the session does", async () => {
    const { bench } = panel;
    await panel.newSession();
    await panel.ask("Write **b**", write("b.txt", "b\n"), finish("B is written."));
    await (await panel.card("b.txt"))
      .getByRole("button", { name: "Approve for this session", exact: true })
      .click();
    await (await panel.chat()).getByText("B is written.").waitFor();
    await bench.command("Countersign: Show Log…");
    const text = bench.page.locator(".editor-instance .view-lines");
    const line = (what: RegExp) => text.filter({ hasText: what }).first().waitFor();
    await line(/Turn.1/);
    await bench.page.keyboard.press("ControlOrMeta+End");
    await line(/Turn.1.finished/);
    await bench.page.keyboard.press("PageUp");
    await line(/it.went.through/);
    await bench.screenshot("log-document");
    // It is for reading.
    await bench.page.keyboard.type("x");
    await panel.ask("Again", write("b.txt", "c\n"), finish("Again."));
    await (await panel.chat()).getByText("Again.").first().waitFor();
    await bench.page.locator(".editor-instance .view-lines").first().click();
    await until("the document to go on", async () => {
      await bench.page.keyboard.press("ControlOrMeta+End");
      return (await text.filter({ hasText: /Turn.2.finished/ }).count()) > 0;
    });
    await bench.page.keyboard.press("PageUp");
    await line(/by.the.allow.to.change/);
    assert.equal(await bench.read("b.txt"), "c\n");
  });

  it("is exported as Markdown, and as the exact bytes of the log", async () => {
    const { bench } = panel;
    const exported = async (format: string, name: string): Promise<string> => {
      await bench.command("Countersign: Export Session…");
      const rows = bench.page.locator(".quick-input-list .monaco-list-row");
      await rows.filter({ hasText: format }).first().click();
      await until("the dialog for a place", async () => {
        const value = await bench.page.locator(".quick-input-widget input[type=text]").inputValue();
        return value.endsWith(name);
      });
      await bench.page.keyboard.press("Enter");
      await bench.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
      return until(name, () => bench.read(name));
    };
    const [session] = (await bench.sessions()).slice(-1);
    const markdown = await exported("Markdown", "Write b.md");
    // It is opened once it is there; until then the palette would lose the focus to it.
    await bench.page.getByRole("tab", { name: /^Write b\.md/ }).waitFor();
    assert.match(markdown, /^# `Write \*\*b\*\*`$/m);
    const answered = session?.events.find(({ type }) => type === "card_answered");
    assert.ok(answered?.type === "card_answered");
    const when = `${answered.at.slice(0, 10)} ${answered.at.slice(11, 19)} UTC in the chat`;
    assert.ok(markdown.includes(`**it went through** by the answer of ${when}`));
    assert.match(markdown, /by the allow to change `[^`]*b\.txt`, given at /);
    assert.ok(markdown.includes(`"content": "c\\n"`));
    const log = join(session?.folder ?? "", "log.jsonl");
    assert.equal(await exported("JSON lines", "Write b.jsonl"), await readFile(log, "utf8"));
  });

  it("shows two sessions that change one file each other's diff, and makes the second card anew when the first lands", async () => {
    const { bench } = panel;
    await panel.newSession();
    await panel.ask("Make it three", write("a.txt", "three\n"));
    await panel.card("a.txt");
    await panel.newSession();
    await panel.ask("Make it four", write("a.txt", "four\n"));
    const second = await panel.card("a.txt");
    await second
      .getByText("Another session proposes a change of this file too: Make it three")
      .waitFor();
    const approvals = await bench.frame(".approvals");
    const first = approvals
      .getByRole("group", { name: /^Permission: / })
      .filter({ hasText: "+three" });
    await first
      .getByText("Another session proposes a change of this file too: Make it four")
      .waitFor();
    await bench.screenshot("two-sessions");

    await second.getByRole("button", { name: "Show other diff" }).click();
    const right = bench.page.locator(".monaco-diff-editor .editor.modified .view-lines");
    await right.filter({ hasText: "three" }).first().waitFor();

    const cards = await allOf(panel, "card_raised", ({ relative }) => relative === "a.txt");
    const old = cards.at(-1);
    panel.model.push(finish("It is three."));
    await first.getByRole("button", { name: "Approve", exact: true }).click();
    const anew = await bench.event("card_raised", ({ replaces }) => replaces === old?.card);
    assert.match(anew.diff ?? "", /-three\n\+four/);
    assert.equal(await bench.read("a.txt"), "three\n");
    const fresh = await panel.card("-three");
    assert.equal(await fresh.getByRole("button", { name: "Show other diff" }).count(), 0);
    await bench.event("result", ({ text }) => text === "It is three.");

    panel.model.push(finish("It is four."));
    await fresh.getByRole("button", { name: "Approve", exact: true }).click();
    await (await panel.chat()).getByText("It is four.").waitFor();
    assert.equal(await bench.read("a.txt"), "four\n");
    const ends = await allOf(
      panel,
      "call_ended",
      ({ changed }) => changed?.endsWith("a.txt") === true,
    );
    assert.equal(ends.length, 3);
  });
});

/** Every event of a type in every session's log. */
async function allOf<T extends EventType>(
  panel: Panel,
  type: T,
  matches: (event: EventOf<T>) => boolean,
): Promise<EventOf<T>[]> {
  const fits = (event: SessionEvent): event is EventOf<T> =>
    event.type === type && matches(event as EventOf<T>);
  return (await panel.bench.sessions()).flatMap(({ events }) => events.filter(fits));
}
