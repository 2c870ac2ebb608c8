import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ChatAnswer, ChatRequest } from "../../../src/core/model/chatClient.js";
import type { SessionEvent } from "../../../src/core/session/events.js";
import { SessionLog } from "../../../src/core/session/log.js";
import { newSessionId } from "../../../src/core/session/store.js";
import { verifySession } from "../../../src/core/session/verify.js";
import type { Core, LiveSession } from "../../../src/core/turn/live.js";
import { transcript } from "../../../src/core/turn/transcript.js";
import { eventOfLine } from "../../support/logLine.js";
import {
  askAndWait,
  call,
  calling,
  eventOf,
  makeWorld,
  ScriptedClient,
  untilState,
  type World,
} from "./support.js";
import { assertValid } from "./valid.js";

/** With it every prefix is also driven to the turn's end; without it, those around each line's ends. */
const ALL = process.env.COUNTERSIGN_TEST_EVERY_BYTE !== undefined;
const surface = "test" as const;

/** A turn with every kind of call; which answer comes next follows from the request alone. */
function script(outside: string): Partial<ChatAnswer>[] {
  return [
    {
      text: "I look first.",
      calls: [
        call("list_dir", {}, "l"),
        call("read_file", { path: outside }, "o"),
        call("read_file", { path: "none" }, "n"),
      ],
    },
    calling(
      call("search_replace", { path: "a", old: "one", new: "two" }, "w"),
      call("run", { argv: ["sh", "-c", "echo x >> ran"] }, "r"),
      call("write_file", { path: "b", content: "b\u2028" }, "d"),
    ),
    calling(
      call("ask", { question: "Which?" }, "q"),
      call("run", { argv: ["sh", "-c", "echo y >> ran"] }, "s"),
      call("use_skill", { name: "none" }, "u"),
    ),
    calling(call("finish", { result: "done" }, "f")),
  ];
}

function answersIn(request: ChatRequest): number {
  return request.messages.filter((message) => message.role === "assistant").length;
}

class Model extends ScriptedClient {
  constructor(private readonly answers: readonly Partial<ChatAnswer>[]) {
    super();
  }
  override async send(request: ChatRequest): Promise<ChatAnswer> {
    assertValid(request);
    this.requests.push(request);
    const answer = this.answers[answersIn(request)] ?? { text: "Nothing is left." };
    return { text: "", calls: [], stop: "end", ...answer };
  }
}

/** Says yes to every card but the one for `b`, and answers every question, once each. */
function person(session: LiveSession): void {
  const act = (event: SessionEvent): void => {
    if (event.type === "card_raised") {
      const answer = event.relative === "b" ? "deny" : "allow_once";
      void session.answerCard(event.card, answer, { surface });
    }
    if (event.type === "question") void session.answerQuestion(event.question, "this");
  };
  session.onEvent(act);
  for (const open of session.openCards) act(open.event);
  const question = session.openQuestion;
  if (question !== undefined) void session.answerQuestion(question.question, "this");
}

/** The events whose every byte is there, or all but the newline. */
function wholeEvents(bytes: Buffer): SessionEvent[] {
  return bytes
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [eventOfLine(line)];
      } catch {
        return [];
      }
    });
}

function started(events: readonly SessionEvent[], name: string): number {
  return events.filter((event) => event.type === "call_started" && event.call === name).length;
}

describe("a session whose host was stopped at any byte", () => {
  let world: World;
  let core: Core;
  let log: Buffer;
  let model: Model;

  before(async function () {
    this.timeout(60_000);
    // In memory where there is such a disk: thousands of sessions are opened.
    world = await makeWorld([], existsSync("/dev/shm") ? "/dev/shm" : undefined);
    const outside = join(world.home, "..", "outside");
    await writeFile(outside, "outside\n");
    model = new Model(script(outside));
    core = world.core({ client: async () => model });
    await freshWorkspace([]);
    const session = await core.newSession(world.workspace);
    person(session);
    await askAndWait(session, "Do it\u2028all");
    log = await readFile(join(world.home, "sessions", session.id, "log.jsonl"));
    await session.close();
    assert.equal(await readFile(join(world.workspace, "ran"), "utf8"), "x\ny\n");
  });
  after(() => world.dispose());

  /** The workspace as the calls that had begun have left it. */
  async function freshWorkspace(events: readonly SessionEvent[]): Promise<void> {
    const path = (name: string): string => join(world.workspace, name);
    await rm(world.workspace, { recursive: true, force: true });
    await mkdir(world.workspace);
    await writeFile(path("a"), started(events, "w") > 0 ? "two\n" : "one\n");
    if (started(events, "r") > 0) await writeFile(path("ran"), "x\n");
    if (started(events, "s") > 0) await writeFile(path("ran"), "x\ny\n");
  }

  async function makePrefix(length: number): Promise<string> {
    const directory = join(world.home, "sessions", newSessionId());
    await mkdir(directory);
    await writeFile(join(directory, "log.jsonl"), log.subarray(0, length));
    return directory;
  }

  /** What has to hold as soon as a prefix is open. */
  async function check(session: LiveSession, length: number): Promise<void> {
    const kept = wholeEvents(log.subarray(0, length));
    assert.deepEqual(
      session.events.slice(0, kept.length),
      kept,
      "no event that was whole is lost, and none is rewritten",
    );
    await assertTorn(join(world.home, "sessions", session.id), length);
    const open = kept.filter(
      (event) =>
        event.type === "card_raised" &&
        !kept.some((other) => other.type === "card_answered" && other.card === event.card),
    );
    if (open.length > 0) {
      assert.equal(session.state, "waiting");
      const [card] = session.openCards;
      assert.equal(card?.event.replaces, open[0]?.type === "card_raised" ? open[0].card : "");
    }
    assert.notEqual(session.state, "running");
  }

  /** The session on disk alone, without anyone who goes on with it. */
  async function openRecord(length: number): Promise<void> {
    const directory = await makePrefix(length);
    const { read, log: opened } = await SessionLog.open(join(directory, "log.jsonl"));
    await opened?.close();
    assert.deepEqual(read.events, wholeEvents(log.subarray(0, length)));
    await assertTorn(directory, length);
    const messages = transcript(read.events);
    // With a result for what has none yet the next request is valid.
    if (messages.length > 0 && messages.at(-1)?.role !== "assistant") {
      assertValid({ system: "", tools: [], messages });
    }
    await rm(directory, { recursive: true });
  }

  async function assertTorn(directory: string, length: number): Promise<void> {
    const tail = log.subarray(log.lastIndexOf("\n", length - 1) + 1, length);
    if (tail.length === 0 || wholeEvents(tail).length > 0) return;
    const torn = await readFile(join(directory, "log.torn"));
    assert.deepEqual(torn, Buffer.concat([tail, Buffer.from("\n")]));
  }

  async function drive(length: number): Promise<void> {
    await freshWorkspace(wholeEvents(log.subarray(0, length)));
    const directory = await makePrefix(length);
    const session = await core.openSession(basename(directory));
    try {
      await check(session, length);
      await finish(session, length);
      // The chain goes on over what a stop left, torn line or not.
      assert.deepEqual((await verifySession(directory)).faults, []);
    } finally {
      await session.close();
      await rm(directory, { recursive: true });
    }
  }

  async function finish(session: LiveSession, length: number): Promise<void> {
    const before = wholeEvents(log.subarray(0, length));
    if (!before.some((event) => event.type === "turn_started")) {
      assert.equal(session.state, "idle");
      return;
    }
    person(session);
    if (session.state === "interrupted") await session.goOn();
    await untilState(session, "idle");
    const ended = await eventOf(session, "turn_ended");
    assert.equal(ended.reason, "finished");
    assert.equal(await readFile(join(world.workspace, "a"), "utf8"), "two\n");
    assert.equal(await readFile(join(world.workspace, "ran"), "utf8"), "x\ny\n");
    assert.ok(!existsSync(join(world.workspace, "b")), "what was denied is not there");
    for (const name of ["o", "w", "r", "s"]) {
      assert.equal(started(session.events, name), 1, `${name} began once`);
    }
    const ends = session.events.filter((event) => event.type === "call_ended");
    assert.equal(new Set(ends.map((event) => event.call)).size, ends.length);
    assert.deepEqual(
      ends.map((event) => event.call),
      ["l", "o", "n", "w", "r", "d", "q", "s", "u", "f"],
    );
  }

  it("opens with all that was whole, its card up again, and finishes without doing a thing twice", async function () {
    // All of them take an hour.
    this.timeout(ALL ? 0 : 600_000);
    const first = log.indexOf("\n");
    let line = first;
    let driven = 0;
    for (let length = first; length <= log.length; length++) {
      if (log[length - 1] === 10) line = length;
      const next = log.indexOf("\n", line);
      const near = length - line <= 1 || next - length <= 1 || length === (line + next) >> 1;
      try {
        await (ALL || near ? drive(length) : openRecord(length));
        if (near) driven++;
      } catch (error) {
        const cut = `${length} of ${log.length} bytes: ${log.subarray(line, length)}`;
        throw new Error(`the log cut after ${cut}`, { cause: error });
      }
    }
    assert.ok(driven > 100);
    assert.deepEqual(world.reports, []);
  });
});
