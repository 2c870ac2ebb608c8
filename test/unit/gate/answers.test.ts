import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Abandoned } from "../../../src/core/gate/ports.js";
import { WRITE_BYTES } from "../../../src/core/limits.js";
import { type Made, prepareReadOutside, Session } from "./session.js";
import { bytes, makeWorkspace, prepareRun, prepareWrite } from "./support.js";

describe("the gate, with cards that wait,", () => {
  let made: Made;
  let session: Session;
  beforeEach(async () => {
    made = await makeWorkspace();
    session = new Session(made);
  });
  afterEach(() => made.remove());

  const file = (name: string): string => join(made.root, name);
  const writeOf = (name: string, text: string) => prepareWrite(made.workspace, name, bytes(text));
  const readOutside = (name: string) => prepareReadOutside(made, name);

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
