import assert from "node:assert/strict";
import { appendFile, mkdir, readFile, stat, truncate } from "node:fs/promises";
import { LOG_OPEN_BYTES } from "../../../src/core/limits.js";
import { LogError, SessionLog } from "../../../src/core/session/log.js";
import { asks, makePlace, type Place } from "./support.js";

/** A limit that is reached at once; that of a session differs in its number alone. */
const LIMIT = 2 * 1024 * 1024;

describe("the longest log", () => {
  let place: Place;
  beforeEach(async () => {
    place = await makePlace();
    await mkdir(place.directory, { recursive: true });
  });
  afterEach(() => place.dispose());

  const size = async (): Promise<number> => (await stat(place.log)).size;
  const append = async (log: SessionLog, text: string): Promise<void> => {
    const [body] = asks(text);
    assert.ok(body);
    await log.append(body, { flush: true });
  };
  /** A log with a line less than `bytes` bytes, and room to them for one more of that text. */
  const fillTo = async (log: SessionLog, bytes: number): Promise<string> => {
    await append(log, "");
    const before = await size();
    await append(log, "");
    // The text stands in a line twice, as name and as words.
    const line = (await size()) - before;
    const rest = bytes - (await size()) - line;
    await append(log, "x".repeat(Math.floor(rest / 2) - line));
    const room = bytes - (await size()) - line;
    // What is odd is made even by a number of one more digit.
    return "y".repeat(room / 2);
  };

  it("takes an event that fills it to its last byte, and not one byte more", async () => {
    const log = await SessionLog.create(place.log, LIMIT);
    const text = await fillTo(log, LIMIT);
    await assert.rejects(append(log, `${text}y`), (error) => {
      assert.ok(error instanceof LogError);
      assert.match(error.message, /too long. Start a new session/);
      return true;
    });
    await append(log, text);
    assert.ok(LIMIT - (await size()) <= 1, `${LIMIT - (await size())} bytes are left`);
    await assert.rejects(append(log, ""), LogError);
    await log.close();
    const { read, log: again } = await SessionLog.open(place.log, undefined, LIMIT);
    assert.deepEqual([read.foreign, read.events.length, read.damage], [undefined, 4, []]);
    await again?.close();
  });

  it("takes a line that ends at its limit, and none that ends a byte behind it", async () => {
    const first = await SessionLog.create(place.log, LIMIT);
    const result = (text: string) => ({ type: "result", text }) as const;
    await first.append(result(""));
    const one = await size();
    await first.append(result("xyz"));
    const both = await size();
    await first.close();
    // A line after another carries its hash: the second says how long a third one gets.
    const third = both + (both - one);
    for (const [limit, fits] of [
      [third, true],
      [third - 1, false],
    ] as const) {
      const { log } = await SessionLog.open(place.log, undefined, limit);
      const appended = log?.append(result("xyz"));
      if (fits) assert.equal((await appended)?.seq, 3);
      else await assert.rejects(async () => appended, /too long/);
      await log?.close();
      await truncate(place.log, both);
    }
  });

  it("opens to write up to its limit, and longer to read, with all that fits", async () => {
    const log = await SessionLog.create(place.log, LIMIT);
    for (let n = 0; n < 10; n++) await append(log, "x".repeat(90_000));
    await log.close();
    const bytes = await size();
    const open = (limit: number) => SessionLog.open(place.log, undefined, limit);
    const whole = await open(bytes);
    await whole.log?.close();
    assert.deepEqual([whole.read.foreign, whole.read.events.length], [undefined, 10]);
    const long = await open(bytes - 2);
    assert.equal(long.log, undefined);
    assert.equal(long.read.events.length, 9);
    assert.match(long.read.foreign ?? "", /longer than .* only that much of it is shown/);
    assert.equal(await size(), bytes);
  });

  it("that another program made longer is left as it is", async () => {
    const log = await SessionLog.create(place.log, LIMIT);
    await append(log, "one");
    await log.close();
    await appendFile(place.log, "x".repeat(LIMIT));
    const before = await readFile(place.log);
    const { read, log: none } = await SessionLog.open(place.log, { seq: 1, hash: "0" }, LIMIT);
    assert.equal(none, undefined);
    assert.equal(read.events.length, 1);
    assert.match(read.foreign ?? "", /longer than 2 MiB/);
    assert.deepEqual(await readFile(place.log), before);
  });

  it("is 256 MiB", () => {
    assert.equal(LOG_OPEN_BYTES, 268_435_456);
  });
});
