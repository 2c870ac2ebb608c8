import assert from "node:assert/strict";
import type { Message } from "../../../src/core/model/chatClient.js";
import type { EventBody, SessionEvent } from "../../../src/core/session/events.js";
import { messageBudget, shorten } from "../../../src/core/turn/context.js";
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

describe("the context", () => {
  it("is sent as it is while it fits", () => {
    const messages = reads(5, 1000);
    assert.deepEqual(shorten(messages, 10_000), messages);
  });

  it("is shortened from its oldest result on, which says how to get it again", () => {
    const messages = reads(10, 5000);
    const sent = shorten(messages, 30_000);
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

  it("grows at its end alone from request to request, but for where room is made", () => {
    const all = reads(60, 4000);
    let before: readonly Message[] = [];
    let rooms = 0;
    for (let end = 1; end <= all.length; end += 2) {
      const sent = shorten(all.slice(0, end), 60_000);
      if (JSON.stringify(sent.slice(0, before.length)) !== JSON.stringify(before)) rooms++;
      assert.ok(size(sent) < 75_000);
      before = sent;
    }
    assert.ok(rooms > 2 && rooms < 10, `room was made ${rooms} times`);
  });

  it("loses long arguments of old calls where the results are not enough", () => {
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
    const sent = shorten(messages, 50_000);
    assert.ok(size(sent) <= 50_000);
    const first = sent[1];
    assert.ok(first?.role === "assistant");
    assert.equal(first.calls[0]?.args?.path, "f0");
    assert.match(String(first.calls[0]?.args?.content), /Left out to save space: 20000 bytes/);
    assertValid({ system: "", tools: [], messages: sent });
  });

  it("keeps the last ask whole, whatever its length", () => {
    const messages: Message[] = [...reads(3, 5000)];
    messages.push({ role: "assistant", text: "Read.", calls: [] });
    messages.push({ role: "user", text: "y".repeat(50_000) });
    assert.deepEqual(shorten(messages, 1000).at(-1), messages.at(-1));
  });

  it("leaves room for the answer, the prompt and the tools", () => {
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
