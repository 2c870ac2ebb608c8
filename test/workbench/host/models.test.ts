import assert from "node:assert/strict";
import * as vscode from "vscode";
import { registerModels } from "../../../src/vscode/models/index.js";
import { gate } from "../../support/gate.js";

describe("a model that was chosen", () => {
  it("answers an ask that comes while the choice is on its way to the settings", async () => {
    const stored = gate();
    // What was in use before: a server for which no model is set.
    const state = new Map([["countersign.models.picked", "openai"]]);
    const models = modelsWith(state, { updated: stored.held });
    const unswitched = modelsWith(state);
    try {
      await assert.rejects(models.client("s"), /No model is set/);
      await assert.rejects(unswitched.client("s"), /No model is set/);
      const used = models.useDemo();
      const client = models.client("s");
      // By then whoever does not wait for the choice has refused as well.
      await assert.rejects(unswitched.client("s"), /No model is set/);
      stored.open();
      assert.deepEqual([(await client).provider, await used], ["demo", undefined]);
    } finally {
      models.dispose();
      unswitched.dispose();
    }
  });

  it("answers an ask for which the key of the one before is still being looked up", async () => {
    const [asked, key] = [gate(), gate()];
    const settings = vscode.workspace.getConfiguration("countersign.models.openai");
    await settings.update("model", "before", vscode.ConfigurationTarget.Global);
    const state = new Map([["countersign.models.picked", "openai"]]);
    const models = modelsWith(state, {
      secret: async () => {
        asked.open();
        await key.held;
      },
    });
    try {
      const client = models.client("s");
      await asked.held;
      await models.useDemo();
      key.open();
      assert.equal((await client).provider, "demo");
    } finally {
      models.dispose();
      await settings.update("model", undefined, vscode.ConfigurationTarget.Global);
    }
  });
});

/** Models on a memory of their own, and a secret storage in which nothing is. */
function modelsWith(
  state: Map<string, unknown>,
  { updated, secret }: { updated?: Promise<void>; secret?: () => Promise<void> } = {},
): ReturnType<typeof registerModels> {
  const globalState: vscode.Memento = {
    keys: () => [...state.keys()],
    get: <T>(key: string) => state.get(key) as T,
    update: async (key, value) => {
      await updated;
      state.set(key, value);
    },
  };
  const secrets: Pick<vscode.SecretStorage, "get" | "onDidChange"> = {
    get: async () => {
      await secret?.();
      return undefined;
    },
    onDidChange: new vscode.EventEmitter<never>().event,
  };
  return registerModels({ globalState, secrets } as unknown as vscode.ExtensionContext, () => {});
}
