import assert from "node:assert/strict";
import * as vscode from "vscode";
import { registerModels } from "../../../src/vscode/models/index.js";
import { gate } from "../../support/gate.js";

describe("a model that was chosen", () => {
  it("answers an ask that comes while the choice is on its way to the settings", async () => {
    const stored = gate();
    // What was in use before: a server for which no model is set.
    const state = new Map<string, unknown>([["countersign.models.picked", "openai"]]);
    const memento: vscode.Memento = {
      keys: () => [...state.keys()],
      get: <T>(key: string) => state.get(key) as T,
      update: async (key, value) => {
        await stored.held;
        state.set(key, value);
      },
    };
    const models = registerModels(
      { globalState: memento, secrets: fakeSecrets() } as unknown as vscode.ExtensionContext,
      () => {},
    );
    try {
      await assert.rejects(models.client("s"), /No model is set/);
      const used = models.useDemo();
      const client = models.client("s");
      stored.open();
      assert.deepEqual([(await client).provider, await used], ["demo", undefined]);
    } finally {
      models.dispose();
    }
  });
});

/** A secret storage in which nothing is. */
function fakeSecrets(): Pick<vscode.SecretStorage, "get" | "onDidChange"> {
  return { get: async () => undefined, onDidChange: new vscode.EventEmitter<never>().event };
}
