import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ownIdentity } from "../../../src/core/session/process.js";
import { gate } from "../../support/gate.js";
import { finish, type Panel, run, startPanel, write } from "./panel.js";

const MARKUP = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script><style>*{display:none}</style>`;
const LINKS =
  "[quit](command:workbench.action.quit) [run](javascript:window.hacked=1) [d](data:text/html,x)";

describe("the panel and hostile text", () => {
  let panel: Panel;

  before(async () => {
    panel = await startPanel({ files: { "a.txt": "one\n" } });
    await panel.newSession();
  });
  after(() => panel?.stop());

  it("shows a model's markup as text, loads nothing and makes no link that acts", async () => {
    const chat = await panel.ask("Say it", {
      text: `${MARKUP}\n\n${LINKS}\n\n![p](https://example.invalid/p.png) [ok](https://example.com/)`,
    });
    await chat.getByText("window.hacked=1", { exact: false }).first().waitFor();
    await panel.bench.event("turn_ended");
    await chat.getByRole("link", { name: "ok" }).waitFor();
    const found = await chat.evaluate<unknown>(`({
      hacked: window.hacked,
      images: document.images.length,
      scripts: document.querySelectorAll("#root script, #root style").length,
      links: [...document.querySelectorAll("#root a")].map((a) => a.getAttribute("href")),
    })`);
    assert.deepEqual(found, {
      hacked: undefined,
      images: 0,
      scripts: 0,
      links: ["https://example.com/"],
    });
  });

  it("shows hidden characters of an argv as what they are, and markup in it as text", async () => {
    await panel.ask("Run it", run("echo", "a\u202eb\u200bc", MARKUP, "x\n\n\n\n\n; evil"));
    const card = await panel.card("Wants to run a command");
    panel.model.push(finish("Not run."));
    assert.deepEqual(await card.getByRole("listitem").allTextContents(), [
      "echo",
      "a⟦U+202E⟧b⟦U+200B⟧c",
      MARKUP,
      "x⟦LF×5⟧; evil",
    ]);
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await (await panel.chat()).getByText("Not run.").waitFor();
  });

  it("keeps its layout under a line of 200,000 characters and a hostile file name", async () => {
    const name = `"><img src=x onerror=alert(1)>.txt`;
    await panel.ask("Write it", write(name, `${"x".repeat(200_000)}\n`), finish("Left."));
    const card = await panel.card("onerror=alert(1)");
    const chat = await panel.chat();
    const wide = await chat.evaluate<number>(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    assert.equal(wide, 0);
    assert.equal(await chat.evaluate<number>("document.images.length"), 0);
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await chat.getByText("Left.", { exact: true }).waitFor();
  });

  it("has a policy without unsafe-* that holds", async () => {
    const chat = await panel.chat();
    const policy = await chat
      .locator('meta[http-equiv="Content-Security-Policy"]')
      .getAttribute("content");
    assert.match(policy ?? "", /^default-src 'none'; /);
    assert.doesNotMatch(policy ?? "", /unsafe/);
    const ran = await chat.evaluate<unknown>(`(() => {
      const script = document.createElement("script");
      script.textContent = "window.injected = 1";
      document.body.append(script);
      script.remove();
      return window.injected;
    })()`);
    assert.equal(ran, undefined);
  });
});

describe("a panel that was away", () => {
  let panel: Panel;
  const approvals = () =>
    panel.bench.page.locator(".part.auxiliarybar .pane-header").filter({ hasText: "Approvals" });

  before(async () => {
    panel = await startPanel({ files: { "a.txt": "one\n" } });
    await panel.newSession();
  });
  after(() => panel?.stop());

  it("comes back with what was said meanwhile, its card and its draft, nothing twice", async () => {
    const { held, open } = gate();
    const chat = await panel.ask(
      "Change a.txt",
      write("a.txt", "two\n", { text: "I begin. ", hold: held }),
      finish("Done."),
    );
    await chat.getByText("I begin.").waitFor();
    await (await panel.composer()).fill("my draft");
    const { page } = panel.bench;
    await approvals().click();
    await panel.bench.command("View: Toggle Secondary Side Bar Visibility");
    await page.locator(".part.auxiliarybar").waitFor({ state: "hidden" });
    open();
    await panel.bench.event("card_raised");
    await panel.bench.command("View: Toggle Secondary Side Bar Visibility");
    await panel.card("a.txt");
    const back = await panel.chat();
    assert.equal(await back.getByText("I begin.").count(), 1);
    assert.equal(await (await panel.composer()).inputValue(), "my draft");
  });

  it("only reads a session that another process has after a reload, and takes it over from it", async () => {
    const { bench } = panel;
    const [session] = await bench.sessions();
    const lock = join(session?.folder ?? "", "lock.0123456789abcdef");
    const who = { host: "The host of before", version: "1", workspace: "", machine: hostname() };
    const identity = await ownIdentity(async () => "");
    await writeFile(lock, JSON.stringify({ ...identity, ...who, since: new Date().toISOString() }));
    await bench.reload();
    await bench.command("Countersign: Focus on Chat View");
    const chat = await panel.chat();
    await chat
      .locator("#why")
      .getByText(/^.*The host of before .* has this session open/)
      .waitFor();
    assert.equal(await chat.getByRole("button", { name: "Approve", exact: true }).count(), 0);
    assert.deepEqual(await bench.offered("Countersign: Cancel"), []);
    await rm(lock);
    await panel.card("a.txt");
  });

  it("shows its card before its list of cards was ever unfolded, and comes back as it was", async () => {
    const { page } = panel.bench;
    const badge = page.locator(".part.auxiliarybar .badge");
    // VS Code does not make a view that is folded, which so can have no badge.
    assert.equal(await approvals().getAttribute("aria-expanded"), "false");
    await badge.getByText("1", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "a.txt (proposed)", exact: false }).waitFor();
    await page.locator(".statusbar-item").filter({ hasText: "Approve" }).click();
    await (await panel.chat()).locator("[data-card]:focus").waitFor();
    await approvals().click();
    const list = await panel.bench.frame(".approvals");
    await list.getByRole("group", { name: "Permission: a.txt" }).waitFor();
    await badge.getByText("1", { exact: true }).waitFor();
    const card = await panel.card("a.txt");
    assert.equal(await (await panel.composer()).inputValue(), "my draft");
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    await (await panel.chat()).getByText("Done.").waitFor();
    assert.equal(await panel.bench.read("a.txt"), "two\n");
    await badge.waitFor({ state: "hidden" });
  });
});
