import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Core } from "../../../src/core/turn/live.js";
import { memory } from "../../../src/vscode/ids.js";
import { lateCore } from "../../../src/vscode/lateCore.js";
import { Sessions } from "../../../src/vscode/sessions.js";
import { gate } from "../../support/gate.js";

describe("what the chat shows, while a session takes its time to open", () => {
  let home: string;
  let core: Core;
  /** Two sessions of this folder that are on disk alone. */
  let first: string;
  let second: string;
  let sessions: Sessions;
  /** What the core waits for before it opens, starts or lists. */
  let slow: ReturnType<typeof gate>;
  let remembered: Map<string, unknown>;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), "countersign-shown-"));
    core = lateCore({
      home,
      userHome: home,
      version: "0",
      host: "test",
      ripgrep: async () => "rg",
      env: {},
      settings: () => ({ stopHooks: [], trusted: true }),
      client: () => Promise.reject(new Error("no model")),
      unsaved: () => new Set(),
      report: () => {},
    });
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    const made = [
      await core.newSession(folder.uri.fsPath),
      await core.newSession(folder.uri.fsPath),
    ];
    [first = "", second = ""] = made.map(({ id }) => id);
    for (const { id } of made) await core.releaseSession(id);
  });
  after(async () => {
    await core.dispose();
    await rm(home, { recursive: true, force: true });
  });

  beforeEach(() => {
    slow = gate();
    remembered = new Map([[memory.shown, first]]);
    const late: Core = {
      ...core,
      listSessions: () => slow.held.then(() => core.listSessions()),
      openSession: (id) =>
        (id === first ? slow.held : Promise.resolve()).then(() => core.openSession(id)),
      newSession: (...given) => slow.held.then(() => core.newSession(...given)),
    };
    sessions = new Sessions(late, {
      keys: () => [...remembered.keys()],
      get: (key: string) => remembered.get(key),
      update: async (key: string, value: unknown) => void remembered.set(key, value),
    } as vscode.Memento);
  });
  afterEach(() => sessions.dispose());

  const shown = () => sessions.shown?.live.id;
  const root = () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";

  it("is the session of last time, where nothing else was wanted", async () => {
    const restored = sessions.restore();
    slow.open();
    await restored;
    assert.equal(shown(), first);
  });

  for (const [what, takesLong] of Object.entries({
    "the session of last time": () => sessions.restore(),
    "a session that was picked": () => sessions.show(first),
    "a session that an ask begins": () => sessions.create(root()),
  })) {
    it(`is none, where New Session came after ${what}`, async () => {
      const late = takesLong();
      await sessions.showNone();
      slow.open();
      await late;
      assert.equal(shown(), undefined);
      assert.equal(remembered.get(memory.shown), undefined);
    });

    it(`is the session that was picked after ${what}`, async () => {
      const late = takesLong();
      await sessions.show(second);
      slow.open();
      await late;
      assert.equal(shown(), second);
      assert.equal(remembered.get(memory.shown), second);
    });
  }
});
