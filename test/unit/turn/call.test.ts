import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { Gate } from "../../../src/core/gate/gate.js";
import { Abandoned } from "../../../src/core/gate/ports.js";
import type { Answer, Delta, EventOf, SessionEvent } from "../../../src/core/session/events.js";
import * as toolSet from "../../../src/core/tools/index.js";
import type { Tool, ToolContext } from "../../../src/core/tools/tool.js";
import { type CallOutcome, type CallRequest, runCall } from "../../../src/core/turn/call.js";
import { FileChanged, ToolError } from "../../../src/core/workspace/types.js";
import { ids, makeWorkspace, TestLedger } from "../gate/support.js";

type Made = Awaited<ReturnType<typeof makeWorkspace>>;
type Args = Record<string, unknown> | null;

/** A session that makes calls, and a person who answers the cards in order. */
class Session {
  readonly ledger = new TestLedger();
  readonly deltas: Delta[] = [];
  readonly cancel = new AbortController();
  readonly gate = new Gate(this.ledger, { newId: ids("k") });
  trusted = true;
  #calls = 0;

  constructor(private readonly made: Made) {}

  call(tool: string, args: Args, more: Partial<CallRequest> = {}): Promise<CallOutcome> {
    this.#calls += 1;
    const context: ToolContext = {
      workspace: this.made.workspace,
      signal: this.cancel.signal,
      turn: {
        ask: async (question) => `you asked: ${question}`,
        finish: async (text) => ({ ok: true, text }),
        useSkill: async (name) => ({ ok: true, text: name }),
      },
      onOutput: () => {},
    };
    return runCall({
      call: { call: `c${this.#calls}`, tool, args },
      turn: "t1",
      context,
      gate: this.gate,
      ledger: this.ledger,
      toolSet,
      trusted: () => this.trusted,
      emit: (delta) => this.deltas.push(delta),
      ...more,
    });
  }

  /** Answers the next cards, one each; `before` runs while the card is up. */
  answerNext(...answers: [Answer, ((card: EventOf<"card_raised">) => Promise<unknown>)?][]): void {
    const listener = (event: SessionEvent): void => {
      if (event.type !== "card_raised") return;
      const [answer, before] = answers.shift() ?? [undefined];
      if (answers.length === 0) this.ledger.listeners.delete(listener);
      if (answer === undefined) return;
      void (before?.(event) ?? Promise.resolve()).then(() =>
        this.gate.answer(event.card, answer, { surface: "test" }),
      );
    };
    this.ledger.listeners.add(listener);
  }

  /** The types of the log's events, in order. */
  get types(): string[] {
    return this.ledger.log.map((event) => event.type);
  }
}

/** A tool of the test's own, beside the real ones. */
function withTool(name: string, parts: Pick<Tool, "prepare" | "execute">): CallRequest["toolSet"] {
  const tool: Tool = { name, description: "", schema: z.unknown(), ...parts };
  return {
    findTool: (wanted) => (wanted === name ? tool : toolSet.findTool(wanted)),
    parseArgs: toolSet.parseArgs,
  };
}

describe("a call", () => {
  let made: Made;
  let session: Session;
  beforeEach(async () => {
    made = await makeWorkspace();
    session = new Session(made);
  });
  afterEach(() => made.remove());

  const file = (name: string): string => join(made.root, name);
  const ended = ({ ended: { ok: done, result, by, changed } }: CallOutcome) => ({
    ok: done,
    result,
    ...(by === undefined ? {} : { by }),
    ...(changed === undefined ? {} : { changed }),
  });

  it("that reads inside runs at once, and the log has nothing but its result", async () => {
    await writeFile(file("a.txt"), "hello\n");
    const outcome = await session.call("read_file", { path: "a.txt" });
    strictEqual(outcome.ended.by, "inside");
    match(outcome.ended.result, /hello/);
    deepStrictEqual(session.types, ["call_ended"]);
    deepStrictEqual(session.deltas, [{ type: "call_running", call: "c1" }]);
  });

  it("that writes waits for its card and then does what the card showed", async () => {
    await writeFile(file("a.sh"), "PID=OLD\ntail\n");
    session.answerNext(["allow_once"]);
    const args = { path: "a.sh", old: "OLD", new: "$$ $& $` $' $1" };
    const outcome = await session.call("search_replace", args);
    const right = "PID=$$ $& $` $' $1\ntail\n";
    deepStrictEqual(
      [outcome.ended.ok, outcome.ended.by, outcome.ended.changed],
      [true, "user", file("a.sh")],
    );
    strictEqual(await readFile(file("a.sh"), "utf8"), right);
    deepStrictEqual(session.types, ["card_raised", "card_answered", "call_started", "call_ended"]);
    const [card] = session.ledger.ofType("card_raised");
    deepStrictEqual(
      [card?.proposed, card?.diff],
      [right, "@@ -1,2 +1,2 @@\n-PID=OLD\n+PID=$$ $& $` $' $1\n tail\n"],
    );
  });

  it("keeps CRLF, a Latin-1 byte and a missing last newline, on the card and on disk", async () => {
    const before = Buffer.from("one\r\ntwo\r\ncaf\xe9", "latin1");
    await writeFile(file("a.txt"), before);
    session.answerNext(["allow_once"]);
    await session.call("search_replace", { path: "a.txt", old: "two", new: "TWO" });
    const after = Buffer.from("one\r\nTWO\r\ncaf\xe9", "latin1");
    deepStrictEqual(await readFile(file("a.txt")), after);
    const [card] = session.ledger.ofType("card_raised");
    deepStrictEqual(
      [card?.proposedEncoding, Buffer.from(card?.proposed ?? "", "base64")],
      ["base64", after],
    );
    strictEqual(
      card?.diff,
      "\\ Every line ends in CRLF, as before\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n caf⟦0xE9⟧\n\\ No newline at end of file\n",
    );
  });

  it("that is denied changes nothing, and its result says that this is final, with the note", async () => {
    const raised = session.ledger.next("card_raised");
    const outcome = session.call("write_file", { path: "new/a.txt", content: "x" });
    const { card } = await raised;
    await session.gate.answer(card, "deny", { note: "not there", surface: "chat" });
    const result = ended(await outcome);
    deepStrictEqual([result.ok, result.by], [false, undefined]);
    match(result.result, /[Dd]enied.*final.*not there/);
    deepStrictEqual(await readdir(made.root), []);
    deepStrictEqual(session.types, ["card_raised", "card_answered", "call_ended"]);
  });

  it("denied leaves the next one of the same answer to ask for itself", async () => {
    session.answerNext(["deny"], ["allow_once"]);
    const first = await session.call("run", { argv: ["touch", "one"] });
    const second = await session.call("run", { argv: ["touch", "two"] });
    deepStrictEqual([first.ended.ok, second.ended.ok], [false, true]);
    deepStrictEqual(await readdir(made.root), ["two"]);
  });

  it("that writes a file a second time shows the diff after the first", async () => {
    await writeFile(file("a.txt"), "50\n75\n");
    session.answerNext(["allow_once"], ["allow_once"]);
    await session.call("search_replace", { path: "a.txt", old: "50", new: "FIFTY" });
    await session.call("search_replace", { path: "a.txt", old: "75", new: "SEVENTY" });
    deepStrictEqual(
      session.ledger.ofType("card_raised").map((card) => card.diff),
      ["@@ -1,2 +1,2 @@\n-50\n+FIFTY\n 75\n", "@@ -1,2 +1,2 @@\n FIFTY\n-75\n+SEVENTY\n"],
    );
    strictEqual(await readFile(file("a.txt"), "utf8"), "FIFTY\nSEVENTY\n");
  });

  it("whose file changed under its answer shows a new card, made from the file as it is now", async () => {
    await writeFile(file("a.txt"), "a=1\n");
    session.answerNext(
      ["allow_session", () => writeFile(file("a.txt"), "# mine\na=1\n")],
      ["allow_once"],
    );
    await session.call("search_replace", { path: "a.txt", old: "a=1", new: "a=2" });
    strictEqual(await readFile(file("a.txt"), "utf8"), "# mine\na=2\n");
    deepStrictEqual(session.types, [
      "card_raised",
      "card_answered",
      "card_spent",
      "card_raised",
      "card_answered",
      "call_started",
      "call_ended",
    ]);
    const [first, second] = session.ledger.ofType("card_raised");
    deepStrictEqual([second?.replaces, second?.digest === first?.digest], [first?.card, false]);
    deepStrictEqual(session.ledger.allows(), []);
  });

  it("fails with the tool's own result where it cannot be made on the changed file", async () => {
    await writeFile(file("a.txt"), "a=1\n");
    session.answerNext(["allow_once", () => writeFile(file("a.txt"), "b=1\n")]);
    const outcome = await session.call("search_replace", { path: "a.txt", old: "a=1", new: "a=2" });
    deepStrictEqual([outcome.ended.ok, outcome.bug], [false, undefined]);
    match(outcome.ended.result, /not found|not there|no .*match/i);
    deepStrictEqual(session.types, ["card_raised", "card_answered", "card_spent", "call_ended"]);
    strictEqual(await readFile(file("a.txt"), "utf8"), "b=1\n");
  });

  it("is asked for again where its card is made anew on request", async () => {
    await writeFile(file("a.txt"), "old\n");
    const first = session.ledger.next("card_raised");
    const outcome = session.call("write_file", { path: "a.txt", content: "new\n" });
    const { card } = await first;
    await writeFile(file("a.txt"), "saved\n");
    const second = session.ledger.next("card_raised");
    deepStrictEqual(await session.gate.remake(card), { outcome: "taken" });
    const again = await second;
    deepStrictEqual([again.replaces, again.diff], [card, "@@ -1,1 +1,1 @@\n-saved\n+new\n"]);
    await session.gate.answer(again.card, "allow_once", { surface: "chat" });
    strictEqual((await outcome).ended.ok, true);
  });

  it("that would fail fails before any card", async () => {
    await writeFile(file("a.txt"), "a\na\n");
    await symlink(join(made.outside, "x"), file("link"));
    const outcomes = [
      await session.call("search_replace", { path: "a.txt", old: "zzz", new: "y" }),
      await session.call("search_replace", { path: "a.txt", old: "a", new: "y" }),
      await session.call("search_replace", { path: "a.txt", old: "", new: "y" }),
      await session.call("read_file", { path: "missing" }),
      await session.call("write_file", { path: "../x", content: "" }),
      await session.call("write_file", { path: "link", content: "" }),
      await session.call("write_file", { path: "a.txt", content: 7 }),
      await session.call("run", { argv: [] }),
      await session.call("run", { argv: ["true"], timeout: 601 }),
      await session.call("readFile", { path: "a.txt" }),
      await session.call("write_file", null),
    ];
    deepStrictEqual(
      outcomes.map((outcome) => [outcome.ended.ok, outcome.ended.by, outcome.bug]),
      outcomes.map(() => [false, undefined, undefined]),
    );
    deepStrictEqual(
      session.types,
      outcomes.map(() => "call_ended"),
    );
    match(outcomes.at(-2)?.ended.result ?? "", /read_file.*search_replace/s);
    match(outcomes.at(-1)?.ended.result ?? "", /invalid JSON/);
    match(outcomes[6]?.ended.result ?? "", /content/);
  });

  it("outside tells nothing before the answer, not even whether something is there", async () => {
    const missing = join(made.outside, "missing.txt");
    session.answerNext(["deny"], ["allow_once"]);
    const args = { path: missing, old: "a", new: "b" };
    const denied = await session.call("search_replace", args);
    const [card] = session.ledger.ofType("card_raised");
    deepStrictEqual([card?.kind, card?.path, card?.tool], ["read", missing, "search_replace"]);
    match(denied.ended.result, /[Dd]enied/);
    const told = await session.call("search_replace", args);
    deepStrictEqual([told.ended.ok, told.ended.by], [false, "user"]);
    match(told.ended.result, /missing\.txt/);
  });

  it("runs no command in an untrusted workspace, and shows no card for it", async () => {
    session.trusted = false;
    const outcome = await session.call("run", { argv: ["touch", "x"] });
    deepStrictEqual([outcome.ended.ok, session.types], [false, ["call_ended"]]);
    match(outcome.ended.result, /untrusted/);
    deepStrictEqual(await readdir(made.root), []);
    session.answerNext(["allow_once"]);
    strictEqual((await session.call("write_file", { path: "a", content: "" })).ended.ok, true);
  });

  it("by an allow runs without a card and the log says by which", async () => {
    session.answerNext(["allow_session"]);
    const argv = ["sh", "-c", "echo x >> out"];
    await session.call("run", { argv });
    const outcome = await session.call("run", { argv });
    strictEqual(outcome.ended.by, "allow");
    strictEqual(await readFile(file("out"), "utf8"), "x\nx\n");
    deepStrictEqual(
      session.ledger.ofType("call_started").map(({ by, card, allow }) => ({ by, card, allow })),
      [
        { by: "user", card: "k1", allow: undefined },
        { by: "allow", card: undefined, allow: { run: argv } },
      ],
    );
  });

  it("cancelled while its card is up ends as cancelled, once, and does nothing", async () => {
    const raised = session.ledger.next("card_raised");
    const outcome = session.call("run", { argv: ["touch", "x"] });
    const { card } = await raised;
    session.cancel.abort(new Error("stop"));
    const late = session.gate.answer(card, "allow_once", { surface: "chat" });
    deepStrictEqual(ended(await outcome), { ok: false, result: "cancelled" });
    strictEqual((await late).outcome, "gone");
    deepStrictEqual(session.types, ["card_raised", "card_withdrawn", "call_ended"]);
    deepStrictEqual(await readdir(made.root), []);
    deepStrictEqual(ended(await session.call("run", { argv: ["true"] })), {
      ok: false,
      result: "cancelled",
    });
  });

  it("cancelled while its command runs ends with what the command did", async () => {
    session.answerNext(["allow_once"]);
    const outcome = session.call("run", { argv: ["sh", "-c", "echo started; : > up; sleep 60"] });
    await session.ledger.next("call_started");
    while ((await stat(file("up")).catch(() => undefined)) === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    session.cancel.abort(new Error("stop"));
    const { ended: end } = await outcome;
    strictEqual(end.by, "user");
    match(end.result, /started/);
    ok(!/denied/i.test(end.result));
  });

  it("leaves its card open and has no result where the host goes away", async () => {
    const raised = session.ledger.next("card_raised");
    const outcome = session.call("run", { argv: ["true"] });
    await raised;
    session.cancel.abort(new Abandoned());
    await rejects(outcome, Abandoned);
    deepStrictEqual(session.types, ["card_raised"]);
  });

  it("taken up by a later host shows a new card in place of the open one", async () => {
    await writeFile(file("a.txt"), "today\n");
    session.answerNext(["allow_once"]);
    const args = { path: "a.txt", content: "new\n" };
    await session.call("write_file", args, { replaces: "old" });
    const [card] = session.ledger.ofType("card_raised");
    deepStrictEqual([card?.replaces, card?.diff], ["old", "@@ -1,1 +1,1 @@\n-today\n+new\n"]);
    strictEqual(session.types.includes("card_withdrawn"), false);
  });

  it("taken up by a later host withdraws the open card where it cannot be made any more", async () => {
    const args = { path: "gone.txt", old: "a", new: "b" };
    await session.call("search_replace", args, { replaces: "old" });
    deepStrictEqual(
      session.ledger.log.map((event) => [event.type, "card" in event ? event.card : undefined]),
      [
        ["card_withdrawn", "old"],
        ["call_ended", undefined],
      ],
    );
  });

  describe("whose tool is at fault", () => {
    const prepared = { kind: "free", tool: "odd" } as const;

    it("ends with an internal error, and hands the fault on", async () => {
      const fault = new TypeError("x is not a function");
      const faults = [
        { prepare: () => Promise.reject(fault), execute: async () => new ToolError("") },
        { prepare: async () => prepared, execute: () => Promise.reject(fault) },
        {
          prepare: async () => prepared,
          execute: () => {
            throw fault;
          },
        },
      ];
      for (const parts of faults) {
        const outcome = await session.call("odd", {}, { toolSet: withTool("odd", parts) });
        strictEqual(outcome.bug, fault);
        match(outcome.ended.result, /[Ii]nternal error/);
        ok(!outcome.ended.result.includes("not a function"));
      }
      deepStrictEqual(session.types, ["call_ended", "call_ended", "call_ended"]);
    });

    it("ends as cancelled where what it threw was the cancel", async () => {
      const parts = {
        prepare: async () => prepared,
        execute: async (_a: unknown, _p: unknown, _m: unknown, { signal }: ToolContext) => {
          session.cancel.abort(new Error("stop"));
          signal.throwIfAborted();
          return new ToolError("");
        },
      };
      const outcome = await session.call("odd", {}, { toolSet: withTool("odd", parts) });
      deepStrictEqual(
        [ended(outcome), outcome.bug],
        [{ ok: false, result: "cancelled" }, undefined],
      );
    });
  });

  it("that finds its file changed at the last moment spends the answer and asks again", async () => {
    const real = toolSet.findTool("write_file");
    ok(!(real instanceof ToolError));
    let races = 2;
    const racing = withTool("write_file", {
      prepare: (args, context) => real.prepare(args, context),
      execute: async (...given) => {
        if (races > 0) await writeFile(file("a.txt"), `race ${races--}\n`);
        return real.execute(...given);
      },
    });
    session.answerNext(["allow_once"], ["allow_session"], ["allow_once"]);
    const args = { path: "a.txt", content: "new\n" };
    const outcome = await session.call("write_file", args, { toolSet: racing });
    strictEqual(outcome.ended.ok, true);
    const once = ["card_raised", "card_answered", "call_started"];
    const lost = [...once, "card_spent"];
    deepStrictEqual(session.types, [...lost, ...lost, ...once, "call_ended"]);
    // The allow of the second answer went with it.
    deepStrictEqual(session.ledger.allows(), []);
    deepStrictEqual(
      session.ledger.steps.filter((step) => step.startsWith("meta")),
      ["meta+", "meta-"],
    );
    strictEqual(await readFile(file("a.txt"), "utf8"), "new\n");
  });

  it("by an allow is tried again where its file changes, five times and no more", async () => {
    let tries = 0;
    const never = withTool("write_file", {
      prepare: async (args, context) => {
        const real = toolSet.findTool("write_file");
        return real instanceof ToolError ? real : real.prepare(args, context);
      },
      execute: async () => {
        tries += 1;
        return new FileChanged(file("a.txt"));
      },
    });
    await session.ledger.addAllow({ write: file("a.txt") });
    const args = { path: "a.txt", content: "new\n" };
    const outcome = await session.call("write_file", args, { toolSet: never });
    deepStrictEqual([tries, outcome.ended.ok], [6, false]);
    match(outcome.ended.result, /keeps changing/);
    deepStrictEqual(
      session.gate.allowUses.map(({ used }) => used),
      [1],
    );
  });

  it("has one winner where two sessions were both allowed to write one file", async () => {
    await writeFile(file("a.txt"), "0\n");
    const other = new Session(made);
    await session.ledger.addAllow({ write: file("a.txt") });
    await other.ledger.addAllow({ write: file("a.txt") });
    const add = (who: Session, name: string) =>
      who.call("search_replace", { path: "a.txt", old: "0\n", new: `0\n${name}\n` });
    await Promise.all([add(session, "one"), add(other, "two")]);
    deepStrictEqual((await readFile(file("a.txt"), "utf8")).trim().split("\n").sort(), [
      "0",
      "one",
      "two",
    ]);
  });

  it("rejects where its result cannot be logged", async () => {
    session.ledger.failOn = "call_ended";
    await rejects(session.call("finish", { result: "x" }), /disk is full/);
  });
});
