import assert from "node:assert/strict";
import { createClient } from "../../../src/core/model/index.js";
import { EventReader, EventTooLong, type StreamEvent } from "../../../src/core/model/sse.js";
import {
  bodyStart,
  type Play,
  playRecordings,
  recording,
  recordingNames,
} from "../../support/recordings.js";
import { ask } from "./ask.js";

/** Events of a body that comes in these pieces. */
function read(...pieces: Uint8Array[]): StreamEvent[] {
  const reader = new EventReader();
  return [...pieces.flatMap((piece) => reader.push(piece).events), ...reader.end()];
}

/** `bytes` cut in two at every `step`-th place of the body, one request each; all answers. */
async function answersOfCuts(
  bytes: Buffer,
  provider: "openai" | "anthropic",
  step: number,
): Promise<Set<string>> {
  const cuts: number[] = [];
  for (let cut = bodyStart(bytes); cut < bytes.length; cut += step) cuts.push(cut);
  const play = (n: number): Play => {
    const cut = cuts[n] ?? 0;
    return { pieces: [bytes.subarray(0, cut), bytes.subarray(cut)] };
  };
  const player = await playRecordings(play);
  try {
    const baseUrl = provider === "openai" ? player.url : player.origin;
    const client = createClient({ provider, baseUrl, model: "recorded" });
    const answers = new Set<string>();
    for (const _ of cuts) {
      const { answer, error } = await ask(client);
      assert.equal(error, undefined);
      answers.add(JSON.stringify(answer));
    }
    assert.equal(player.requests.length, cuts.length);
    return answers;
  } finally {
    await player.close();
  }
}

describe("the framing of a stream", () => {
  it("is the same wherever packets cut it, for every recording", () => {
    let cuts = 0;
    for (const name of recordingNames()) {
      const bytes = recording(name);
      const body = bytes.subarray(bodyStart(bytes));
      const whole = read(body);
      for (let cut = 0; cut <= body.length; cut++) {
        const got = read(body.subarray(0, cut), body.subarray(cut));
        if (JSON.stringify(got) !== JSON.stringify(whole)) {
          assert.deepEqual(got, whole, `${name} cut at ${cut}`);
        }
        cuts += 1;
      }
    }
    assert.ok(cuts > 30_000, `${cuts} cuts`);
  });

  it("is the same one byte at a time", () => {
    for (const name of recordingNames()) {
      const bytes = recording(name);
      const body = bytes.subarray(bodyStart(bytes));
      assert.deepEqual(read(...Array.from(body, (byte) => Uint8Array.of(byte))), read(body), name);
    }
  });

  it("gives one answer over HTTP for a stream with CRLF, comments and an emoji cut at every byte", async function () {
    this.timeout(60_000);
    assert.equal((await answersOfCuts(recording("openai/crlf"), "openai", 1)).size, 1);
  });

  it("gives one answer over HTTP for a messages stream cut at every seventh byte", async function () {
    this.timeout(60_000);
    assert.equal((await answersOfCuts(recording("anthropic/one-call"), "anthropic", 7)).size, 1);
  });

  it("knows an event of several data lines, fields it does not need, and names", () => {
    assert.deepEqual(
      read(
        Buffer.from(
          "id: 7\nretry: 10\nevent: ping\ndata: a\ndata:b\ndata\n\nevent: lost\n\ndata: c\n\n",
        ),
      ),
      [
        { event: "ping", data: "a\nb\n" },
        { event: undefined, data: "c" },
      ],
    );
  });

  it("takes a long line at a cost of its length", () => {
    const line = Buffer.from(`data: ${"x".repeat(64 * 1024)}`);
    const reader = new EventReader();
    const started = performance.now();
    for (const byte of line) reader.push(Uint8Array.of(byte));
    const events = reader.push(Buffer.from("\n\n")).events;
    assert.equal(events[0]?.data.length, 64 * 1024);
    assert.ok(performance.now() - started < 2_000);
  });

  it("does not fill the memory with a line that never ends", () => {
    const reader = new EventReader();
    const piece = Buffer.alloc(1024 * 1024, "x");
    for (let n = 0; n < 32; n++) reader.push(piece);
    assert.throws(() => reader.push(Buffer.from("x")), EventTooLong);
  });
});
