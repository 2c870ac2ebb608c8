/**
 * Every state that the two views can be in, as the message that puts a page into it: what the host
 * would send, so that each can be looked at, by eye and by axe, without a way to get there.
 */
import type { Delta, EventBody } from "../../../src/core/session/events.js";
import type { Approval, Status, ToPanel, ViewEvent } from "../../../src/webview/protocol.js";
import { AT_REST } from "../../support/status.js";

type Session = NonNullable<Status["session"]>;

const AT = "2026-03-04T05:06:07.000Z";

const SESSION: Session = {
  ...AT_REST,
  title: "Make the greeting polite, and say why it was not before",
  folder: "workspace",
  tokens: { input: 12_345, output: 678, cached: 9_000, estimated: false },
};

const STATUS: Status = {
  folders: 1,
  trusted: true,
  model: { label: "scripted", demo: false },
  session: SESSION,
};

/** Events with their numbers, as a log would have them. */
function log(...bodies: readonly EventBody[]): ViewEvent[] {
  return bodies.map((body, index) => ({ ...body, seq: index + 1, at: AT }));
}

function snapshot(
  events: ViewEvent[],
  session: Partial<Session> | null,
  rest: Partial<Status> & {
    readonly earlier?: number;
    readonly retry?: boolean;
    readonly deltas?: readonly Delta[];
  } = {},
): ToPanel {
  const { earlier = 0, retry, deltas = [], ...status } = rest;
  return {
    type: "snapshot",
    texts: {},
    drafts: {},
    status: { ...STATUS, ...status, session: session === null ? null : { ...SESSION, ...session } },
    events,
    earlier,
    deltas:
      retry === true
        ? [
            {
              type: "retry",
              attempt: 2,
              at: new Date(Date.now() + 120_000).toISOString(),
              reason: "http://127.0.0.1:1234/v1 has too much to do (status 429).",
            },
          ]
        : [...deltas],
  };
}

const asked: EventBody = { type: "turn_started", turn: "t", text: "Make it polite", model: "m" };
const said = (text: string, ...calls: [string, Record<string, unknown>][]): EventBody => ({
  type: "model_answered",
  turn: "t",
  text,
  reasoning: "It says hello. A good day would be more polite.",
  calls: calls.map(([tool, args], index) => ({ call: `c${index}`, tool, args })),
});
const ended = (call: string, result: string, ok = true): EventBody & { type: "call_ended" } => ({
  type: "call_ended",
  turn: "t",
  call,
  ok,
  result,
  by: "user",
});
const over = (
  reason: "finished" | "cancelled" | "failed" | "interrupted" | "limit",
  message?: string,
): EventBody => ({
  type: "turn_ended",
  turn: "t",
  reason,
  ...(message === undefined ? {} : { message }),
});

const DIFF = `@@ -1,4 +1,4 @@
 export function greet(name) {
-  return 'Hello ' + name;
+  return 'Good day, ' + name;
 }
 // A line that is so long that it does not fit into a narrow panel and has to be broken somewhere.
`;
const write: EventBody & { type: "card_raised" } = {
  type: "card_raised",
  turn: "t",
  card: "w",
  call: "c0",
  tool: "search_replace",
  kind: "write",
  path: "/home/a/workspace/src/greeting.js",
  relative: "src/greeting.js",
  digest: "d",
  diff: DIFF,
  added: 1,
  removed: 1,
  bytesBefore: 96,
  bytesAfter: 99,
};
const long: EventBody & { type: "card_raised" } = {
  ...write,
  card: "l",
  digest: null,
  relative: "src/a/very/long/way/down/to/a/file/with/a/name/that/is/long-as-well.generated.ts",
  diff: `@@ -0,0 +1,40 @@\n${"+const line = 1;\n".repeat(40)}`,
  added: 40,
  removed: 0,
  bytesBefore: null,
  bytesAfter: 640,
};
const outside: EventBody & { type: "card_raised" } = {
  type: "card_raised",
  turn: "t",
  card: "r",
  call: "c0",
  tool: "read_file",
  kind: "read",
  path: "/etc/hosts",
  given: "../../../etc/hosts",
  reasons: ["It is outside the workspace."],
};
const command: EventBody & { type: "card_raised" } = {
  type: "card_raised",
  turn: "t",
  card: "x",
  call: "c0",
  tool: "run",
  kind: "run",
  argv: ["sh", "-c", "rm -rf build && echo 'all gone'", ""],
  timeout: 300,
  reasons: ["A shell runs what it is given."],
};

const edited: EventBody & { type: "card_edited" } = {
  type: "card_edited",
  turn: "t",
  card: "w",
  digest: "e",
  edited: "x",
  diff: DIFF.replace("Good day", "Good evening"),
  added: 1,
  removed: 1,
  bytesAfter: 103,
};

const UNDONE = ["src/greeting.js", "src/new.js"].map((relative) => ({
  path: `/home/a/workspace/${relative}`,
  relative,
  before: null,
  after: null,
}));

const card = (raised: EventBody & { type: "card_raised" }, session: Partial<Session> = {}) =>
  snapshot(
    log(asked, said("I change it.", [raised.tool, { path: raised.relative ?? "" }]), raised),
    { state: "waiting", cards: [raised.card], ...session },
  );

const TEXT = `## What I found

The greeting says **hello**, see [greeting.js](src/greeting.js:2). It is *short*:

1. it greets,
2. with \`name\`.

> Nobody asked for more.

| who | how |
| --- | --- |
| a | b |

\`\`\`ts
// A comment
const greet = (name: string): string => "Hello " + name;
\`\`\`
`;

/** States of the chat, by name. */
export const chatStates: Readonly<Record<string, ToPanel>> = {
  "no folder": snapshot([], null, { folders: 0 }),
  "no model": snapshot([], null, { model: null }),
  first: snapshot([], null),
  demo: snapshot([], null, { model: { label: "Demo", demo: true } }),
  untrusted: snapshot([], null, { trusted: false }),
  running: snapshot(log(asked, said(TEXT)), {
    state: "running",
    since: new Date(Date.now() - 65_000).toISOString(),
    queue: [
      { ask: "1", text: "Then the same for the farewell" },
      {
        ask: "2",
        text: "And in the tests, in every one of them, where there is a greeting at all",
      },
    ],
  }),
  retry: snapshot(
    log(asked),
    { state: "running", since: new Date(Date.now() - 65_000).toISOString() },
    { retry: true },
  ),
  "card write": card(write),
  "card create": card(long, { allows: 2 }),
  "card read": card(outside),
  "card run": card(command),
  "card elsewhere": card(write, {
    readOnly:
      "VS Code with /home/a/workspace (process 12) has this session open; here it is read-only.",
  }),
  "card edited": snapshot(
    log(
      asked,
      said("I change it.", ["search_replace", { path: "src/greeting.js" }]),
      write,
      edited,
    ),
    { state: "waiting", cards: ["w"] },
    {
      deltas: [
        { type: "card_changed", card: "w", unsaved: false },
        {
          type: "card_others",
          card: "w",
          others: [{ session: "o", title: "Another session", card: "z" }],
        },
      ],
    },
  ),
  "a command runs": snapshot(
    log(asked, said("", ["run", { argv: ["npm", "test"] }]), command, {
      type: "card_answered",
      turn: "t",
      card: "x",
      answer: "allow_session",
      surface: "approvals",
    }),
    { state: "running", since: new Date(Date.now() - 5_000).toISOString() },
    {
      deltas: [
        { type: "call_running", call: "c0" },
        {
          type: "output",
          call: "c0",
          stream: "stdout",
          text: "\u001b[32m  ✔ greets politely\u001b[0m\n\u001b[31m  1) says farewell\u001b[0m\n",
        },
        {
          type: "output",
          call: "c0",
          stream: "stderr",
          text: "\u001b[1mAssertionError\u001b[0m\n",
        },
      ],
    },
  ),
  undone: snapshot(
    log(
      asked,
      said("", ["search_replace", { path: "src/greeting.js" }]),
      write,
      { type: "card_answered", turn: "t", card: "w", answer: "allow_once", surface: "title" },
      { ...ended("c0", "Replaced."), changed: "/home/a/workspace/src/greeting.js" },
      { type: "result", turn: "t", text: "Done." },
      over("finished"),
      { type: "undo_started", undo: "u", kind: "turn", of: "t", files: UNDONE },
      {
        type: "undo_file",
        undo: "u",
        path: "/home/a/workspace/src/greeting.js",
        outcome: "restored",
      },
      {
        type: "undo_file",
        undo: "u",
        path: "/home/a/workspace/src/new.js",
        outcome: "failed",
        message: "It is not what was left of it.",
      },
      { type: "undo_ended", undo: "u", reason: "finished" },
    ),
    {},
  ),
  question: snapshot(
    log(asked, said("", ["ask", { question: "Which?" }]), {
      type: "question",
      turn: "t",
      question: "q",
      call: "c0",
      text: "Which of the greetings shall it be?",
      options: ["Good day", "Good evening", "One that depends on the time of the day"],
    }),
    { state: "waiting", question: "q" },
  ),
  finished: snapshot(
    log(
      asked,
      said("I look.", ["read_file", { path: "src/greeting.js" }], ["grep", { pattern: "Hello" }]),
      ended("c0", "export function greet"),
      ended("c1", "src/greeting.js:2"),
      said("", ["search_replace", { path: "src/greeting.js" }]),
      write,
      { type: "card_answered", turn: "t", card: "w", answer: "allow_once", surface: "lens" },
      ended("c0", "Replaced."),
      said("", ["run", { argv: ["npm", "test"] }]),
      { ...command, card: "y" },
      {
        type: "card_answered",
        turn: "t",
        card: "y",
        answer: "deny",
        note: "not now",
        surface: "chat",
      },
      ended("c0", "Denied: not now", false),
      { type: "hook_ended", turn: "t", argv: ["npm", "test"], exit: 1, output: "1 failed" },
      { type: "allow_revoked", allow: { run: ["npm", "test"] } },
      { type: "result", turn: "t", text: "The greeting is **polite** now." },
      over("finished"),
    ),
    { allows: 1 },
    { earlier: 2_000 },
  ),
  failed: snapshot(
    log(asked, over("failed", "The server did not accept the key (status 401). Set another key.")),
    {},
  ),
  limit: snapshot(log(asked, over("limit")), {}),
  cancelled: snapshot(log(asked, over("cancelled")), { queue: [{ ask: "1", text: "Then this" }] }),
  interrupted: snapshot(log(asked, said("I begin")), { state: "interrupted" }),
  trouble: snapshot(log(asked, said("I begin")), {
    state: "running",
    since: AT,
    trouble: "The last event could not be saved (no space left on device). Make room.",
    damage: [{ after: 3, reason: "the line is no JSON" }],
  }),
};

const approval = (
  raised: EventBody & { type: "card_raised" },
  more: Partial<Approval> = {},
): Approval => ({
  session: "s",
  title: SESSION.title,
  event: { ...raised, seq: 1, at: AT },
  changed: false,
  unsaved: false,
  others: [],
  ...more,
});

/** States of Approvals, by name. */
export const approvalStates: Readonly<Record<string, ToPanel>> = {
  none: { type: "approvals", texts: {}, cards: [] },
  several: {
    type: "approvals",
    texts: {},
    cards: [
      approval(write, {
        changed: true,
        others: [{ session: "o", title: "Another session", card: "z" }],
      }),
      approval({ ...write, card: "e" }, { edit: { ...edited, card: "e" } }),
      approval({ ...write, card: "n" }, { edit: { ...edited, card: "n", diff: "" } }),
      approval(long, { unsaved: true }),
      approval(outside),
      approval(command),
    ],
  },
};
