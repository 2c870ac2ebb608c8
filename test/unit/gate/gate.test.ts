import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digest } from "../../../src/core/workspace/digest.js";
import { markOf } from "../../../src/core/workspace/leftovers.js";
import { resolvePath } from "../../../src/core/workspace/resolve.js";
import { type Made, Session } from "./session.js";
import { bytes, makeWorkspace, prepareRun, prepareWrite } from "./support.js";

describe("the gate", () => {
  let made: Made;
  let session: Session;
  beforeEach(async () => {
    made = await makeWorkspace();
    session = new Session(made);
  });
  afterEach(() => made.remove());

  const file = (name: string): string => join(made.root, name);
  const writeOf = (name: string, text: string) => prepareWrite(made.workspace, name, bytes(text));

  it("lets a read inside through at once, with nothing in the log", async () => {
    const path = await resolvePath(made.workspace, "a.txt");
    ok(path.kind === "inside");
    const admission = await session.admit({ kind: "read", tool: "read_file", path });
    ok(admission.kind === "permit");
    deepStrictEqual(
      [admission.by, admission.permit.allows],
      ["inside", { kind: "read", call: "c1", path }],
    );
    deepStrictEqual(session.ledger.log, []);
  });

  it("permits an undo once it is in the log, flushed, and not while a card waits", async () => {
    await writeFile(file("a.txt"), "new\n");
    const { path, before } = await writeOf("a.txt", "");
    const request = {
      undo: "u1",
      kind: "turn",
      of: "t1",
      files: [{ path, before, after: bytes("old\n") }],
      surface: "test",
    } as const;
    const { card, admission } = await session.ask(prepareRun(["make"]));
    await rejects(session.gate.admitUndo(request), /a card waits/);
    await session.answer(card.card, "deny");
    await admission;
    session.ledger.steps.length = 0;
    const admitted = session.gate.admitUndo(request);
    // What becomes of the bytes from here on is nothing that anyone was shown.
    request.files[0].after.fill(0);
    const [permitted] = await admitted;
    deepStrictEqual(session.ledger.steps, ["undo_started!"]);
    ok(permitted?.kind === "write");
    deepStrictEqual([permitted.path, Buffer.from(permitted.bytes).toString()], [path, "old\n"]);
    session.ledger.failOn = "undo_started";
    await rejects(session.gate.admitUndo({ ...request, undo: "u2" }), /disk is full/);
  });

  it("gives no permit for what touches nothing", async () => {
    deepStrictEqual(await session.admit({ kind: "free", tool: "finish" }), { kind: "free" });
    deepStrictEqual(session.ledger.log, []);
  });

  it("permits, after a yes, exactly what the card showed", async () => {
    await writeFile(file("a.txt"), "old\n");
    const prepared = await writeOf("a.txt", "new\n");
    const { card, admission } = await session.ask(prepared);
    deepStrictEqual(await session.answer(card.card, "allow_once"), { outcome: "taken" });
    const permitted = await admission;
    ok(permitted.kind === "permit");
    deepStrictEqual(
      [permitted.by, permitted.card, permitted.permit.allows],
      [
        "user",
        "k1",
        {
          kind: "write",
          call: "c1",
          path: prepared.path,
          before: digest(bytes("old\n")),
          after: digest(bytes("new\n")),
          mark: markOf("t1", "c1"),
        },
      ],
    );
    deepStrictEqual(session.ledger.steps, ["card_raised", "card_answered!", "call_started!"]);
    deepStrictEqual(session.ledger.allows(), []);
    const {
      seq: _,
      at: __,
      ...started
    } = session.ledger.ofType("call_started")[0] ?? { seq: 0, at: 0 };
    deepStrictEqual(started, {
      type: "call_started",
      turn: "t1",
      call: "c1",
      by: "user",
      card: "k1",
      write: {
        path: prepared.path.real,
        relative: "a.txt",
        before: digest(bytes("old\n")),
        after: digest(bytes("new\n")),
        mode: prepared.before.mode,
      },
    });
    // Kept before the effect was logged to begin: the log never names bytes that are not there.
    deepStrictEqual(
      [...session.ledger.blobs].map(([name, content]) => [name, Buffer.from(content).toString()]),
      [
        [digest(bytes("old\n")), "old\n"],
        [digest(bytes("new\n")), "new\n"],
      ],
    );
  });

  it("starts nothing where the bytes that it would replace cannot be kept", async () => {
    await writeFile(file("a.txt"), "old\n");
    session.ledger.keep = async () => {
      throw new Error("ENOSPC: the disk is full");
    };
    const { card, admission } = await session.ask(await writeOf("a.txt", "new\n"));
    await session.answer(card.card, "allow_once");
    await rejects(admission, /ENOSPC/);
    deepStrictEqual(session.ledger.steps, ["card_raised", "card_answered!"]);
  });

  it("permits what the card showed, not what the tool makes of its bytes or argv later", async () => {
    const argv = ["echo", "hello"];
    const { card, admission } = await session.ask(prepareRun(argv));
    argv[1] = "evil";
    argv.push("more");
    await session.answer(card.card, "allow_session");
    const permitted = await admission;
    ok(permitted.kind === "permit" && permitted.permit.allows.kind === "run");
    deepStrictEqual([...permitted.permit.allows.argv], ["echo", "hello"]);
    deepStrictEqual(session.ledger.allows(), [{ run: ["echo", "hello"] }]);
  });

  it("takes a no as final, with its sentence, also where the file has changed", async () => {
    await writeFile(file("a.txt"), "old\n");
    const { card, admission } = await session.ask(await writeOf("a.txt", "new\n"));
    await writeFile(file("a.txt"), "other\n");
    await session.answer(card.card, "deny", "use tabs");
    deepStrictEqual(await admission, { kind: "denied", card: "k1", note: "use tabs" });
    deepStrictEqual(session.ledger.steps, ["card_raised", "card_answered!"]);
    strictEqual(await readFile(file("a.txt"), "utf8"), "other\n");
  });

  describe("where the log cannot be written", () => {
    it("raises no card, and says so", async () => {
      session.ledger.failOn = "card_raised";
      await rejects(session.admit(prepareRun(["make"])), /disk is full/);
      deepStrictEqual(session.gate.openCards, []);
    });

    it("takes no answer, and starts nothing", async () => {
      const { card, admission } = await session.ask(prepareRun(["make"]));
      session.ledger.failOn = "card_answered";
      await rejects(session.answer(card.card, "allow_session"), /disk is full/);
      await rejects(admission, /disk is full/);
      deepStrictEqual([session.ledger.steps, session.ledger.allows()], [["card_raised"], []]);
    });

    it("hands out no permit where the start could not be logged, by a card or by an allow", async () => {
      const { card, admission } = await session.ask(prepareRun(["make"]));
      session.ledger.failOn = "call_started";
      await session.answer(card.card, "allow_session");
      await rejects(admission, /disk is full/);
      await rejects(session.admit(prepareRun(["make"])), /disk is full/);
    });

    it("lets no allow through that is not on disk", async () => {
      const { card, admission } = await session.ask(prepareRun(["make"]));
      session.ledger.addAllow = async () => {
        throw new Error("ENOSPC: meta.json");
      };
      await rejects(session.answer(card.card, "allow_session"), /meta\.json/);
      await rejects(admission, /meta\.json/);
      deepStrictEqual(session.ledger.ofType("call_started"), []);
    });
  });
});
