import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import type { PreparedRead } from "../../../src/core/gate/prepared.js";
import { type Made, prepareReadOutside, Session } from "./session.js";
import { bytes, makeWorkspace, prepareRun, prepareWrite } from "./support.js";

describe("the gate, with allows,", () => {
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
    // An answer that is spent gave nothing.
    const grep = await session.ask(await read("grep", "s"));
    await session.answer(grep.card.card, "allow_session");
    const permitted = await grep.admission;
    ok(permitted.kind === "permit" && permitted.card !== undefined);
    await session.gate.spend(permitted.card, "t1");
    await allowBy("list_dir", "s");
    await asks("grep", "s");
    // Given with the session, by someone who saw no card of it.
    await session.ledger.addAllow({ read: join(made.outside, "g") });
    await goesThrough("grep", "g");
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
});
