import assert from "node:assert/strict";
import type { FromPanel, Status, ToPanel } from "../../../src/webview/protocol.js";

/** The page's end of VS Code's webview API. */
function page() {
  const posted: FromPanel[] = [];
  let state: unknown;
  Reflect.set(globalThis, "acquireVsCodeApi", () => ({
    postMessage: (message: FromPanel) => posted.push(message),
    getState: () => state,
    setState: (next: unknown) => {
      state = next;
    },
  }));
  return posted;
}

function snapshot(session: string | null): ToPanel {
  const live: Status["session"] =
    session === null
      ? null
      : {
          id: session,
          title: "New session",
          folder: "w",
          state: "idle",
          readOnly: null,
          trouble: null,
          damage: [],
          queue: [],
          cards: [],
          question: null,
          allows: 0,
          since: null,
          tokens: { input: 0, output: 0, cached: 0, estimated: false },
        };
  const status: Status = { folders: 1, trusted: true, model: null, session: live };
  return { type: "snapshot", texts: {}, status, events: [], earlier: 0, deltas: [] };
}

describe("an ask that is refused", () => {
  it("comes back to where it was typed, and to the session that it had begun", async () => {
    const posted = page();
    const [{ Store }, { saved }] = await Promise.all([
      import("../../../src/webview/store.js"),
      import("../../../src/webview/host.js"),
    ]);
    const refused = "There is no model.";
    const store = new Store();
    const askAndRefuse = (text: string, shownThen: string | null) => {
      store.ask(text);
      const ask = posted.at(-1);
      assert(ask?.type === "ask");
      store.receive(snapshot(shownThen));
      store.receive({ type: "asked", ref: ask.ref, refused });
    };

    store.receive(snapshot(null));
    askAndRefuse("begun here", "new");
    assert.deepEqual(saved().drafts, { new: "begun here" });
    assert.equal(store.refused, refused);

    askAndRefuse("asked in it", "other");
    assert.deepEqual(saved().drafts, { new: "asked in it" });
  });
});
