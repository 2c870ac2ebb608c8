import assert from "node:assert/strict";
import type { FromPanel, Status, ToPanel } from "../../../src/webview/protocol.js";
import { AT_REST } from "../../support/status.js";

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

function snapshot(session: string | null, drafts: Record<string, string> = {}): ToPanel {
  const live = session === null ? null : { ...AT_REST, id: session };
  const status: Status = { folders: 1, trusted: true, model: null, session: live };
  return { type: "snapshot", texts: {}, drafts, status, events: [], earlier: 0, deltas: [] };
}

describe("a draft", () => {
  const posted = page();
  /** What the host has of each draft, from what the page told it. */
  const told = () =>
    posted.flatMap((one) => (one.type === "draft" ? [[one.session, one.text]] : []));
  const open = async () => {
    const [{ Store }, host] = await Promise.all([
      import("../../../src/webview/store.js"),
      import("../../../src/webview/host.js"),
    ]);
    posted.length = 0;
    return { store: new Store(), ...host };
  };

  it("is what the host kept when the page comes up, and the page's own from then on", async () => {
    const { store, draftOf, saveDraft } = await open();
    store.receive(snapshot("s", { s: "kept" }));
    assert.equal(draftOf("s"), "kept");
    saveDraft("s", "typed");
    saveDraft("", "for a new one");
    store.receive(snapshot("s", { s: "kept" }));
    assert.deepEqual([draftOf("s"), draftOf("")], ["typed", "for a new one"]);
    assert.deepEqual(told(), [
      ["s", "typed"],
      [null, "for a new one"],
    ]);
  });

  it("comes back when its ask is refused, in the session that the ask had begun", async () => {
    const { store, draftOf } = await open();
    const refused = "There is no model.";
    const askAndRefuse = (text: string, shownThen: string | null) => {
      store.ask(store.session, text);
      const ask = posted.at(-1);
      assert(ask?.type === "ask");
      store.receive(snapshot(shownThen));
      store.receive({ type: "asked", ref: ask.ref, refused });
    };

    store.receive(snapshot(null));
    askAndRefuse("begun here", "new");
    assert.deepEqual([draftOf(""), draftOf("new")], ["", "begun here"]);
    assert.equal(store.refused, refused);

    askAndRefuse("asked in it", "other");
    assert.deepEqual([draftOf("new"), draftOf("other")], ["asked in it", ""]);
  });
});

describe("a snapshot", () => {
  it("is all there is: what was live in the session before is not", async () => {
    page();
    const { Store } = await import("../../../src/webview/store.js");
    const store = new Store();
    const at = "2026-01-02T03:04:05.000Z";
    const retry = { type: "retry", attempt: 2, at, reason: "busy" } as const;
    const first = snapshot("first");
    assert.ok(first.type === "snapshot");
    store.receive({ ...first, deltas: [{ type: "text", text: "half a" }, retry] });
    assert.deepEqual(store.transcript.retry, { at, reason: "busy" });
    store.receive(snapshot("second"));
    assert.equal(store.transcript.retry, undefined);
    assert.deepEqual(store.transcript.items, []);
  });
});
