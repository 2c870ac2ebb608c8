import assert from "node:assert/strict";
import type { Message } from "../../../src/core/model/chatClient.js";
import type { EventBody, SessionEvent } from "../../../src/core/session/events.js";
import { messageBudget, Shortener } from "../../../src/core/turn/context.js";
import { transcript } from "../../../src/core/turn/transcript.js";
import { assertValid } from "./valid.js";

/** `count` reads of `size` bytes each. */
function reads(count: number, size: number): Message[] {
  const messages: Message[] = [{ role: "user", text: "Read all of it." }];
  for (let index = 0; index < count; index++) {
    const call = `c${index}`;
    const args = { path: `f${index}` };
    messages.push({ role: "assistant", text: "", calls: [{ call, tool: "read_file", args }] });
    messages.push({ role: "tool", call, ok: true, text: String(index % 10).repeat(size) });
  }
  return messages;
}

function size(messages: readonly Message[]): number {
  return Buffer.byteLength(JSON.stringify(messages));
}

/** What is sent where there was no request before. */
function shorten(messages: readonly Message[], budget: number): Promise<readonly Message[]> {
  return new Shortener().shorten(messages, budget);
}

describe("the context", () => {
  it("is sent as it is while it fits", async () => {
    const messages = reads(5, 1000);
    assert.deepEqual(await shorten(messages, 10_000), messages);
  });

  it("is shortened from its oldest result on, which says how to get it again", async () => {
    const messages = reads(10, 5000);
    const sent = await shorten(messages, 30_000);
    assert.equal(sent.length, messages.length);
    const first = sent[2];
    assert.ok(first?.role === "tool");
    assert.match(
      first.text,
      /result \(5000 bytes\) of read_file \{"path":"f0"\}.*make the call again/,
    );
    assert.deepEqual(sent.at(-1), messages.at(-1));
    assertValid({ system: "", tools: [], messages: sent });
  });

  it("grows at its end alone from request to request, but for where room is made", async () => {
    const all = reads(60, 4000);
    let before: readonly Message[] = [];
    let rooms = 0;
    for (let end = 1; end <= all.length; end += 2) {
      const sent = await shorten(all.slice(0, end), 60_000);
      if (JSON.stringify(sent.slice(0, before.length)) !== JSON.stringify(before)) rooms++;
      assert.ok(size(sent) < 75_000);
      before = sent;
    }
    assert.ok(rooms > 2 && rooms < 10, `room was made ${rooms} times`);
  });

  it("loses long arguments of old calls where the results are not enough", async () => {
    const messages: Message[] = [{ role: "user", text: "Write." }];
    for (let index = 0; index < 5; index++) {
      const args = { path: `f${index}`, content: "x".repeat(20_000) };
      messages.push({
        role: "assistant",
        text: "",
        calls: [{ call: `c${index}`, tool: "write_file", args }],
      });
      messages.push({ role: "tool", call: `c${index}`, ok: true, text: "Created." });
    }
    const sent = await shorten(messages, 50_000);
    assert.ok(size(sent) <= 50_000);
    const first = sent[1];
    assert.ok(first?.role === "assistant");
    assert.equal(first.calls[0]?.args?.path, "f0");
    assert.match(String(first.calls[0]?.args?.content), /Left out to save space: 20000 bytes/);
    assertValid({ system: "", tools: [], messages: sent });
  });

  it("keeps the last ask whole, whatever its length", async () => {
    const messages: Message[] = [...reads(3, 5000)];
    messages.push({ role: "assistant", text: "Read.", calls: [] });
    messages.push({ role: "user", text: "y".repeat(50_000) });
    assert.deepEqual((await shorten(messages, 1000)).at(-1), messages.at(-1));
  });

  /** `asks` turns of `steps` small calls each. */
  const small = (asks: number, steps: number): Message[] =>
    Array.from({ length: asks }, (_, turn): Message[] => [
      { role: "user", text: `Ask ${turn}.` },
      ...Array.from({ length: steps }, (_, step): Message[] => {
        const name = `c${turn}-${step}`;
        return [
          { role: "assistant", text: "", calls: [{ call: name, tool: "list_dir", args: {} }] },
          { role: "tool", call: name, ok: true, text: "x".repeat(100) },
        ];
      }).flat(),
      { role: "assistant", text: "Done.", calls: [] },
    ]).flat();

  it("leaves the oldest messages out where nothing in them is long, and says so", async () => {
    const messages = [...small(40, 10), { role: "user", text: "And now?" } as const];
    const sent = await shorten(messages, 20_000);
    assert.ok(size(sent) < 25_000);
    const [first, second] = sent;
    assert.ok(first?.role === "user" && second?.role === "assistant");
    const left = messages.length - sent.length;
    const said = `[Left out to save space: ${left} earlier messages of this session. Look at the files for what was done.]`;
    const [note, ask] = first.text.split("\n\n");
    assert.equal(note, said);
    const next = sent.find((message, index) => index > 0 && message.role === "user");
    assert.ok(next?.role === "user");
    assert.equal(ask, `Ask ${Number(/\d+/.exec(next.text)?.[0]) - 1}.`);
    assert.deepEqual(sent.slice(1), messages.slice(messages.length - sent.length + 1));
    assertValid({ system: "", tools: [], messages: sent });
  });

  it("keeps the ask of a turn that is itself too long, and its last step", async () => {
    const messages = small(1, 500).slice(0, -1);
    for (const budget of [10_000, 300]) {
      const sent = await shorten(messages, budget);
      assert.ok(sent.length < messages.length);
      const [first] = sent;
      assert.ok(first?.role === "user");
      assert.match(first.text, /^\[Left out to save space: \d+ earlier messages.*\]\n\nAsk 0\.$/);
      assert.deepEqual(sent.slice(-2), messages.slice(-2));
      assertValid({ system: "", tools: [], messages: sent });
    }
  });

  it("grows at its end alone also where messages are left out", async () => {
    const all = small(30, 20);
    let before: readonly Message[] = [];
    let rooms = 0;
    for (let end = 1; end < all.length; end++) {
      if (all[end]?.role !== "assistant") continue;
      const sent = await shorten(all.slice(0, end), 20_000);
      if (JSON.stringify(sent.slice(0, before.length)) !== JSON.stringify(before)) rooms++;
      assert.ok(size(sent) < 27_000);
      before = sent;
    }
    assert.ok(rooms > 2 && rooms < 25, `room was made ${rooms} times`);
  });

  it("is the same where one request goes on from the one before, and where the budget changes", async () => {
    const all = [
      ...reads(30, 3000),
      { role: "assistant", text: "Read.", calls: [] } as const,
    ].concat(small(20, 10));
    const shortener = new Shortener();
    for (let end = 1; end <= all.length; end++) {
      if (end < all.length && all[end]?.role !== "assistant") continue;
      const budget = end < 100 || end > 200 ? 20_000 : 8_000;
      const messages = all.slice(0, end);
      assert.deepEqual(await shortener.shorten(messages, budget), await shorten(messages, budget));
    }
  });

  it("does not hold the event loop, however long the transcript is", async () => {
    const all = small(2_000, 10);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await new Shortener().shorten(all, 300_000);
    clearImmediate(next);
    assert.ok(turns > 50, `${turns} turns of the event loop`);
  });

  it("of 100,000 messages is made in time that grows with their number alone", async () => {
    const [some, many] = [small(500, 10), small(5_000, 10)];
    const timeOf = async (messages: readonly Message[]): Promise<number> => {
      const began = process.cpuUsage().user;
      await shorten(messages, 300_000);
      return process.cpuUsage(undefined).user - began;
    };
    await timeOf(some);
    const [few, all] = [await timeOf(small(500, 10)), await timeOf(many)];
    // Ten times as many; quadratic it would be a hundred times as long, and minutes.
    assert.ok(all < few * 50 + 500_000, `${few} and ${all} µs`);
  });

  it("leaves room for the answer, the prompt and the tools", async () => {
    const tool = { name: "t", description: "d".repeat(300), parameters: {} };
    const bytes = messageBudget(100_000, "s".repeat(3000), [tool]);
    assert.ok(bytes < (100_000 - 8_192 - 1_000 - 100) * 3 && bytes > 270_000);
    assert.equal(messageBudget(0, "", []), 0);
  });
});

describe("the transcript", () => {
  let seq = 0;
  const events = (...bodies: EventBody[]): SessionEvent[] =>
    bodies.map((body) => ({ ...body, seq: ++seq, at: "2026-01-01T00:00:00.000Z" }));
  const started = (text: string): EventBody => ({ type: "turn_started", text, model: "m" });
  const answered = (text: string, ...calls: string[]): EventBody => ({
    type: "model_answered",
    text,
    calls: calls.map((call) => ({ call, tool: "list_dir", args: {} })),
  });
  const ended = (call: string, result: string): EventBody => ({
    type: "call_ended",
    call,
    ok: true,
    result,
  });

  it("puts each result in the order of its call, whenever it came", () => {
    const made = transcript(
      events(started("go"), answered("", "a", "b"), ended("b", "B"), ended("a", "A")),
    );
    assert.deepEqual(
      made.map((message) => message.role === "tool" && message.text),
      [false, false, "A", "B"],
    );
  });

  it("has one result for each call of a damaged log, and none without a call", () => {
    const messages = transcript(
      events(
        started("go"),
        answered("", "a", "b"),
        ended("a", "first"),
        ended("a", "second"),
        ended("lost", "x"),
        started("more"),
      ),
    );
    assertValid({ system: "", tools: [], messages });
    const told = messages.filter((message) => message.role === "tool").map(({ text }) => text);
    assert.equal(told[0], "first");
    assert.match(told[1] ?? "", /^interrupted/);
    assert.equal(told.length, 2);
  });

  it("has no empty text, and says where there was no output", () => {
    const messages = transcript(
      events(started("go"), answered(" "), started("again"), answered("", "a"), ended("a", "")),
    );
    assertValid({ system: "", tools: [], messages });
    assert.deepEqual(messages.at(-1), { role: "tool", call: "a", ok: true, text: "(no output)" });
  });

  it("keeps what a provider wants to see again", () => {
    const extra = { provider: "p", data: { thinking: ["x"] } };
    const body: EventBody = { type: "model_answered", text: "t", calls: [], extra };
    assert.deepEqual(transcript(events(started("go"), body)).at(-1), {
      role: "assistant",
      text: "t",
      calls: [],
      extra,
    });
  });
});
