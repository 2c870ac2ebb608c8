import assert from "node:assert/strict";
import type { FromPanel, Status, ToPanel } from "../../../src/webview/protocol.js";
import { openPanelPage, type PanelPage } from "../../support/panelPage.js";
import { AT_REST } from "../../support/status.js";

type Session = NonNullable<Status["session"]>;

const AT = "2026-03-04T05:06:07.000Z";
const CARD = {
  type: "card_raised",
  card: "k1",
  call: "c1",
  tool: "run",
  kind: "run",
  argv: ["make"],
  seq: 1,
  at: AT,
} as const;
const QUESTION = [
  {
    type: "model_answered",
    turn: "t",
    text: "",
    calls: [{ call: "c1", tool: "ask", args: { question: "Which?" } }],
    seq: 1,
    at: AT,
  },
  { type: "question", question: "q1", call: "c1", text: "Which?", seq: 2, at: AT },
];

/** What a host sends when it shows a session, or none. */
function shows(session: Partial<Session> | null, ...events: unknown[]): ToPanel {
  return {
    type: "snapshot",
    texts: {},
    drafts: {},
    status: {
      folders: 1,
      trusted: true,
      model: { label: "m", demo: false },
      session: session === null ? null : { ...AT_REST, ...session },
    },
    events,
    earlier: 0,
    deltas: [],
  } as ToPanel;
}

/*
 * A browser lets keys and messages go before what a page has put off, its drawing too. So all of this
 * happens in one task: as it does to whoever types on while the page is busy.
 */
describe("what is typed faster than the page is drawn", () => {
  let panel: PanelPage;

  beforeEach(async () => {
    panel = await openPanelPage();
    await panel.page.evaluate(`{
      window.type = (selector, text) => {
        const field = document.querySelector(selector);
        for (const letter of text) {
          field.value += letter;
          field.dispatchEvent(new InputEvent("input", { bubbles: true, data: letter }));
        }
        return field;
      };
      window.enter = (field) =>
        field.dispatchEvent(
          new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }),
        );
      window.hear = (data) => window.dispatchEvent(new MessageEvent("message", { data }));
      window.button = (name) =>
        [...document.querySelectorAll("button")].find(({ textContent }) => textContent === name);
    }`);
  });
  afterEach(() => panel.close());

  /** Runs `script` as one task. */
  const atOnce = (script: string) => panel.page.evaluate(`{ ${script} }`);
  const drawn = () =>
    panel.page.evaluate(
      "new Promise((resolve) => setTimeout(() => requestAnimationFrame(() => setTimeout(resolve))))",
    );
  const posted = <T extends FromPanel["type"]>(type: T) =>
    panel.page.evaluate<Extract<FromPanel, { type: T }>[]>(
      `window.posted.filter(({ type }) => type === "${type}")`,
    );
  const asks = async () => (await posted("ask")).map(({ session, text }) => [session, text]);
  const field = () => panel.page.getByRole("textbox", { name: "Message" }).inputValue();

  it("is sent to its last letter, and once", async () => {
    await panel.post(shows({ id: "s" }));
    await atOnce(`const field = type("textarea", "Fix the tests"); enter(field); enter(field);`);
    await drawn();
    assert.deepEqual([await asks(), await field()], [[["s", "Fix the tests"]], ""]);
  });

  it("goes to the session that is drawn, where another has come in", async () => {
    await panel.post(shows({ id: "a" }));
    const other = JSON.stringify(shows({ id: "b" }));
    await atOnce(`hear(${other}); enter(type("textarea", "For a"));`);
    await drawn();
    assert.deepEqual([await asks(), await field()], [[["a", "For a"]], ""]);
    await panel.post(shows({ id: "a" }));
    await atOnce(`hear(${other}); type("textarea", "Half")`);
    await drawn();
    assert.equal(await field(), "");
    await panel.post(shows({ id: "a" }));
    assert.equal(await field(), "Half");
  });

  it("is not sent where a card has come in, and stays", async () => {
    await panel.post(shows({ id: "s" }));
    const card = JSON.stringify(shows({ id: "s", state: "waiting", cards: ["k1"] }, CARD));
    await atOnce(`hear(${card}); enter(type("textarea", "Next"));`);
    await drawn();
    assert.deepEqual([await asks(), await field()], [[], "Next"]);
  });

  it("goes on in the session that the ask before it begins", async () => {
    await panel.post(shows(null));
    await atOnce(
      `const field = type("textarea", "First"); enter(field); field.value = ""; type("textarea", "And");`,
    );
    await drawn();
    assert.equal(await field(), "And");
    await panel.post(shows({ id: "s" }));
    assert.equal(await field(), "And");
    await panel.post(shows(null));
    assert.deepEqual([await asks(), await field()], [[[null, "First"]], ""]);
  });

  it("is the reason of a denial", async () => {
    await panel.post(shows({ id: "s", state: "waiting", cards: ["k1"] }, CARD));
    await panel.page.locator(".card .primary:enabled").waitFor();
    await atOnce(`type(".card .reason", "not now"); button("Deny").click();`);
    const [answer] = await posted("answer");
    assert.deepEqual([answer?.answer, answer?.note], ["deny", "not now"]);
  });

  it("is the answer to a question, once", async () => {
    await panel.post(shows({ id: "s", state: "waiting", question: "q1" }, ...QUESTION));
    await panel.page.locator(".question .reason").waitFor();
    await atOnce(`const { form } = type(".question .reason", "The second");
      form.requestSubmit(); form.requestSubmit();`);
    assert.deepEqual(
      (await posted("answerQuestion")).map(({ text }) => text),
      ["The second"],
    );
  });
});
