import assert from "node:assert/strict";
import type { Frame, Locator } from "playwright-core";
import type { SessionEvent } from "../../../src/core/session/events.js";
import {
  type RecordedRequest,
  type ScriptedAnswer,
  type ScriptedModel,
  startScriptedModel,
} from "../../support/scriptedModel.js";
import { type SessionOnDisk, startWorkbench, until, type Workbench } from "../harness.js";

const BEFORE = "export function greet(name) {\n  return 'Hello ' + name;\n}\n";
const AFTER = "export function greet(name) {\n  return 'Good day, ' + name;\n}\n";

/** The model's part: look at the file that the ask names, propose one edit, say that it is done. */
function polite({ body }: RecordedRequest): ScriptedAnswer {
  const messages = body.messages ?? [];
  const asked = messages.findLastIndex((message) => message.role === "user");
  const path = /greeting in (\S+) polite/.exec(String(messages[asked]?.content))?.[1];
  const edit = { path, old: "'Hello '", new: "'Good day, '" };
  const answers: readonly ScriptedAnswer[] = [
    { text: "I look at the file first.", calls: [{ tool: "read_file", args: { path } }] },
    { calls: [{ tool: "search_replace", args: edit }] },
    { calls: [{ tool: "finish", args: { result: "The greeting is done." } }] },
  ];
  const done = messages.slice(asked).filter((message) => message.role === "assistant").length;
  return answers[done] ?? { status: 400 };
}

/** An event as its type and what these tests are about. */
function summary(event: SessionEvent): string {
  switch (event.type) {
    case "card_raised":
      return `${event.type} ${event.kind} ${event.relative}`;
    case "card_answered":
      return `${event.type} ${event.answer} ${event.surface}`;
    case "call_started":
      return `${event.type} by ${event.by}`;
    case "call_ended":
      return `${event.type} ${event.ok ? "ok" : "not ok"} by ${event.by ?? "nobody"}`;
    case "turn_ended":
      return `${event.type} ${event.reason}`;
    default:
      return event.type;
  }
}

/** What every one of these sessions has in its log until its card is up. */
function upToTheCard(path: string): readonly string[] {
  return [
    "session_started",
    "turn_started",
    "model_answered",
    "call_ended ok by inside",
    "model_answered",
    `card_raised write ${path}`,
  ];
}

const finished = ["model_answered", "result", "call_ended ok by nobody", "turn_ended finished"];

describe("the main job, from an ask to the file on disk", () => {
  let model: ScriptedModel;
  let bench: Workbench;
  let panel: Frame;

  before(async () => {
    model = await startScriptedModel(polite);
    bench = await startWorkbench({
      files: { "lens.js": BEFORE, "card.js": BEFORE, "deny.js": BEFORE },
      settings: {
        "countersign.models.selected": "openai",
        "countersign.models.openai.baseUrl": model.url,
        "countersign.models.openai.model": "scripted",
      },
    });
  });

  after(async () => {
    await bench?.stop();
    await model?.close();
  });

  /** A new session, and an ask in it that ends up at a card for `path`. */
  async function askFor(path: string): Promise<Locator> {
    await bench.command("Countersign: New Session");
    panel = await bench.frame('[role="log"]');
    // The panel shows the new session, not the one before.
    await panel.getByRole("button", { name: "Start the tour" }).waitFor();
    const composer = panel.getByRole("textbox", { name: "Message" });
    await composer.fill(`Make the greeting in ${path} polite`);
    await composer.press("Enter");
    const card = panel.getByRole("group", { name: /^Permission: / }).filter({ hasText: path });
    await card.getByRole("button", { name: "Approve", exact: true }).waitFor();
    return card;
  }

  /** The session whose ask named `path`, once its turn has ended. */
  function endedSession(path: string): Promise<SessionOnDisk> {
    return until(`the end of the turn about ${path}`, async () =>
      (await bench.sessions()).find(
        ({ events }) =>
          events.some((event) => event.type === "turn_started" && event.text.includes(path)) &&
          events.some((event) => event.type === "turn_ended"),
      ),
    );
  }

  it("writes what the lens in the diff editor approves, and logs how it came to that", async () => {
    await askFor("lens.js");
    assert.equal(await bench.read("lens.js"), BEFORE);
    await bench.page.getByText("lens.js (proposed)").first().waitFor();
    const lens = bench.page.getByText("Approve edit", { exact: true }).first();
    await lens.waitFor();
    await bench.screenshot("main-job-card");
    await lens.click();
    const { events, meta } = await endedSession("lens.js");
    assert.equal(await bench.read("lens.js"), AFTER);
    assert.deepEqual(events.map(summary), [
      ...upToTheCard("lens.js"),
      "card_answered allow_once lens",
      "call_started by user",
      "call_ended ok by user",
      ...finished,
    ]);
    assert.equal(meta?.workspace, bench.folder);
    assert.deepEqual(meta?.allows, []);
  });

  it("closes the diff editor once its card is answered", async () => {
    await until(
      "the diff editor to close",
      async () => (await bench.page.getByText("lens.js (proposed)").count()) === 0,
    );
  });

  it("writes what the card in the panel approves", async () => {
    const card = await askFor("card.js");
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    const { events } = await endedSession("card.js");
    assert.equal(await bench.read("card.js"), AFTER);
    assert.deepEqual(events.map(summary), [
      ...upToTheCard("card.js"),
      "card_answered allow_once chat",
      "call_started by user",
      "call_ended ok by user",
      ...finished,
    ]);
  });

  it("leaves the file as it was after Deny, and the model is told so", async () => {
    const card = await askFor("deny.js");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    const { events } = await endedSession("deny.js");
    assert.equal(await bench.read("deny.js"), BEFORE);
    assert.deepEqual(events.map(summary), [
      ...upToTheCard("deny.js"),
      "card_answered deny chat",
      "call_ended not ok by nobody",
      ...finished,
    ]);
    const told = model.requests.at(-1)?.body.messages?.at(-1);
    assert.equal(told?.role, "tool");
    assert.match(String(told?.content), /denied/i);
  });
});
