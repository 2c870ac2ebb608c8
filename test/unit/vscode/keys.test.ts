import assert from "node:assert/strict";
import { Keys } from "../../../src/vscode/models/secrets.js";

const KEY = "sk-canary-9b1d44";
const HERE = "https://models.invalid";

type Change = (event: { readonly key: string }) => void;

/** A SecretStorage, whole or broken in one of the ways that they break. */
function storage(broken?: "rejects" | "forgets") {
  const values = new Map<string, string>();
  const listeners = new Set<Change>();
  // As libsecret's errors come, and with the secret in it as the worst of them might.
  const fail = () => Promise.reject(new Error(`org.freedesktop.secrets: no such name (${KEY})`));
  return {
    values,
    tell: (key: string) => {
      for (const listener of listeners) listener({ key });
    },
    listeners,
    keys: async () => [...values.keys()],
    get: (name: string) => (broken === "rejects" ? fail() : Promise.resolve(values.get(name))),
    store: async (name: string, value: string) => {
      if (broken === "rejects") await fail();
      if (broken === undefined) values.set(name, value);
    },
    delete: async (name: string) => {
      if (broken === "rejects") await fail();
      values.delete(name);
    },
    onDidChange: (listener: Change) => {
      listeners.add(listener);
      return { dispose: () => void listeners.delete(listener) };
    },
  };
}

/** A window on a storage; the user answers every offer with `accepts`. */
function open(on: ReturnType<typeof storage>, accepts = false) {
  const seen = { offers: 0, changes: 0, reports: [] as string[] };
  const keys = new Keys({
    storage: on,
    changed: () => {
      seen.changes += 1;
    },
    offer: async () => {
      seen.offers += 1;
      return accepts;
    },
    report: (message) => void seen.reports.push(message),
  });
  return { keys, seen };
}

describe("keys in VS Code", () => {
  it("are kept by the secret storage, each for the one server it was given for", async () => {
    const kept = storage();
    const { keys, seen } = open(kept);
    assert.equal(await keys.set("openai", HERE, KEY), true);
    const other = open(kept).keys;
    assert.equal(await other.get("openai", HERE), KEY);
    assert.equal(await other.get("openai", "https://elsewhere.invalid"), undefined);
    assert.equal(await other.get("openai", `${HERE}:8443`), undefined);
    assert.equal(await other.get("anthropic", HERE), undefined);
    await other.remove("openai", HERE);
    assert.equal(await keys.get("openai", HERE), undefined);
    assert.deepEqual(seen, { offers: 0, changes: 1, reports: [] });
  });

  for (const broken of ["rejects", "forgets"] as const) {
    describe(`where the storage ${broken}`, () => {
      it("are used until the window closes, if the user wants that, and are in no other window", async () => {
        const kept = storage(broken);
        const { keys, seen } = open(kept, true);
        assert.equal(await keys.set("anthropic", HERE, KEY), true);
        assert.deepEqual([seen.offers, seen.changes], [1, 1]);
        assert.equal(await keys.get("anthropic", HERE), KEY);
        assert.equal(await keys.get("anthropic", "https://elsewhere.invalid"), undefined);
        assert.equal(await open(kept).keys.get("anthropic", HERE), undefined);
        assert.deepEqual([...kept.values], []);
        keys.dispose();
        assert.equal(await keys.get("anthropic", HERE), undefined);
      });

      it("are not used where the user does not want that", async () => {
        const { keys, seen } = open(storage(broken), false);
        assert.equal(await keys.set("openai", HERE, KEY), false);
        assert.deepEqual([seen.offers, seen.changes], [1, 0]);
        assert.equal(await keys.get("openai", HERE), undefined);
      });

      it("are gone from the window when they are removed", async () => {
        const { keys, seen } = open(storage(broken), true);
        await keys.set("openai", HERE, KEY);
        await keys.remove("openai", HERE);
        assert.equal(await keys.get("openai", HERE), undefined);
        assert.equal(seen.changes, 2);
      });
    });
  }

  it("are in no report, whatever the storage says", async () => {
    const { keys, seen } = open(storage("rejects"));
    await keys.get("openai", HERE);
    await keys.set("openai", HERE, KEY);
    await keys.remove("openai", HERE);
    assert.deepEqual(seen.reports, [
      `the key for ${HERE} could not be read: this machine has no working keyring`,
      `the key for ${HERE} could not be removed: there is no working keyring`,
    ]);
  });

  it("that are stored at last stand before the one that the window held", async () => {
    const states: ["rejects" | undefined] = ["rejects"];
    const broken = storage("rejects");
    const whole = storage();
    const { keys } = open(
      {
        ...whole,
        get: (name) => (states[0] ? broken.get(name) : whole.get(name)),
        store: (name, value) => (states[0] ? broken.store(name, value) : whole.store(name, value)),
      },
      true,
    );
    await keys.set("openai", HERE, "sk-of-the-window");
    states[0] = undefined;
    await keys.set("openai", HERE, KEY);
    assert.equal(await keys.get("openai", HERE), KEY);
    await whole.delete(`countersign.key.openai.${HERE}`);
    assert.equal(await keys.get("openai", HERE), undefined);
  });

  it("are looked at again when another window changes one, and not for what is another's", () => {
    const kept = storage();
    const { keys, seen } = open(kept);
    kept.tell("somebody.else");
    assert.equal(seen.changes, 0);
    kept.tell(`countersign.key.openai.${HERE}`);
    assert.equal(seen.changes, 1);
    keys.dispose();
    assert.equal(kept.listeners.size, 0);
  });
});
