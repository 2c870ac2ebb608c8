import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { readFile, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Abandoned, type Admission, type AdmitRequest, Gate } from "../../../src/core/gate/gate.js";
import type { Prepared, PreparedRead } from "../../../src/core/gate/prepared.js";
import { WRITE_BYTES } from "../../../src/core/limits.js";
import type { Answer, Delta, EventOf, Surface } from "../../../src/core/session/events.js";
import { digest } from "../../../src/core/workspace/digest.js";
import { markOf } from "../../../src/core/workspace/leftovers.js";
import { resolvePath } from "../../../src/core/workspace/resolve.js";
import { bytes, ids, makeWorkspace, prepareRun, prepareWrite, TestLedger } from "./support.js";

type Made = Awaited<ReturnType<typeof makeWorkspace>>;

/** One session's gate and its log. */
class Session {
  readonly ledger = new TestLedger();
  readonly deltas: Delta[] = [];
  readonly gate: Gate;
  readonly cancel = new AbortController();
  #calls = 0;

  constructor(
    private readonly made: Made,
    events: ConstructorParameters<typeof Gate>[1]["events"] = [],
  ) {
    this.gate = new Gate(this.ledger, {
      newId: ids("k"),
      emit: (delta) => this.deltas.push(delta),
      events: events ?? [],
    });
  }

  admit(prepared: Prepared, more: Partial<AdmitRequest> = {}): Promise<Admission> {
    this.#calls += 1;
    return this.gate.admit({
      call: `c${this.#calls}`,
      tool: prepared.tool,
      prepared,
      workspace: this.made.workspace,
      turn: "t1",
      signal: this.cancel.signal,
      ...more,
    });
  }

  /** Asks, and waits until the card is up. */
  async ask(
    prepared: Prepared,
    more: Partial<AdmitRequest> = {},
  ): Promise<{ card: EventOf<"card_raised">; admission: Promise<Admission> }> {
    const raised = this.ledger.next("card_raised");
    const admission = this.admit(prepared, more);
    admission.catch(() => {});
    return { card: await raised, admission };
  }

  answer(card: string, answer: Answer, note?: string, surface: Surface = "test") {
    return this.gate.answer(card, answer, { ...(note === undefined ? {} : { note }), surface });
  }
}

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
  const readOutside = async (name: string): Promise<PreparedRead> => {
    const path = await resolvePath(made.workspace, join(made.outside, name));
    ok(path.kind === "outside");
    return { kind: "read", tool: "read_file", path };
  };

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

  it("asks for a search of a directory that was only allowed to be listed", async () => {
    const read = async (tool: string, name: string): Promise<PreparedRead> => ({
      ...(await readOutside(name)),
      tool,
    });
    const allowBy = async (tool: string, name: string): Promise<void> => {
      const { card, admission } = await session.ask(await read(tool, name));
      await session.answer(card.card, "allow_session");
      ok((await admission).kind === "permit");
    };
    const goesThrough = async (tool: string, name: string): Promise<void> => {
      const admission = await session.admit(await read(tool, name));
      ok(admission.kind === "permit" && admission.by === "allow", `${tool} ${name}`);
    };
    const asks = async (tool: string, name: string): Promise<void> => {
      const { card, admission } = await session.ask(await read(tool, name));
      await session.answer(card.card, "deny");
      ok((await admission).kind === "denied");
    };
    await allowBy("list_dir", "d");
    await goesThrough("list_dir", "d");
    await asks("grep", "d");
    const { ledger } = session;
    session = new Session(made, ledger.log);
    for (const allow of ledger.allows()) await session.ledger.addAllow(allow);
    await asks("grep", "d");
    await allowBy("grep", "d");
    await goesThrough("grep", "d");
    await goesThrough("list_dir", "d");
    deepStrictEqual(session.ledger.allows(), [{ read: join(made.outside, "d") }]);

    await allowBy("read_file", "f");
    await goesThrough("grep", "f");
    await session.gate.revoke({ read: join(made.outside, "f") });
    await allowBy("list_dir", "f");
    await asks("grep", "f");
    // Given with the session, by someone who saw no card of it.
    await session.ledger.addAllow({ read: join(made.outside, "g") });
    await goesThrough("grep", "g");
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
    const [permitted] = await session.gate.admitUndo(request);
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

  it("has the allow on disk before the call goes through, and asks no more for exactly that", async () => {
    const { card, admission } = await session.ask(await writeOf("a.txt", "1"));
    await session.answer(card.card, "allow_session", undefined, "lens");
    await admission;
    deepStrictEqual(session.ledger.steps, [
      "card_raised",
      "card_answered!",
      "meta+",
      "call_started!",
    ]);
    deepStrictEqual(session.ledger.allows(), [{ write: file("a.txt") }]);
    strictEqual(session.ledger.ofType("card_answered")[0]?.surface, "lens");

    const again = await session.admit(await writeOf("a.txt", "2"));
    ok(again.kind === "permit");
    deepStrictEqual(
      [again.by, again.allow, again.card],
      ["allow", { write: file("a.txt") }, undefined],
    );
    deepStrictEqual(session.ledger.steps.slice(4), ["call_started!"]);
    deepStrictEqual(session.gate.allowUses, [{ allow: { write: file("a.txt") }, used: 1 }]);

    const other = await session.ask(await writeOf("b.txt", "1"));
    strictEqual(other.card.relative, "b.txt");
    session.cancel.abort(new Error("done"));
    await rejects(other.admission, /done/);
  });

  it("adds an allow once, however often it is given", async () => {
    const first = await session.ask(prepareRun(["make"]));
    const second = await session.ask(prepareRun(["make"]));
    await Promise.all([
      session.answer(first.card.card, "allow_session"),
      session.answer(second.card.card, "allow_session"),
    ]);
    await Promise.all([first.admission, second.admission]);
    deepStrictEqual(session.ledger.allows(), [{ run: ["make"] }]);
  });

  it("asks again once an allow is taken back", async () => {
    const first = await session.ask(prepareRun(["make"]));
    await session.answer(first.card.card, "allow_session");
    await first.admission;
    await session.admit(prepareRun(["make"]));
    const allow = { run: ["make"] };
    deepStrictEqual(await Promise.all([session.gate.revoke(allow), session.gate.revoke(allow)]), [
      true,
      false,
    ]);
    strictEqual(await session.gate.revoke({ run: ["make", ""] }), false);
    deepStrictEqual(session.gate.allowUses, []);
    deepStrictEqual(session.ledger.ofType("allow_revoked").length, 1);
    const second = await session.ask(prepareRun(["make"]));
    await session.answer(second.card.card, "deny");
    deepStrictEqual(await second.admission, { kind: "denied", card: second.card.card });
  });

  it("uses no allow that is taken back in the same tick", async () => {
    const first = await session.ask(prepareRun(["make"]));
    await session.answer(first.card.card, "allow_session");
    await first.admission;
    const revoked = session.gate.revoke({ run: ["make"] });
    const second = await session.ask(prepareRun(["make"]));
    strictEqual(await revoked, true);
    await session.answer(second.card.card, "deny");
    strictEqual((await second.admission).kind, "denied");
    strictEqual(session.ledger.ofType("call_started").length, 1);
  });

  it("knows after a restart how often each allow was used", async () => {
    const first = await session.ask(prepareRun(["make"]));
    await session.answer(first.card.card, "allow_session");
    await first.admission;
    await session.admit(prepareRun(["make"]));
    await session.admit(prepareRun(["make"]));
    const later = new Session(made, session.ledger.log);
    await later.ledger.addAllow({ run: ["make"] });
    deepStrictEqual(later.gate.allowUses, [{ allow: { run: ["make"] }, used: 2 }]);
  });

  it("keeps one session's allows from another", async () => {
    const first = await session.ask(prepareRun(["make"]));
    await session.answer(first.card.card, "allow_session");
    await first.admission;
    const other = new Session(made);
    const second = await other.ask(prepareRun(["make"]));
    await other.answer(second.card.card, "deny");
    strictEqual((await second.admission).kind, "denied");
  });

  describe("and a file that changes while its card is up", () => {
    const changes: [string, string | null, () => Promise<void>][] = [
      [
        "is overwritten with the same size and time",
        "old\n",
        async () => {
          const { atime, mtime } = await stat(file("a.txt"));
          await writeFile(file("a.txt"), "NEW\n");
          await utimes(file("a.txt"), atime, mtime);
        },
      ],
      ["is deleted", "old\n", () => rm(file("a.txt"))],
      ["is created", null, () => writeFile(file("a.txt"), "")],
      [
        "becomes a link to another with the same bytes",
        "old\n",
        async () => {
          await rename(file("a.txt"), file("b.txt"));
          await symlink("b.txt", file("a.txt"));
        },
      ],
      [
        "becomes a link to a file outside",
        "old\n",
        async () => {
          await rename(file("a.txt"), join(made.outside, "a.txt"));
          await symlink(join(made.outside, "a.txt"), file("a.txt"));
        },
      ],
      [
        "grows past every limit",
        "old\n",
        () => writeFile(file("a.txt"), Buffer.alloc(WRITE_BYTES * 4)),
      ],
    ];
    for (const [what, before, change] of changes) {
      it(`spends the answer, and the allow with it, where it ${what}`, async () => {
        if (before !== null) await writeFile(file("a.txt"), before);
        const { card, admission } = await session.ask(await writeOf("a.txt", "new\n"));
        await change();
        deepStrictEqual(await session.answer(card.card, "allow_session"), { outcome: "taken" });
        deepStrictEqual(await admission, { kind: "spent", card: "k1" });
        deepStrictEqual(session.ledger.steps, ["card_raised", "card_answered!", "card_spent!"]);
        deepStrictEqual(session.ledger.allows(), []);
      });
    }

    it("goes by its bytes: saved again without a change, or changed and put back, it is the same", async () => {
      await writeFile(file("a.txt"), "old\n");
      const { card, admission } = await session.ask(await writeOf("a.txt", "new\n"));
      await writeFile(file("a.txt"), "x");
      await writeFile(file("a.txt"), "old\n");
      await session.answer(card.card, "allow_once");
      strictEqual((await admission).kind, "permit");
    });

    it("spends the answer to a read outside whose path leads elsewhere by then", async () => {
      await writeFile(join(made.outside, "a"), "a");
      await writeFile(join(made.outside, "secret"), "s");
      await symlink("a", join(made.outside, "link"));
      const { card, admission } = await session.ask(await readOutside("link"));
      await rm(join(made.outside, "link"));
      await symlink("secret", join(made.outside, "link"));
      await session.answer(card.card, "allow_session");
      deepStrictEqual(await admission, { kind: "spent", card: "k1" });
      deepStrictEqual(session.ledger.allows(), []);
    });

    it("says so at once, and when it is as it was again", async () => {
      await writeFile(file("a.txt"), "old\n");
      const { card, admission } = await session.ask(await writeOf("a.txt", "new\n"));
      await session.gate.fileChanged([file("a.txt")]);
      await writeFile(file("a.txt"), "other\n");
      await session.gate.fileChanged([file("b.txt")]);
      deepStrictEqual(session.deltas, []);
      await session.gate.fileChanged([file("a.txt")]);
      await session.gate.fileChanged([file("a.txt")]);
      made.unsaved.add(file("a.txt"));
      await session.gate.fileChanged([file("A.TXT")]);
      made.unsaved.clear();
      await writeFile(file("a.txt"), "old\n");
      await session.gate.fileChanged([file("a.txt")]);
      deepStrictEqual(session.deltas, [
        { type: "card_changed", card: "k1", changed: true, unsaved: false },
        { type: "card_changed", card: "k1", changed: true, unsaved: true },
        { type: "card_changed", card: "k1", changed: false, unsaved: false },
      ]);
      await session.answer(card.card, "allow_once");
      strictEqual((await admission).kind, "permit");
      await writeFile(file("a.txt"), "later\n");
      await session.gate.fileChanged([file("a.txt")]);
      strictEqual(session.deltas.length, 3);
    });
  });

  describe("and a card that is answered", () => {
    it("is answered once: of two answers in one tick the second changes nothing", async () => {
      const { card, admission } = await session.ask(prepareRun(["make"]));
      const [first, second] = await Promise.all([
        session.answer(card.card, "deny", undefined, "lens"),
        session.answer(card.card, "allow_session", undefined, "chat"),
      ]);
      deepStrictEqual(
        [first, second],
        [
          { outcome: "taken" },
          { outcome: "gone", message: "This card has been answered already." },
        ],
      );
      deepStrictEqual(await admission, { kind: "denied", card: "k1" });
      deepStrictEqual(session.ledger.ofType("card_answered").length, 1);
      deepStrictEqual(session.ledger.allows(), []);
    });

    it("leaves the next card alone, however often its own button is pressed", async () => {
      const first = await session.ask(prepareRun(["one"]));
      await session.answer(first.card.card, "allow_once");
      await first.admission;
      const second = await session.ask(prepareRun(["two"]));
      deepStrictEqual(await session.answer(first.card.card, "allow_once"), {
        outcome: "gone",
        message: "This card has been answered already.",
      });
      deepStrictEqual(
        session.gate.openCards.map((open) => open.card),
        [second.card.card],
      );
      await session.answer(second.card.card, "deny");
      strictEqual((await second.admission).kind, "denied");
    });

    it("is gone, says why, and changes nothing where it is spent, withdrawn or was never there", async () => {
      await writeFile(file("a.txt"), "old\n");
      const spent = await session.ask(await writeOf("a.txt", "new\n"));
      await writeFile(file("a.txt"), "other\n");
      await session.answer(spent.card.card, "allow_once");
      const remade = await session.ask(prepareRun(["make"]));
      await session.gate.remake(remade.card.card);
      deepStrictEqual(await remade.admission, { kind: "remake", card: "k2" });
      const before = session.ledger.steps.length;
      const outcomes = await Promise.all(
        ["k1", "k2", "k77"].map((card) => session.answer(card, "allow_session")),
      );
      deepStrictEqual(outcomes, [
        {
          outcome: "gone",
          message: "This card is spent: the file changed, and a new card took its place.",
        },
        { outcome: "gone", message: "This card has been withdrawn." },
        { outcome: "gone", message: "There is no such card in this session." },
      ]);
      deepStrictEqual((await session.gate.remake("k1")).outcome, "gone");
      strictEqual(session.ledger.steps.length, before);
    });

    it("can be answered by the very listener that hears of it", async () => {
      const answered = new Promise((resolve, reject) => {
        session.ledger.listeners.add((event) => {
          if (event.type !== "card_raised") return;
          strictEqual(session.gate.openCards.length, 1);
          session.answer(event.card, "allow_once").then(resolve, reject);
          strictEqual(session.gate.openCards.length, 0);
        });
      });
      strictEqual((await session.admit(prepareRun(["make"]))).kind, "permit");
      deepStrictEqual(await answered, { outcome: "taken" });
    });
  });

  describe("and an open card", () => {
    it("is listed with the bytes it was made from until it is decided", async () => {
      await writeFile(file("a.txt"), "old\n");
      const { card, admission } = await session.ask(await writeOf("a.txt", "new\n"));
      deepStrictEqual(session.gate.openCards, [
        {
          card: "k1",
          call: "c1",
          event: card,
          before: bytes("old\n"),
          after: Uint8Array.from(bytes("new\n")),
        },
      ]);
      const answered = session.answer("k1", "deny");
      deepStrictEqual(session.gate.openCards, []);
      await answered;
      await admission;
      deepStrictEqual(session.gate.openCards, []);
    });

    it("is withdrawn by a cancel, in the log before the call ends", async () => {
      const { card, admission } = await session.ask(prepareRun(["make"]));
      const reason = new Error("cancelled");
      session.cancel.abort(reason);
      deepStrictEqual(await session.answer(card.card, "allow_session"), {
        outcome: "gone",
        message: "This card has been withdrawn.",
      });
      await rejects(admission, reason);
      deepStrictEqual(session.ledger.steps, ["card_raised", "card_withdrawn!"]);
      deepStrictEqual(session.gate.openCards, []);
    });

    it("that was answered just before a cancel stays answered, and starts nothing", async () => {
      const { card, admission } = await session.ask(prepareRun(["make"]));
      const answered = session.answer(card.card, "allow_once");
      session.cancel.abort(new Error("cancelled"));
      deepStrictEqual(await answered, { outcome: "taken" });
      await rejects(admission, /cancelled/);
      deepStrictEqual(session.ledger.steps, ["card_raised", "card_answered!"]);
    });

    it("permits nothing where the cancel comes while its call is being started", async () => {
      session.ledger.listeners.add((event) => {
        if (event.type === "call_started") session.cancel.abort(new Error("cancelled"));
      });
      const { card, admission } = await session.ask(prepareRun(["make"]));
      await session.answer(card.card, "allow_once");
      await rejects(admission, /cancelled/);
    });

    it("permits nothing by an allow where the cancel comes in that moment", async () => {
      await session.ledger.addAllow({ run: ["make"] });
      session.ledger.listeners.add((event) => {
        if (event.type === "call_started") session.cancel.abort(new Error("cancelled"));
      });
      await rejects(session.admit(prepareRun(["make"])), /cancelled/);
    });

    it("is not raised at all where the cancel came first", async () => {
      session.cancel.abort(new Error("cancelled"));
      await rejects(session.admit(prepareRun(["make"])), /cancelled/);
      deepStrictEqual(session.ledger.steps, []);
    });

    it("is withdrawn where the cancel comes while it is being logged", async () => {
      const admission = session.admit(prepareRun(["make"]));
      session.ledger.listeners.add((event) => {
        if (event.type === "card_raised") session.cancel.abort(new Error("cancelled"));
      });
      await rejects(admission, /cancelled/);
      deepStrictEqual(session.ledger.steps, ["card_raised", "card_withdrawn!"]);
    });

    it("stays open in the log where the host goes away", async () => {
      const { admission } = await session.ask(prepareRun(["make"]));
      session.cancel.abort(new Abandoned());
      await rejects(admission, Abandoned);
      deepStrictEqual(session.ledger.steps, ["card_raised"]);
      deepStrictEqual(session.gate.openCards, []);
    });

    it("of an earlier host is replaced by a new one, and withdrawn where none is needed", async () => {
      const later = new Session(made);
      const { card, admission } = await later.ask(prepareRun(["make"]), { replaces: "old" });
      strictEqual(card.replaces, "old");
      await later.answer(card.card, "allow_session");
      await admission;
      strictEqual((await later.admit(prepareRun(["make"]), { replaces: "older" })).kind, "permit");
      deepStrictEqual(
        later.ledger.log.slice(3).map((event) => [event.type, "card" in event ? event.card : ""]),
        [
          ["card_withdrawn", "older"],
          ["call_started", ""],
        ],
      );
    });
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

  it("makes the second session's card anew when the first one's write lands", async () => {
    await writeFile(file("a.txt"), "old\n");
    const other = new Session(made);
    const first = await session.ask(await writeOf("a.txt", "first\n"));
    const second = await other.ask(await writeOf("a.txt", "second\n"));
    await session.answer(first.card.card, "allow_once");
    strictEqual((await first.admission).kind, "permit");
    await writeFile(file("a.txt"), "first\n");
    await other.answer(second.card.card, "allow_session");
    deepStrictEqual(await second.admission, { kind: "spent", card: "k1" });
    const again = await other.ask(await writeOf("a.txt", "second\n"), { replaces: "k1" });
    deepStrictEqual(
      [again.card.replaces, again.card.diff],
      ["k1", "@@ -1,1 +1,1 @@\n-first\n+second\n"],
    );
    await other.answer(again.card.card, "allow_once");
    strictEqual((await again.admission).kind, "permit");
  });
});
