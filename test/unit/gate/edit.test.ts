import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EDIT_DROPPED, PastEdits, STALE } from "../../../src/core/gate/edit.js";
import { fatesOf, type LineRange, splitLines } from "../../../src/core/gate/fates.js";
import { whyFixed } from "../../../src/core/gate/fixed.js";
import { Gate } from "../../../src/core/gate/gate.js";
import { Abandoned, type Admission } from "../../../src/core/gate/ports.js";
import type { Prepared } from "../../../src/core/gate/prepared.js";
import { WRITE_BYTES } from "../../../src/core/limits.js";
import type { Answer, EventOf, SessionEvent } from "../../../src/core/session/events.js";
import * as realTools from "../../../src/core/tools/index.js";
import { runCall } from "../../../src/core/turn/call.js";
import { digest } from "../../../src/core/workspace/digest.js";
import { bytes, ids, makeWorkspace, prepareRun, prepareWrite, TestLedger } from "./support.js";

const TEN = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

describe("editing what a card proposes", () => {
  let made: Awaited<ReturnType<typeof makeWorkspace>>;
  let ledger: TestLedger;
  let gate: Gate;
  let abort: AbortController;
  const newGate = (prefix: string) => new Gate(ledger, { newId: ids(prefix), events: ledger.log });
  beforeEach(async () => {
    made = await makeWorkspace();
    ledger = new TestLedger();
    gate = newGate("k");
    abort = new AbortController();
  });
  afterEach(() => made.remove());

  const file = (name: string) => join(made.root, name);
  const admit = (prepared: Prepared, replaces?: string) =>
    gate.admit({
      call: "c1",
      tool: prepared.tool,
      prepared,
      workspace: made.workspace,
      turn: "t1",
      signal: abort.signal,
      ...(replaces === undefined ? {} : { replaces }),
    });
  const up = async (prepared: Prepared, replaces?: string) => {
    const raised = ledger.next("card_raised");
    const admission = admit(prepared, replaces);
    admission.catch(() => {});
    return { card: (await raised).card, admission };
  };
  const write = async (name: string, before: string | Uint8Array | null, after: string) => {
    if (before !== null) await writeFile(file(name), before);
    return up(await prepareWrite(made.workspace, name, bytes(after)));
  };
  const yes = (card: string, shown?: string, answer: Answer = "allow_once") =>
    gate.answer(card, answer, { surface: "test", ...(shown === undefined ? {} : { shown }) });
  const sha = (text: string) => digest(bytes(text));
  const permitted = (admission: Admission) => {
    ok(admission.kind === "permit" && admission.permit.allows.kind === "write");
    return { allows: admission.permit.allows, edited: admission.edited };
  };
  /** A whole call with its execution, on the real tools. */
  const call = (tool: string, args: Record<string, unknown>, replaces?: string) =>
    runCall({
      call: { call: "c1", tool, args },
      turn: "t1",
      context: {
        workspace: made.workspace,
        signal: abort.signal,
        turn: {
          ask: async () => "",
          finish: async (text) => ({ ok: true, text }),
          useSkill: async (text) => ({ ok: true, text }),
        },
        onOutput: () => {},
      },
      gate,
      ledger,
      toolSet: realTools,
      trusted: () => true,
      emit: () => {},
      ...(replaces === undefined ? {} : { replaces }),
    });

  it("permits the edited bytes alone, which are in the log before the answer", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    deepStrictEqual(await gate.edit(card, bytes("three\n")), { outcome: "taken" });
    deepStrictEqual(await yes(card, sha("three\n")), { outcome: "taken" });
    const { allows } = permitted(await admission);
    deepStrictEqual([allows.before, allows.after], [sha("one\n"), sha("three\n")]);
    deepStrictEqual(ledger.steps, [
      "card_raised",
      "card_edited",
      "card_answered!",
      "call_started!",
    ]);
    const [raised] = ledger.ofType("card_raised");
    strictEqual(raised?.proposed, "two\n");
    const { seq: _, at: __, ...edited } = ledger.ofType("card_edited")[0] ?? {};
    deepStrictEqual(edited, {
      type: "card_edited",
      turn: "t1",
      card,
      digest: sha("three\n"),
      edited: "three\n",
      diff: "@@ -1,1 +1,1 @@\n-one\n+three\n",
      added: 1,
      removed: 1,
      bytesAfter: 6,
    });
    strictEqual(ledger.ofType("card_answered")[0]?.digest, sha("three\n"));
  });

  it("takes no yes to a text that is not the one it has: the card stays as it is", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    const stale = { outcome: "stale", message: STALE };
    deepStrictEqual(await yes(card, sha("three\n")), stale);
    await gate.edit(card, bytes("three\n"));
    // Without a version the proposal was shown, which is not what would be written any more.
    deepStrictEqual(await yes(card), stale);
    deepStrictEqual(await yes(card, sha("two\n")), stale);
    deepStrictEqual(await yes(card, sha("two\n"), "allow_session"), stale);
    deepStrictEqual(ledger.ofType("card_answered"), []);
    deepStrictEqual(ledger.allows(), []);
    strictEqual(gate.openCards[0]?.card, card);
    deepStrictEqual(await yes(card, sha("three\n")), { outcome: "taken" });
    strictEqual(permitted(await admission).allows.after, sha("three\n"));
  });

  it("names the proposal by its digest, or by none", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    deepStrictEqual(await yes(card, sha("two\n")), { outcome: "taken" });
    strictEqual(permitted(await admission).edited, undefined);
  });

  it("takes a denial whatever was shown: nothing happens by it", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    await gate.edit(card, bytes("three\n"));
    deepStrictEqual(await yes(card, undefined, "deny"), { outcome: "taken" });
    deepStrictEqual(await admission, { kind: "denied", card });
  });

  /** Does `what` in the very moment that the next edit is on its way to the log. */
  const onEdit = <T>(what: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const append = ledger.append.bind(ledger);
      ledger.append = (event, options) => {
        if (event.type === "card_edited") {
          ledger.append = append;
          queueMicrotask(() => what().then(resolve, reject));
        }
        return append(event, options);
      };
    });

  it("is about the newest text from the moment that its event is on its way", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    const answers = onEdit(async () => [await yes(card), await yes(card, sha("three\n"))]);
    await gate.edit(card, bytes("three\n"));
    deepStrictEqual(
      (await answers).map(({ outcome }) => outcome),
      ["stale", "taken"],
    );
    strictEqual(permitted(await admission).allows.after, sha("three\n"));
    deepStrictEqual(ledger.steps.slice(0, 3), ["card_raised", "card_edited", "card_answered!"]);
  });

  it("keeps the order in which edits were made, however long each takes", async () => {
    const { card, admission } = await write("a", TEN, "two\n");
    const texts = ["a\n".repeat(20_000), "b\n", "c\n".repeat(20_000), "d\n"];
    await Promise.all(texts.map((text) => gate.edit(card, bytes(text))));
    deepStrictEqual(
      ledger.ofType("card_edited").map((event) => event.edited),
      texts,
    );
    await yes(card, sha("d\n"));
    strictEqual(permitted(await admission).allows.after, sha("d\n"));
  });

  it("brings the proposal back, by revert and by its own bytes", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    await gate.edit(card, bytes("three\n"));
    strictEqual(gate.openCards[0]?.edit?.event.edited, "three\n");
    deepStrictEqual(await gate.revert(card), { outcome: "taken" });
    strictEqual(gate.openCards[0]?.edit, undefined);
    await gate.edit(card, bytes("three\n"));
    await gate.edit(card, bytes("two\n"));
    deepStrictEqual(
      ledger
        .ofType("card_edited")
        .map(({ reverted, edited, digest }) => [reverted, edited, digest]),
      [
        [undefined, "three\n", sha("three\n")],
        [true, undefined, sha("two\n")],
        [undefined, "three\n", sha("three\n")],
        [true, undefined, sha("two\n")],
      ],
    );
    await yes(card);
    const { allows, edited } = permitted(await admission);
    deepStrictEqual([allows.after, edited], [sha("two\n"), undefined]);
    strictEqual(ledger.ofType("card_answered")[0]?.digest, undefined);
  });

  it("logs nothing for an edit that changes nothing", async () => {
    const { card } = await write("a", "one\n", "two\n");
    await gate.edit(card, bytes("two\n"));
    await gate.revert(card);
    await gate.edit(card, bytes("three\n"));
    await gate.edit(card, bytes("three\n"));
    strictEqual(ledger.ofType("card_edited").length, 1);
  });

  it("is not changed by what becomes of the bytes that it was given", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    const given = Uint8Array.from(bytes("three\n"));
    const edit = gate.edit(card, given);
    given.fill(0x61);
    await edit;
    await yes(card, sha("three\n"));
    const { edited } = permitted(await admission);
    deepStrictEqual(Buffer.from(edited?.after ?? []), bytes("three\n"));
  });

  it("keeps BOM and line ends as they are given", async () => {
    const { card, admission } = await write("a", "one\n", "\ufefftwo\r\n");
    const text = "\ufefftwo\r\nthree\r\n";
    await gate.edit(card, bytes(text));
    strictEqual(ledger.ofType("card_edited")[0]?.edited, text);
    await yes(card, sha(text));
    strictEqual(permitted(await admission).allows.after, sha(text));
  });

  it("takes 256 KiB and not a byte more", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    const most = Buffer.alloc(WRITE_BYTES, "x");
    deepStrictEqual(await gate.edit(card, Buffer.alloc(WRITE_BYTES + 1, "x")), {
      outcome: "refused",
      message: `The edited text has ${WRITE_BYTES + 1} bytes, and at most ${WRITE_BYTES} can be written.`,
    });
    deepStrictEqual(ledger.ofType("card_edited"), []);
    deepStrictEqual(await gate.edit(card, most), { outcome: "taken" });
    await yes(card, digest(most));
    strictEqual(permitted(await admission).allows.after, digest(most));
  });

  it("refuses what an editor does not show or give back as it is", async () => {
    const fixed = (text: string | Uint8Array) =>
      whyFixed(Buffer.from(text as string)) !== undefined;
    deepStrictEqual(
      ["", "a\n", "\ufeffa\r\nb", "a\tb\n", "caf\u00e9 \u{1f600}\ufe0f\n", "\u00a0\n"].filter(
        fixed,
      ),
      [],
    );
    const traps = ["a\nb\r\n", "a\rb", "a\0b", "\u202ea", "a\u2028b", "\u001b[2J", "\u{e0041}"];
    deepStrictEqual(traps.filter(fixed), traps);
    ok(fixed(Buffer.from([0x63, 0xe9, 0x0a])));
    const { card } = await write("a", "one\n", "two\n");
    for (const trap of traps) strictEqual((await gate.edit(card, bytes(trap))).outcome, "refused");
    strictEqual((await gate.edit(card, Uint8Array.of(0xff))).outcome, "refused");
    abort.abort(new Error("over"));
  });

  it("does not edit a proposal that cannot go through an editor", async () => {
    const { card } = await write("a", "one\r\ntwo\n", "one\r\n2\n");
    const outcome = await gate.edit(card, bytes("one\n2\n"));
    ok(outcome.outcome === "refused");
    match(outcome.message, /its line ends are mixed/);
  });

  it("edits nothing but a write, and no card that is gone", async () => {
    const { card } = await up(prepareRun(["make"]));
    strictEqual((await gate.edit(card, bytes("rm"))).outcome, "refused");
    strictEqual((await gate.revert(card)).outcome, "gone");
    const other = await write("a", "one\n", "two\n");
    await yes(other.card, undefined, "deny");
    strictEqual((await gate.edit(other.card, bytes("x\n"))).outcome, "gone");
    strictEqual((await gate.edit("none", bytes("x\n"))).outcome, "gone");
  });

  it("is too late once the card has its answer", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    const [answered, edited] = await Promise.all([yes(card), gate.edit(card, bytes("x\n"))]);
    deepStrictEqual([answered.outcome, edited.outcome], ["taken", "gone"]);
    strictEqual(permitted(await admission).allows.after, sha("two\n"));
    deepStrictEqual(ledger.ofType("card_edited"), []);
  });

  it("lets nothing through where the edit cannot be logged", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    ledger.failOn = "card_edited";
    await rejects(gate.edit(card, bytes("x\n")), /ENOSPC/);
    strictEqual((await yes(card, sha("x\n"))).outcome, "stale");
    ledger.failOn = undefined;
    deepStrictEqual(await yes(card), { outcome: "taken" });
    strictEqual(permitted(await admission).allows.after, sha("two\n"));
  });

  it("lets nothing through where the answer came before the edit failed to be logged", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    ledger.failOn = "card_edited";
    const answer = onEdit(() => yes(card, sha("x\n")));
    answer.catch(() => {});
    await rejects(gate.edit(card, bytes("x\n")), /ENOSPC/);
    await rejects(answer, /ENOSPC/);
    await rejects(admission, /ENOSPC/);
    deepStrictEqual(ledger.steps, ["card_raised"]);
  });

  it("adds the one allow line of the path and nothing else", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    await gate.edit(card, bytes("three\n"));
    await yes(card, sha("three\n"), "allow_session");
    await admission;
    deepStrictEqual(ledger.allows(), [{ write: file("a") }]);
  });

  it("is a denial where nothing is left of the proposal, with no allow", async () => {
    const { card, admission } = await write("a", "one\n", "two\n");
    await gate.edit(card, bytes("one\n"));
    deepStrictEqual(await yes(card, sha("one\n"), "allow_session"), { outcome: "taken" });
    deepStrictEqual(await admission, { kind: "denied", card, nothingLeft: true });
    const { seq: _, at: __, ...answered } = ledger.ofType("card_answered")[0] ?? {};
    deepStrictEqual(answered, {
      type: "card_answered",
      turn: "t1",
      card,
      answer: "deny",
      nothingLeft: true,
      surface: "test",
    });
    deepStrictEqual(ledger.allows(), []);
  });

  it("makes no empty file of a new one of which nothing is left", async () => {
    const result = call("write_file", { path: "new", content: "x\n" });
    const { card } = await ledger.next("card_raised");
    await gate.edit(card, bytes(""));
    await yes(card, sha(""));
    strictEqual(
      (await result).ended.result,
      "Denied by the user: every change of it was dropped. Nothing was done, and this answer is final: do not try to do the same in another way.",
    );
    await rejects(readFile(file("new")));
  });

  it("writes the edited text and tells the model what became of each change", async () => {
    await writeFile(file("a"), TEN);
    const result = call("write_file", {
      path: "a",
      content: "1\nTWO\n3\n4\nFIVE\n6\n7\n8\nNINE\n10\n",
    });
    const { card } = await ledger.next("card_raised");
    const text = "1\nTWO\n3\n4\n5\n6\n7\n8\nnine\n10\n";
    await gate.edit(card, bytes(text));
    await yes(card, sha(text));
    const { ended } = await result;
    strictEqual(await readFile(file("a"), "utf8"), text);
    deepStrictEqual([ended.ok, ended.by, ended.changed], [true, "user", file("a")]);
    strictEqual(
      ended.result,
      [
        "Wrote a: 26 bytes, 10 lines. The user edited your proposal before approving it: the file holds the user's version, not yours. Of your 3 changes, 1 written as proposed, 1 dropped, 1 edited. Dropped, by the file as it was: line 5. From your proposal (-) to what was written (+):",
        "@@ -2,9 +2,9 @@",
        " TWO",
        " 3",
        " 4",
        "-FIVE",
        "+5",
        " 6",
        " 7",
        " 8",
        "-NINE",
        "+nine",
        " 10",
        "Go on from the file as it is; do not put back what the user dropped or edited.",
      ].join("\n"),
    );
  });

  it("keeps the receipt within the limits of a card's diff", async () => {
    const result = call("write_file", { path: "a", content: "x\n".repeat(100) });
    const { card } = await ledger.next("card_raised");
    const text = Array.from({ length: 3_000 }, (_, i) => `${i} ${"y".repeat(30)}\n`).join("");
    await gate.edit(card, bytes(text));
    await yes(card, sha(text));
    const { ended } = await result;
    const lines = ended.result.split("\n");
    strictEqual(lines.length, 1 + 400 + 1 + 1);
    match(lines.at(-2) ?? "", /3000 lines added and 100 removed in all/);
  });

  it("is spent when the file changes: the new card is the model's on the new bytes and says so", async () => {
    await writeFile(file("a"), "one\nx\n");
    const result = call("search_replace", { path: "a", old: "one", new: "two" });
    const first = await ledger.next("card_raised");
    await gate.edit(first.card, bytes("mine\nx\n"));
    await writeFile(file("a"), "zero\none\nx\n");
    const next = ledger.next("card_raised");
    await yes(first.card, sha("mine\nx\n"), "allow_session");
    const second = await next;
    deepStrictEqual(
      [second.replaces, second.proposed, second.reasons],
      [first.card, "zero\ntwo\nx\n", [EDIT_DROPPED]],
    );
    strictEqual(gate.openCards[0]?.edit, undefined);
    deepStrictEqual(ledger.allows(), []);
    strictEqual(ledger.ofType("card_edited")[0]?.edited, "mine\nx\n");
    strictEqual((await yes(second.card, sha("mine\nx\n"))).outcome, "stale");
    await yes(second.card);
    strictEqual((await result).ended.result.startsWith("Replaced the text in a"), true);
    strictEqual(await readFile(file("a"), "utf8"), "zero\ntwo\nx\n");
  });

  it("is taken over by a card of the same proposal on the same bytes of the same file alone", () => {
    const raised = {
      type: "card_raised",
      call: "c",
      tool: "write_file",
      kind: "write",
      path: "/ws/a",
      digest: null,
      proposed: "two\n",
      proposedEncoding: "utf8",
    } as const;
    const logged = { seq: 1, at: "2026-01-01T00:00:00.000Z" };
    const past = new PastEdits();
    past.take({ ...logged, ...raised, card: "k1" });
    const edited = { digest: digest(bytes("mine\n")), edited: "mine\n", bytesAfter: 5 };
    const counts = { diff: "", added: 1, removed: 0 };
    past.take({ ...logged, type: "card_edited", card: "k1", ...edited, ...counts });
    const next = { ...raised, card: "k2", replaces: "k1" };
    deepStrictEqual(past.for(next), bytes("mine\n"));
    for (const other of [
      { path: "/ws/b" },
      { digest: digest(bytes("")) },
      { proposed: "three\n" },
      { proposedEncoding: "base64" },
    ] as const) {
      strictEqual(past.for({ ...next, ...other }), "dropped", JSON.stringify(other));
    }
    strictEqual(past.for({ ...next, replaces: "k0" }), undefined);
  });

  it("is taken over by the card that an heir of the host makes of the same file", async () => {
    await writeFile(file("a"), "one\n");
    const gone = call("write_file", { path: "a", content: "two\n" });
    gone.catch(() => {});
    const first = await ledger.next("card_raised");
    await gate.edit(first.card, bytes("three\n"));
    abort.abort(new Abandoned());
    await rejects(gone, Abandoned);

    abort = new AbortController();
    gate = newGate("h");
    const editedAgain = ledger.next("card_edited");
    const result = call("write_file", { path: "a", content: "two\n" }, first.card);
    let atRaise: string | undefined;
    const listener = (event: SessionEvent) => {
      // Whoever hears of the card finds it edited already.
      if (event.type === "card_raised") atRaise = gate.openCards[0]?.edit?.event.edited;
    };
    ledger.listeners.add(listener);
    const again = await editedAgain;
    strictEqual(atRaise, "three\n");
    const raised = ledger.ofType("card_raised").at(-1);
    deepStrictEqual(
      [again.card, again.edited, raised?.proposed, raised?.reasons],
      [raised?.card, "three\n", "two\n", undefined],
    );
    strictEqual((await yes(again.card)).outcome, "stale");
    await yes(again.card, sha("three\n"));
    strictEqual((await result).ended.ok, true);
    strictEqual(await readFile(file("a"), "utf8"), "three\n");
  });

  it("is not taken over from a log that was changed, or by another proposal", async () => {
    const cases: [string, (events: SessionEvent[]) => void][] = [
      [
        "other text under the old digest",
        (events) => {
          const edited = events.find((event) => event.type === "card_edited");
          ok(edited?.type === "card_edited");
          edited.edited = "forged\n";
        },
      ],
      [
        "another proposal",
        (events) => {
          const raised = events.find((event) => event.type === "card_raised");
          ok(raised?.type === "card_raised");
          raised.proposed = "other\n";
        },
      ],
    ];
    for (const [what, change] of cases) {
      ledger = new TestLedger();
      abort = new AbortController();
      gate = newGate("k");
      const { card } = await write("a", "one\n", "two\n");
      await gate.edit(card, bytes("three\n"));
      abort.abort(new Abandoned());
      change(ledger.log);
      abort = new AbortController();
      gate = newGate("h");
      const prepared = await prepareWrite(made.workspace, "a", bytes("two\n"));
      const heir = await up(prepared, card);
      const raised = ledger.ofType("card_raised").at(-1) as EventOf<"card_raised">;
      deepStrictEqual([raised.card, raised.reasons], [heir.card, [EDIT_DROPPED]], what);
      strictEqual(gate.openCards[0]?.edit, undefined, what);
      abort.abort(new Error("over"));
    }
  });

  it("tells kept, dropped and edited changes apart", async () => {
    const fates = async (before: string | null, proposed: string, edited: string) =>
      (await fatesOf(before === null ? null : bytes(before), bytes(proposed), bytes(edited))).map(
        ({ old, fate }) => `${old.at}+${old.count} ${fate}`,
      );
    const proposed = "0\n1\n2\n4\nV\n6\n7\n8\n9\n10\nend\n";
    deepStrictEqual(await fates(TEN, proposed, proposed), [
      "0+0 kept",
      "2+1 kept",
      "4+1 kept",
      "10+0 kept",
    ]);
    deepStrictEqual(await fates(TEN, proposed, TEN), [
      "0+0 dropped",
      "2+1 dropped",
      "4+1 dropped",
      "10+0 dropped",
    ]);
    deepStrictEqual(await fates(TEN, proposed, "0\n1\n2\n3\n4\nv\n6\n7\nmine\n8\n9\n10\n"), [
      "0+0 kept",
      "2+1 dropped",
      "4+1 edited",
      "10+0 dropped",
    ]);
    deepStrictEqual(await fates(null, "a\n", "b\n"), ["0+0 edited"]);
    deepStrictEqual(await fates("a", "a\n", "a"), ["0+1 dropped"]);
  });

  it("says for each change which lines drop it, and which put it back", async () => {
    const replace = (text: string, { at, count }: LineRange, by: string[]) =>
      splitLines(text)
        .toSpliced(at, count, ...by)
        .join("");
    const take = (text: string, { at, count }: LineRange) => splitLines(text).slice(at, at + count);
    const texts: [string, string][] = [
      [TEN, "0\n1\n2\n4\nV\n6\n7\n8\n9\n10\nend\n"],
      [TEN, "10\n9\n8\n7\n6\n5\n4\n3\n2\n1\n"],
      ["a", "a\nb\n"],
      ["a\nb\n", "x\na"],
      ["a\r\nb\r\nc", "a\r\nB\r\nc\r\n"],
      ["", "a\n"],
      ["a\n", ""],
    ];
    for (const [before, proposed] of texts) {
      const look = (text: string) => fatesOf(bytes(before), bytes(proposed), bytes(text));
      const { length } = await look(proposed);
      // Dropped in every order that starts somewhere else, then put back: nothing else moves.
      for (let start = 0; start < length; start += 1) {
        let text = proposed;
        const order = Array.from({ length }, (_, i) => (start + i) % length);
        for (const at of order) {
          const one = (await look(text))[at];
          ok(one?.fate === "kept");
          text = replace(text, one.now, take(before, one.instead));
          strictEqual((await look(text))[at]?.fate, "dropped");
        }
        strictEqual(text, before);
        for (const at of order) {
          const one = (await look(text))[at];
          ok(one?.fate === "dropped");
          text = replace(text, one.now, take(proposed, one.proposed));
        }
        strictEqual(text, proposed);
      }
    }
  });
});
