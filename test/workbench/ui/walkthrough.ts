import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { until } from "../harness.js";
import type { Panel } from "./panel.js";

/** Tests of each step of the walkthrough; the last of a window, which has the demo from then on. */
export function describeWalkthrough(get: () => Panel): void {
  let panel: Panel;

  before(() => {
    panel = get();
  });

  const page = () => panel.bench.page;
  const rows = (): Locator => page().locator(".quick-input-list .monaco-list-row");
  const closed = () => page().locator(".quick-input-widget").waitFor({ state: "hidden" });
  const step = (id: string): Locator => page().locator(`[data-step-id$="#start#${id}"]`);
  /** Opens a step and presses its button. */
  async function press(id: string, button: string): Promise<void> {
    const expanded = step(id).and(page().locator(".expanded"));
    if ((await expanded.count()) === 0) await step(id).click();
    await step(id).getByRole("button", { name: button, exact: true }).click();
  }
  const isDone = (id: string) =>
    until(
      `the step ${id} to be done`,
      async () => (await step(id).locator(".complete").count()) > 0,
    );

  it("asks, chooses a model, and starts the tour, each by the button of its step", async () => {
    await panel.bench.command("Welcome: Open Walkthrough...");
    await rows().filter({ hasText: "Get Started with Countersign" }).click();
    await step("tour").waitFor();
    await panel.bench.screenshot("walkthrough");
    await press("ask", "Ask");
    await page().getByText("What shall Countersign do?").waitFor();
    await page().keyboard.press("Escape");
    await closed();
    await isDone("ask");
    await press("model", "Select a model");
    await page().getByText("A scripted tour in your folder").waitFor();
    await page().keyboard.press("Escape");
    await closed();
    await isDone("model");
    await press("tour", "Start the tour");
    await panel.card("countersign-demo.md");
    const started = await panel.bench.event("turn_started", ({ model }) => model === "demo");
    assert.equal(started.text, "Show me around.");
    await page().getByRole("tab", { name: "Welcome" }).click();
    await isDone("tour");
  });
}
