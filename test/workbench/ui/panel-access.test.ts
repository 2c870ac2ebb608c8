import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import { root } from "../../../scripts/process.js";
import type { ToPanel } from "../../../src/webview/protocol.js";
import { until } from "../harness.js";
import { finish, type Panel, startPanel, write } from "./panel.js";
import { approvalStates, chatStates } from "./states.js";

/** What axe tells of one rule that is broken. */
interface Fault {
  readonly id: string;
  readonly html: string;
}

// axe's own builder starts at the page, and cannot reach through the frames of a webview's guest.
const axe = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Themes by the kind that VS Code tells a page. */
const THEMES = {
  "vscode-dark": "Default Dark Modern",
  "vscode-light": "Default Light Modern",
  "vscode-high-contrast": "Default High Contrast",
  "vscode-high-contrast-light": "Default High Contrast Light",
} as const;
const [first] = Object.keys(THEMES);
/** The rules that can come out otherwise in another theme: the rest of a page is the same. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];
const PICTURES = join(root, ".vscode-test/screenshots/states");

/** Keeps a picture of what a frame shows, where someone wants to look at all of them. */
async function picture(frame: Frame, name: string): Promise<void> {
  if (process.env.COUNTERSIGN_PICTURES === undefined) return;
  const place = await frame.frameElement();
  await place.screenshot({ path: join(PICTURES, `${name}.png`) });
}

/** Puts a page into a state, as the host would, and waits until it was drawn. */
async function show(frame: Frame, state: ToPanel): Promise<void> {
  await frame.evaluate(
    (data) =>
      new Promise((resolve) => {
        const page = globalThis as unknown as {
          dispatchEvent(event: Event): void;
          requestAnimationFrame(then: () => void): void;
        };
        page.dispatchEvent(new MessageEvent("message", { data }));
        page.requestAnimationFrame(() => page.requestAnimationFrame(() => setTimeout(resolve)));
      }),
    state,
  );
}

/** Waits for what cannot be pressed yet: it is drawn pale, and axe does not look at it. */
async function pressable(frame: Frame): Promise<void> {
  await until("the buttons", async () =>
    frame.evaluate<boolean>(`document.querySelectorAll(".card button:disabled").length === 0`),
  );
}

/** Which of these rules (of all, where there are none) a page breaks, each with the first element. */
async function faults(frame: Frame, rules: readonly string[]): Promise<readonly Fault[]> {
  const options = rules.length === 0 ? {} : { runOnly: rules };
  const { passes, found } = await frame.evaluate<{ passes: number; found: readonly Fault[] }>(
    `axe.run("#root", ${JSON.stringify(options)}).then(({ passes, violations }) => ({
      passes: passes.length,
      found: violations.map(({ id, nodes }) => ({
        id,
        html: nodes[0].html + " " + nodes[0].failureSummary,
      })),
    }))`,
  );
  assert.ok(passes > 0, "axe looked at something");
  return found;
}

describe("the panel for everyone", () => {
  let panel: Panel;
  let chat: Frame;
  let approvals: Frame;

  before(async () => {
    panel = await startPanel({ files: { "a.txt": "one\n" } });
    await mkdir(PICTURES, { recursive: true });
    chat = await panel.newSession();
    approvals = await panel.bench.frame(".none");
    for (const frame of [chat, approvals]) await frame.evaluate(await axe);
  });
  after(() => panel?.stop());

  /** Every state of both views, drawn. */
  async function* states(): AsyncGenerator<{ name: string; frame: Frame }> {
    for (const [name, state] of Object.entries(chatStates)) {
      await show(chat, state);
      yield { name: `chat, ${name}`, frame: chat };
    }
    for (const [name, state] of Object.entries(approvalStates)) {
      await show(approvals, state);
      yield { name: `approvals, ${name}`, frame: approvals };
    }
  }

  for (const [kind, theme] of Object.entries(THEMES))
    it(`has no fault that axe knows in any state of its views, in ${theme}`, async () => {
      await panel.bench.set({ "workbench.colorTheme": theme });
      for (const frame of [chat, approvals])
        await until("the theme to be there", () =>
          frame.evaluate<boolean>(`document.body.dataset.vscodeThemeKind === "${kind}"`),
        );
      // A webview is transparent; what it lies on, axe cannot see.
      for (const frame of [chat, approvals])
        await frame.evaluate(
          `document.body.style.background = getComputedStyle(document.documentElement)
            .getPropertyValue("--vscode-sideBar-background")`,
        );
      const found: Record<string, readonly Fault[]> = {};
      for await (const { name, frame } of states()) {
        await pressable(frame);
        const broken = await faults(frame, kind === first ? [] : OF_COLOURS);
        if (broken.length > 0) found[name] = broken;
        await picture(frame, `${kind}, ${name}`);
      }
      assert.deepEqual(found, {});
    });

  it("fits into 320 px, and into half of that, in every state", async () => {
    for (const width of [320, 160]) {
      for (const frame of [chat, approvals])
        await frame.evaluate(`document.body.style.width = "${width}px"`);
      const wide: Record<string, number> = {};
      for await (const { name, frame } of states()) {
        const over = await frame.evaluate<number>(
          "document.querySelector('#root').scrollWidth - document.querySelector('#root').clientWidth",
        );
        if (over > 0) wide[name] = over;
        const hidden = await frame.evaluate<string[]>(`(() => {
          const out = [];
          for (const button of document.querySelectorAll("button")) {
            const { left, right, width } = button.getBoundingClientRect();
            if (width > 0 && (left < 0 || right > ${width} + 0.5)) out.push(button.textContent);
          }
          return out;
        })()`);
        assert.deepEqual(hidden, [], `${name} at ${width} px`);
        await picture(frame, `${width}, ${name}`);
      }
      assert.deepEqual(wide, {});
    }
    for (const frame of [chat, approvals]) await frame.evaluate(`document.body.style.width = ""`);
  });

  it("asks, reaches the card, approves, and hears of it, by the keyboard alone", async () => {
    const { page } = panel.bench;
    // The pages have been shown what never was: they begin anew.
    await panel.bench.reload();
    chat = await panel.newSession();
    await chat.locator("textarea:focus").waitFor();
    panel.model.push(write("a.txt", "two\n"), finish("Done by keys."));
    await page.keyboard.type("Change a.txt");
    await page.keyboard.press("Enter");
    await panel.card("a.txt");
    await chat.getByRole("status").getByText("Permission needed: a.txt").waitFor();
    await panel.bench.command("Countersign: Next Card");
    await chat.locator("[data-card]:focus").waitFor();
    for (let i = 0; i < 10; i++) {
      if ((await chat.locator("button.primary:focus").count()) > 0) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await chat.getByText("Done by keys.").waitFor();
    assert.equal(await panel.bench.read("a.txt"), "two\n");
    await chat.getByRole("status").getByText("The turn has ended: Finished").waitFor();
  });
});
