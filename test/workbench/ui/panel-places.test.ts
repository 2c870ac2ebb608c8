import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { findFrame, offered, runCommand, until } from "../harness.js";
import { finish, type Panel, run, startPanel, write } from "./panel.js";

describe("the panel in every kind of window", () => {
  let panel: Panel;
  let elsewhere: string;

  before(async () => {
    elsewhere = await realpath(await mkdtemp(join(tmpdir(), "countersign-places-")));
    for (const name of ["red", "blue"]) {
      await mkdir(join(elsewhere, name));
      await writeFile(join(elsewhere, name, "a.txt"), `${name}\n`);
    }
    await writeFile(
      join(elsewhere, "both.code-workspace"),
      JSON.stringify({ folders: [{ path: "red" }, { path: "blue" }] }),
    );
    panel = await startPanel({ files: { "a.txt": "one\n" }, trust: true });
  });
  after(async () => {
    await panel?.stop();
    await rm(elsewhere, { recursive: true, force: true });
  });

  const picture = (page: Page, name: string) =>
    page.screenshot({ path: `.vscode-test/screenshots/${name}.png` });
  async function chatOf(page: Page) {
    await runCommand(page, "Countersign: Focus on Chat View");
    return findFrame(page, '[role="log"]');
  }

  it("says in a folder that is not trusted what does not happen there", async () => {
    const { page } = panel.bench;
    const chat = await chatOf(page);
    await chat.getByText("This workspace is not trusted", { exact: false }).waitFor();
    await picture(page, "places-untrusted");
    await panel.ask("Try to run", run("pwd"), { text: "There is no way to." });
    await chat.getByText("There is no way to.").waitFor();
    const ended = await panel.bench.event("call_ended");
    assert.equal(ended.ok, false);
    assert.match(ended.result, /^Commands do not run in an untrusted workspace/);
    assert.equal(
      (await panel.bench.sessions())
        .flatMap(({ events }) => events)
        .some(({ type }) => type === "card_raised"),
      false,
    );
  });

  it("asks there all the same before it writes", async () => {
    const chat = await panel.ask("Change a.txt", write("a.txt", "two\n"), finish("Changed."));
    const card = await panel.card("a.txt");
    assert.equal(await panel.bench.read("a.txt"), "one\n");
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    await chat.getByText("Changed.").waitFor();
    assert.equal(await panel.bench.read("a.txt"), "two\n");
  });

  it("has commands from the moment on that the folder is trusted", async () => {
    const { page } = panel.bench;
    const chat = await panel.chat();
    await chat.getByRole("button", { name: "Manage trust" }).click();
    await page.getByRole("button", { name: "Trust", exact: true }).first().click();
    await chat.getByRole("button", { name: "Manage trust" }).waitFor({ state: "detached" });
    await runCommand(page, "View: Close Editor");
    await panel.ask("Say where", run("pwd"), finish("It ran there."));
    const card = await panel.card("pwd");
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    await chat.getByText("It ran there.").waitFor();
  });

  it("runs where the files are, which need not be where the window is", async () => {
    const ended = await panel.bench.event("call_ended", ({ by }) => by === "user");
    assert.equal(ended.ok, true);
    const all = (await panel.bench.sessions()).flatMap(({ events }) => events);
    const ran = all.findLast((event) => event.type === "call_ended" && event.by === "user");
    assert.ok(ran?.type === "call_ended" && ran.result.includes(panel.bench.folder), "its folder");
  });

  it("shows a session that another window has, read-only, and says who has it", async () => {
    await panel.ask("Change it once more", write("a.txt", "three\n"), finish("Thrice."));
    const card = await panel.card("a.txt");
    const second = await panel.bench.secondWindow();
    const chat = await chatOf(second);
    const why = chat.locator("#why");
    await why.getByText(/has this session/).waitFor();
    await picture(second, "places-second-window");
    await chat.getByText("It ran there.").waitFor();
    const composer = chat.getByRole("textbox", { name: "Message" });
    await composer.fill("Mine?");
    await composer.press("Enter");
    assert.equal(await composer.inputValue(), "Mine?");
    assert.equal(await chat.getByRole("button", { name: "Send" }).isDisabled(), true);
    // Its card is there to be seen, and answered where the session is.
    await chat.getByRole("group", { name: "Permission: a.txt" }).waitFor();
    assert.equal(await chat.getByRole("button", { name: "Approve", exact: true }).count(), 0);
    assert.equal(await chat.getByRole("button", { name: "Cancel turn" }).count(), 0);
    await second.close();
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await (await panel.chat()).getByText("Thrice.").waitFor();
  });

  it("says without a folder that one is to be opened, and offers nothing that cannot be done", async () => {
    const page = await panel.bench.openWindow(undefined);
    await runCommand(page, "Countersign: Focus on Chat View");
    const chat = await findFrame(page, "footer.foot");
    await chat.getByRole("heading", { name: "Open a folder first" }).waitFor();
    await picture(page, "places-no-folder");
    assert.equal(await chat.getByRole("textbox").count(), 0);
    const titles = await offered(page, "Countersign: ");
    for (const title of ["Ask…", "New Session", "Open Session…", "Start Tour", "Deny"])
      assert.equal(titles.includes(`Countersign: ${title}`), false, title);
    await chat.getByRole("button", { name: "Open folder" }).click();
    await page.locator(".quick-input-widget").getByText("Open Folder").first().waitFor();
    await page.close();
  });

  it("asks with more than one folder in which a new session works, and works there", async () => {
    const page = await panel.bench.openWindow(join(elsewhere, "both.code-workspace"));
    // VS Code in a browser may miss the workspace's file as it starts, and has it when loaded again.
    const folder = page.locator(".explorer-folders-view").getByText("blue", { exact: true });
    const found = () =>
      folder.waitFor({ timeout: 5_000 }).then(
        () => true,
        () => false,
      );
    for (let loads = 1; loads < 5 && !(await found()); loads++) await page.reload();
    const chat = await chatOf(page);
    panel.model.push(write("a.txt", "changed\n"), finish("In the blue one."));
    const composer = chat.getByRole("textbox", { name: "Message" });
    await composer.fill("Change a.txt");
    await composer.press("Enter");
    await page.getByPlaceholder("Which folder shall the session work in?").waitFor();
    await picture(page, "places-multi-root");
    await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "blue" }).click();
    const card = chat.getByRole("group", { name: "Permission: a.txt" });
    const approve = card.getByRole("button", { name: "Approve", exact: true });
    await until("the card's buttons", () => approve.isEnabled());
    await chat.getByRole("heading", { level: 1 }).getByText("blue").waitFor();
    await approve.click();
    await chat.getByText("In the blue one.").waitFor();
    const all = (await panel.bench.sessions()).flatMap(({ events }) => events);
    const changed = all.flatMap((event) =>
      event.type === "call_ended" && event.changed !== undefined ? [event.changed] : [],
    );
    assert.equal(changed.at(-1), join(elsewhere, "blue", "a.txt"));
    await page.close();
  });
});
