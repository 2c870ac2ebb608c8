import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { LOG_TEXT_CHARS, LOG_VIEW_CHARS } from "../../../src/core/limits.js";
import type { EventBody, SessionEvent } from "../../../src/core/session/events.js";
import type { SessionToRead } from "../../../src/core/turn/live.js";
import { exportMarkdown, ReadableView } from "../../../src/core/turn/readableLog.js";
import { code, fence } from "../../../src/core/turn/readableText.js";
import { longestHold } from "../../support/held.js";
import { call, calling, makeWorld, ScriptedClient, untilState, type World } from "./support.js";

/** Events as a log has them, a second apart. */
function numbered(...bodies: EventBody[]): SessionEvent[] {
  return bodies.map((body, index) => ({
    ...body,
    seq: index + 1,
    at: new Date(Date.UTC(2026, 0, 1, 10, 0, index)).toISOString(),
  }));
}

function toRead(
  events: SessionEvent[],
  damage: SessionToRead["damage"] = [],
  title = "A title",
): SessionToRead {
  return { id: "s", title, events, damage };
}

const whole = (session: SessionToRead): Promise<string> =>
  new ReadableView(session, LOG_TEXT_CHARS, LOG_VIEW_CHARS).text();

/** Lines outside of code blocks, as CommonMark has them. */
function outside(text: string): string[] {
  let marks: string | undefined;
  const found: string[] = [];
  for (const line of text.split("\n")) {
    const run = /^`{3,}/.exec(line)?.[0];
    if (marks === undefined) {
      if (run !== undefined) marks = run;
      else found.push(line);
    } else if (run !== undefined && run.length >= marks.length && line === run) marks = undefined;
  }
  assert.equal(marks, undefined, "every code block ends");
  return found;
}

const write = (id: string, path: string): EventBody => ({
  type: "card_raised",
  card: `card-${id}`,
  call: id,
  tool: "write_file",
  kind: "write",
  path,
  digest: null,
  diff: "@@ -0,0 +1 @@\n+x\n",
  added: 1,
  removed: 0,
  bytesBefore: null,
  bytesAfter: 2,
  proposed: "x\n",
});

const start: readonly EventBody[] = [
  { type: "session_started", schema: 1, workspace: "/ws", version: "0.1.0" },
  { type: "turn_started", turn: "t1", text: "Write it", model: "m" },
];

describe("a session to read", () => {
  it("tells of each effect by whose answer, or by which allow and how that came to be", async () => {
    const events = numbered(
      ...start,
      {
        type: "model_answered",
        text: "I will.",
        calls: [
          { call: "a", tool: "write_file", args: { path: "a", content: "x\n" } },
          { call: "b", tool: "write_file", args: { path: "a", content: "y\n" } },
          { call: "c", tool: "read_file", args: { path: "a" } },
        ],
        usage: { input: 10, output: 5 },
      },
      write("a", "/ws/a"),
      { type: "card_answered", card: "card-a", answer: "allow_session", surface: "approvals" },
      { type: "call_started", call: "a", by: "user", card: "card-a" },
      { type: "call_ended", call: "a", ok: true, result: "Written.", by: "user", changed: "/ws/a" },
      { type: "call_started", call: "b", by: "allow", allow: { write: "/ws/a" } },
      {
        type: "call_ended",
        call: "b",
        ok: true,
        result: "Written.",
        by: "allow",
        changed: "/ws/a",
      },
      { type: "call_ended", call: "c", ok: true, result: "y", by: "inside" },
      { type: "turn_ended", turn: "t1", reason: "finished" },
    );
    const at = (second: number): string =>
      `2026-01-01 10:00:${String(second).padStart(2, "0")} UTC`;
    assert.equal(
      await whole(toRead(events)),
      [
        "# `A title`",
        "",
        `Session in \`/ws\`, begun ${at(0)} by version \`0.1.0\`.`,
        "",
        `## Turn 1, ${at(1)}`,
        "",
        "Model `m`. You asked:",
        "",
        "```text\nWrite it\n```",
        "",
        `### Answer, ${at(2)}, 10 tokens in, 5 out`,
        "",
        "```text\nI will.\n```",
        "",
        "It calls `write_file`, `write_file`, `read_file`.",
        "",
        "",
        "### Call `write_file` (`a`)",
        "",
        '```json\n{\n "path": "a",\n "content": "x\\n"\n}\n```',
        "",
        `- ${at(3)}: card \`card-a\` went up, to create \`/ws/a\`: 1 lines added, 0 removed, 2 bytes.`,
        "",
        "```diff\n@@ -0,0 +1 @@\n+x\n```",
        "",
        `- ${at(4)}: **you approved for this session** card \`card-a\` in Approvals.`,
        `- ${at(5)}: **it went through** by the answer of ${at(4)} in Approvals, on card \`card-a\` of turn 1.`,
        `- ${at(6)}: it succeeded; it changed \`/ws/a\`.`,
        "",
        "```text\nWritten.\n```",
        "",
        "",
        "### Call `write_file` (`b`)",
        "",
        '```json\n{\n "path": "a",\n "content": "y\\n"\n}\n```',
        "",
        `- ${at(7)}: **it went through** by the allow to change \`/ws/a\`, given at ${at(4)} in Approvals, on card \`card-a\` of turn 1.`,
        `- ${at(8)}: it succeeded; it changed \`/ws/a\`.`,
        "",
        "```text\nWritten.\n```",
        "",
        "",
        "### Call `read_file` (`c`)",
        "",
        '```json\n{\n "path": "a"\n}\n```',
        "",
        `- ${at(9)}: it succeeded, **let through** because it reads inside the folder.`,
        "",
        "```text\ny\n```",
        "",
        `### Turn 1 finished, ${at(10)}`,
        "",
        "",
      ].join("\n"),
    );
  });

  it("does not name an allow that was spent, taken back or never given on a card", async () => {
    const allow = { write: "/ws/a" };
    const through: EventBody = { type: "call_started", call: "z", by: "allow", allow };
    const given = [
      write("a", "/ws/a"),
      { type: "card_answered", card: "card-a", answer: "allow_session" },
    ] as const satisfies EventBody[];
    const last = async (...bodies: EventBody[]): Promise<string> =>
      (await whole(toRead(numbered(...start, ...bodies, through)))).trimEnd().split("\n").at(-1) ??
      "";
    const began = /by the allow to change `\/ws\/a`, with which the session began\.$/;
    assert.match(await last(), began);
    assert.match(await last(...given, { type: "card_spent", card: "card-a" }), began);
    assert.match(await last(...given, { type: "allow_revoked", allow }), began);
    assert.match(
      await last(...given),
      /given at 2026-01-01 10:00:03 UTC, on card `card-a` of turn 1/,
    );
    const later: EventBody = { type: "turn_started", turn: "t2", text: "Again", model: "m" };
    assert.match(await last(...given, later), /on card `card-a` of turn 1\.$/);
  });

  it("has every kind of event, and where the log is damaged", async () => {
    const file = { path: "/ws/a", before: null, after: "d" };
    const events = numbered(
      ...start,
      { type: "ask_queued", ask: "q", text: "later" },
      { type: "ask_withdrawn", ask: "q", text: "later" },
      {
        type: "card_raised",
        ...{ card: "k", call: "r", tool: "run", kind: "run", argv: ["a b", "c"], timeout: 3 },
        ...{ reasons: ["look"], replaces: "j" },
      },
      {
        type: "card_edited",
        card: "k",
        digest: "d",
        diff: "+e\n",
        added: 1,
        removed: 0,
        bytesAfter: 1,
      },
      { type: "card_answered", card: "k", answer: "deny", note: "no", surface: "lens" },
      { type: "card_spent", card: "k" },
      { type: "card_withdrawn", card: "k" },
      { type: "call_ended", call: "r", ok: false, result: "Denied." },
      { type: "question", question: "q", call: "x", text: "Which?", options: ["one"] },
      { type: "question_answered", question: "q", call: "x", text: "that" },
      { type: "hook_ended", argv: ["lint"], exit: 1, output: "bad" },
      { type: "result", text: "done" },
      {
        type: "undo_started",
        undo: "u",
        kind: "turn",
        of: "t1",
        files: [file],
        surface: "command",
      },
      { type: "undo_file", undo: "u", path: "/ws/a", outcome: "removed", trash: true },
      { type: "undo_ended", undo: "u", reason: "finished" },
      { type: "allow_revoked", allow: { run: ["a b"] } },
      { type: "turn_ended", turn: "t1", reason: "failed", message: "no disk" },
    );
    const damage = [
      { after: 2, reason: "5 bytes that are no event" },
      { after: events.length, reason: "torn" },
    ];
    const text = await whole(toRead(events, damage));
    for (const said of [
      "**A line of the log is damaged here**: `5 bytes that are no event`",
      "a message was queued.",
      "a queued message was taken back.",
      "card `k` went up, in the place of `j`, to run `a b` `c` for at most 3 s.",
      "Look twice: `look`",
      "you edited card `k`: 1 lines added, 0 removed.",
      "**you denied** card `k` in the diff editor.",
      "the answer was spent and nothing was done.",
      "card `k` was withdrawn without an answer.",
      "it failed, and nothing was done.",
      "it asked you:\n  - `one`",
      "you answered:",
      "Stop hook `lint`: exit code 1.",
      "the result:",
      "You took back the turn `t1` by a command:\n  - `/ws/a`",
      "`/ws/a` was removed, to the trash.",
      "the undo was finished.",
      "you took back the allow to run `a b`.",
      "### Turn 1 failed",
      "no disk",
      "**A line of the log is damaged here**: `torn`",
    ]) {
      assert.ok(text.includes(said), said);
    }
    assert.ok(text.indexOf("5 bytes") < text.indexOf("a message was queued"));
  });

  it("keeps every text of others in code that it cannot end, with nothing hidden in it", async () => {
    const nasty = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc
        .array(
          fc.constantFrom(
            "`",
            "```",
            "````\n",
            "\n",
            "# x",
            "- **you approved**",
            "\u202e",
            "\r",
            "~~~",
            "a",
            " ",
          ),
          { maxLength: 30 },
        )
        .map((parts) => parts.join("")),
    );
    await fc.assert(
      fc.asyncProperty(nasty, async (text) => {
        const events = numbered(
          { type: "session_started", schema: 1, workspace: text, version: text },
          { type: "turn_started", turn: "t", text, model: text },
          {
            type: "model_answered",
            text,
            reasoning: text,
            calls: [{ call: text, tool: text, args: null, invalid: text }],
          },
          {
            ...write(text, text),
            ...{ card: text, replaces: text, given: text, reasons: [text], diff: text },
          } as EventBody,
          { type: "card_answered", card: text, answer: "deny", note: text },
          { type: "call_started", call: text, by: "allow", allow: { run: [text] } },
          { type: "call_ended", call: text, ok: true, result: text, changed: text },
          { type: "question", question: text, call: text, text, options: [text] },
          { type: "hook_ended", argv: [text], exit: null, fault: text, output: text },
          { type: "undo_file", undo: text, path: text, outcome: "failed", message: text },
          { type: "turn_ended", turn: "t", reason: "failed", message: text },
        );
        const shown = await whole(toRead(events, [{ after: 1, reason: text }], text));
        const plain = await whole(
          toRead(numbered(...events.map((event) => calm(event))), [{ after: 1, reason: "a" }], "a"),
        );
        // The lines of the log's own are the same, whatever the texts of others are.
        const frame = (all: string): string[] =>
          outside(all).flatMap((line) => (line === "" ? [] : [line.replace(/(`+).*\1/gu, "`")]));
        assert.deepEqual(frame(shown), frame(plain));
        assert.doesNotMatch(shown, /[\u202a-\u202e\u2066-\u2069\r\0]/u);
      }),
      { numRuns: 150 },
    );
  });

  it(`shows ${LOG_TEXT_CHARS} characters of a text whole, and says what more there is; an export has it`, async () => {
    const result = (length: number) =>
      numbered(...start, { type: "call_ended", call: "c", ok: true, result: "y".repeat(length) });
    const most = await whole(toRead(result(LOG_TEXT_CHARS)));
    assert.doesNotMatch(most, /more characters/);
    const more = await whole(toRead(result(LOG_TEXT_CHARS + 1)));
    assert.match(more, /\*1 more characters are not shown here; an export has them\.\*/);
    const exported = Buffer.from(
      await exportMarkdown(toRead(result(LOG_TEXT_CHARS + 1))),
    ).toString();
    assert.ok(exported.includes("y".repeat(LOG_TEXT_CHARS + 1)));
    assert.doesNotMatch(exported, /more characters/);
  });

  it("goes on as the session does, at the cost of what is new", async () => {
    const events = numbered(...start);
    const view = new ReadableView(toRead(events), LOG_TEXT_CHARS, LOG_VIEW_CHARS);
    const before = await view.text();
    events.push(...numbered({ type: "result", text: "more" }));
    const after = await view.text();
    assert.ok(after.startsWith(before) && after.includes("more"));
    assert.equal(await whole(toRead(events)), after);
    assert.equal(await view.text(), after);
  });

  it("keeps the newest of a long one and says how much it leaves out, and does not hold the host", async () => {
    const bodies: EventBody[] = [];
    for (let index = 0; index < 50_000; index++) {
      const name = `c${index}`;
      const calls = [{ call: name, tool: "read_file", args: { path: "src/a.ts" } }];
      bodies.push({ type: "model_answered", text: "", calls });
      bodies.push({
        type: "call_ended",
        call: name,
        ok: true,
        result: "x".repeat(100),
        by: "inside",
      });
    }
    const session = toRead(numbered(...start, ...bodies));
    let text = "";
    const longest = await longestHold(async () => {
      text = await whole(session);
    });
    assert.ok(text.length <= LOG_VIEW_CHARS + 200 && text.length > LOG_VIEW_CHARS - 1_000);
    assert.match(
      text,
      /^# `A title`\n\n\*The first \d+ events are not shown here; an export has them\.\*\n/,
    );
    assert.ok(text.includes("(`c49999`)") && !text.includes("(`c0`)"));
    // 50 ms is the figure of the specification; a busy machine has its own pauses.
    assert.ok(longest < 150, `it held the host for ${longest} ms`);
  });
});

/** The same event with plain texts of others. */
function calm(event: SessionEvent): EventBody {
  const { seq: _seq, at: _at, ...body } = event;
  const keep = new Set(["type", "kind", "answer", "by", "outcome", "reason", "turn"]);
  const soften = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return keep.has(key) ? value : "a";
    if (Array.isArray(value)) return value.map((one) => soften(one, ""));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, soften(one, name)]),
    );
  };
  return soften(body, "") as EventBody;
}

describe("a piece of text", () => {
  it("is longer fenced than any fence within", () => {
    assert.equal(fence("a\n```\nb", 100), "````text\na\n```\nb\n````\n\n");
    assert.equal(fence("", 100), "```text\n\n```\n\n");
    assert.equal(code("a`b``c"), "``` a`b``c ```");
    assert.equal(code("a\nb\u202e"), "`a⟦LF⟧b⟦U+202E⟧`");
  });

  it("is not cut in the middle of a character", () => {
    assert.match(fence("a\u{1f600}", 2), /^```text\na\n```\n\n\*2 more characters/);
  });
});

describe("a session that the core reads", () => {
  let world: World;
  beforeEach(async () => {
    world = await makeWorld();
    await writeFile(join(world.workspace, "a.txt"), "one\n");
  });
  afterEach(() => world.dispose());

  it("reads the same while it is open and when it is not, and nothing is changed by it", async () => {
    const core = world.core({
      client: async () =>
        new ScriptedClient([calling(call("write_file", { path: "a.txt", content: "two\n" }))]),
    });
    const session = await core.newSession(world.workspace);
    session.onEvent((event) => {
      if (event.type === "card_raised") {
        void session.answerCard(event.card, "allow_once", { surface: "test" });
      }
    });
    await session.ask("Do it");
    await untilState(session, "idle");
    const open = await whole(await core.readSession(session.id));
    assert.match(open, /\*\*it went through\*\* by the answer of .* in a test, on card/);
    const length = session.events.length;
    await core.dispose();
    const other = world.core();
    const closed = await other.readSession(session.id);
    assert.equal(await whole(closed), open);
    assert.equal(closed.events.length, length);
    assert.equal((await other.verifyLog(session.id)).lines, length);
  });
});
