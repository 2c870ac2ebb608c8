/**
 * `npm run pictures`: works in the real VS Code on a copy of `sample/`, with a script in the model's
 * place, and writes what a newcomer is shown of it: media/*.png, for the README and the walkthrough.
 */
import { cp, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { startScriptedModel } from "../test/support/scriptedModel.js";
import { startWorkbench, until } from "../test/workbench/harness.js";
import { must, root, ScriptError, script } from "./process.js";

/** What one picture may weigh, in bytes. */
const HEAVIEST = 150_000;
const MEDIA = join(root, "media");
const LIGHT = "Default Light Modern";
const DARK = "Default Dark Modern";

const edit = {
  path: "src/total.js",
  old: "for (let i = 1; i < coins.length; i++) {",
  new: "for (let i = 0; i < coins.length; i++) {",
};

await script(async () => {
  await must("The build", process.execPath, [join(root, "esbuild.mjs")], { cwd: root });
  const temporary = await mkdtemp(join(tmpdir(), "countersign-pictures-"));
  const folder = join(temporary, "pocket-money");
  await cp(join(root, "sample"), folder, { recursive: true });
  const model = await startScriptedModel([
    {
      text: "I look at the test and at what it tests.",
      calls: [
        { tool: "read_file", args: { path: "test/purse.test.js" } },
        { tool: "read_file", args: { path: "src/total.js" } },
      ],
    },
    {
      text: "The loop in `total.js` begins at **1**, so the first coin is never counted. It has to begin at 0.",
      calls: [{ tool: "search_replace", args: edit }],
    },
    { calls: [{ tool: "run", args: { argv: ["npm", "test"] } }] },
    { calls: [{ tool: "finish", args: { result: "Every coin is counted now." } }] },
    { calls: [{ tool: "write_file", args: { path: "CHANGELOG.md", content: "# Changes\n" } }] },
  ]);
  const bench = await startWorkbench({
    folder,
    viewport: { width: 1180, height: 740 },
    settings: {
      "countersign.models.selected": "openai",
      "countersign.models.openai.baseUrl": model.url,
      "countersign.models.openai.model": "your-model",
      "workbench.colorTheme": DARK,
      "workbench.activityBar.location": "hidden",
      "editor.minimap.enabled": false,
      "breadcrumbs.enabled": false,
    },
  });
  try {
    const { page } = bench;
    await bench.command("View: Toggle Primary Side Bar Visibility");
    await bench.command("Countersign: New Session");
    const chat = await bench.frame('[role="log"]');
    const send = async (text: string) => {
      const composer = chat.getByRole("textbox", { name: "Message" });
      await composer.fill(text);
      await composer.press("Enter");
    };
    const card = (what: string) =>
      chat.getByRole("group", { name: /^Permission: / }).filter({ hasText: what });
    const ready = (shown: Locator) =>
      until("the card's buttons", () =>
        shown.getByRole("button", { name: "Approve", exact: true }).isEnabled(),
      );
    await chat.getByRole("button", { name: "Start the tour" }).waitFor();
    // A little wider than it opens, and all of it for the chat.
    const bar = await page.locator(".part.auxiliarybar").boundingBox();
    if (bar === null) throw new ScriptError("There is no side bar to make wider.");
    await page.mouse.move(bar.x - 2, bar.y + 200);
    await page.mouse.down();
    await page.mouse.move(bar.x - 90, bar.y + 200, { steps: 5 });
    await page.mouse.up();
    const fold = (name: string) =>
      page.locator(".part.auxiliarybar .pane-header").filter({ hasText: name }).click();
    await fold("Approvals");
    await panelOf(page, "walkthrough-ask");

    await bench.command("Countersign: Select Model…");
    await page.locator(".quick-input-list .monaco-list-row").nth(2).waitFor();
    await clipOf(page, page.locator(".quick-input-widget"), "walkthrough-model");
    await page.keyboard.press("Escape");

    await send("Why does a test fail? Mend it.");
    await ready(card("total.js"));
    await page.getByText("Approve edit", { exact: true }).first().waitFor();
    await windowOf(page, "diff");
    await panelOf(page, "card");
    await panelOf(page, "walkthrough-tour");
    await clipOf(page, page.locator(".statusbar"), "status", 520);
    await bench.set({ "workbench.colorTheme": LIGHT });
    await until("the light theme", () =>
      chat.evaluate<boolean>("document.body.dataset.vscodeThemeKind === 'vscode-light'"),
    );
    await windowOf(page, "diff-light");
    await panelOf(page, "card-light");
    await bench.set({ "workbench.colorTheme": DARK });
    await until("the dark theme", () =>
      chat.evaluate<boolean>("document.body.dataset.vscodeThemeKind === 'vscode-dark'"),
    );

    await card("total.js").getByRole("button", { name: "Approve", exact: true }).click();
    await ready(card("Wants to run a command"));
    await panelOf(page, "command");
    await card("Wants to run a command").getByRole("button", { name: "Deny", exact: true }).click();
    await chat.getByText("Every coin is counted now.").waitFor();
    await bench.command("Countersign: New Session");
    await chat.getByRole("heading", { name: "New session", level: 1 }).waitFor();
    await send("Begin a change log");
    await ready(card("CHANGELOG.md"));
    await bench.command("Countersign: Focus on Approvals View");
    const approvals = await bench.frame(".approvals");
    await ready(approvals.getByRole("group", { name: /^Permission: / }));
    await fold("Chat");
    await panelOf(page, "approvals");
    await fold("Chat");
    await bench.command("Countersign: Open Session…");
    await page.locator(".quick-input-list .monaco-list-row").nth(1).waitFor();
    await clipOf(page, page.locator(".quick-input-widget"), "sessions");
  } finally {
    await bench.stop();
    await model.close();
    await rm(temporary, { recursive: true, force: true });
  }
  for (const name of await readdir(MEDIA)) {
    if (!name.endsWith(".png")) continue;
    const { size } = await stat(join(MEDIA, name));
    console.log(`media/${name}  ${size} bytes`);
    if (size > HEAVIEST) throw new ScriptError(`media/${name} has more than ${HEAVIEST} bytes.`);
  }
  return 0;
});

/** The window without its title bar, which names the profile that it was taken in. */
async function windowOf(page: Page, name: string): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  const title = (await page.locator(".part.titlebar").boundingBox())?.height ?? 0;
  await picture(page, name, { x: 0, y: title, width, height: height - title });
}

/** The side bar that the panel is in. */
async function panelOf(page: Page, name: string): Promise<void> {
  await clipOf(page, page.locator(".part.auxiliarybar"), name);
}

/** An element, or its last `right` pixels. */
async function clipOf(page: Page, element: Locator, name: string, right?: number): Promise<void> {
  const box = await element.boundingBox();
  if (box === null) throw new ScriptError(`There is nothing to make ${name}.png of.`);
  const width = Math.min(box.width, right ?? box.width);
  await picture(page, name, { ...box, x: box.x + box.width - width, width });
}

async function picture(
  page: Page,
  name: string,
  clip: { x: number; y: number; width: number; height: number },
): Promise<void> {
  // The pointer rests where it hides nothing, and what it had shown is gone.
  await page.mouse.move(5, 5);
  await page.locator(".workbench-hover").filter({ visible: true }).waitFor({ state: "detached" });
  await page.screenshot({ path: join(MEDIA, `${name}.png`), clip, animations: "disabled" });
}
