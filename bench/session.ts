import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { formatMeta } from "../src/core/session/meta.js";
import { type Opener, SessionRecord } from "../src/core/session/record.js";
import { newSessionId, SessionStore } from "../src/core/session/store.js";
import { transcript } from "../src/core/turn/transcript.js";
import { median, type Report, timed } from "./support/measure.js";

const EVENTS = 100_000;
const APPENDS = 500;
const SESSIONS = 1_000;
const TIMES = 5;

const opener: Opener = { host: "bench", version: "0", report: () => {}, ask: async () => "" };

/** Events of turns that read files, as lines of a log. */
function lines(count: number): string {
  const at = new Date().toISOString();
  const made: string[] = [
    JSON.stringify({ seq: 2, at, turn: "t", type: "turn_started", text: "Read all", model: "m" }),
  ];
  for (let seq = 3; seq < count; seq += 2) {
    const calls = [{ call: `c${seq}`, tool: "read_file", args: { path: `src/${seq}.ts` } }];
    made.push(JSON.stringify({ seq, at, turn: "t", type: "model_answered", text: "", calls }));
    const ended = { type: "call_ended", call: `c${seq}`, ok: true, result: "x".repeat(200) };
    made.push(JSON.stringify({ seq: seq + 1, at, turn: "t", ...ended }));
  }
  return `${made.join("\n")}\n`;
}

/** Milliseconds of one append, the median of many. */
async function appendTime(record: SessionRecord, flush: boolean): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < APPENDS; index++) {
    const body = { type: "result", turn: "t", text: "x".repeat(200) } as const;
    times.push(await timed(() => record.append(body, { flush })));
  }
  return median(times);
}

/** Bytes in use once all that is not has been taken away. */
function heap(): number {
  setFlagsFromString("--expose_gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}

async function longLog(base: string, report: Report): Promise<void> {
  const before = heap();
  const directory = join(base, "sessions", newSessionId());
  const small = await SessionRecord.create(directory, "/ws", opener);
  await appendTime(small, false);
  const start = await appendTime(small, false);
  const startFlushed = await appendTime(small, true);
  await small.close();
  await rm(directory, { recursive: true });

  for (const count of [10, 1_000]) {
    await (await SessionRecord.create(directory, "/ws", opener)).close();
    await appendFile(join(directory, "log.jsonl"), lines(count));
    const opens: number[] = [];
    for (let index = 0; index < TIMES; index++) {
      let record: SessionRecord | undefined;
      opens.push(
        await timed(async () => {
          record = await SessionRecord.open(directory, opener);
        }),
      );
      await record?.close();
    }
    const name = count.toLocaleString("en");
    report({ name: `open ${name} events`, value: median(opens), unit: "ms", limit: 100 });
    const record = await SessionRecord.open(directory, opener);
    await appendTime(record, false);
    const append = await appendTime(record, false);
    await record.close();
    report({
      name: `append after ${name} events`,
      value: append,
      unit: "ms",
      peer: "an empty log",
      peerValue: start,
      goal: "the same",
    });
    await rm(directory, { recursive: true });
  }

  await (await SessionRecord.create(directory, "/ws", opener)).close();
  await appendFile(join(directory, "log.jsonl"), lines(EVENTS));
  const opens: number[] = [];
  let blocked = 0;
  for (let index = 0; index < TIMES; index++) {
    let last = performance.now();
    const watch = setInterval(() => {
      blocked = Math.max(blocked, performance.now() - last);
      last = performance.now();
    }, 1);
    let record: SessionRecord | undefined;
    opens.push(
      await timed(async () => {
        record = await SessionRecord.open(directory, opener);
      }),
    );
    clearInterval(watch);
    await record?.close();
  }
  report({ name: "open 100,000 events", value: median(opens), unit: "ms", limit: 1000 });
  report({
    name: "longest hold of the event loop meanwhile",
    value: blocked,
    unit: "ms",
    limit: 50,
  });
  const record = await SessionRecord.open(directory, opener);
  const grown = (heap() - before) / 1024 / 1024;
  report({ name: "memory of 100,000 events", value: grown, unit: "MiB" });
  const messages = await timed(async () => transcript(record.events));
  report({ name: "transcript of 100,000 events", value: messages, unit: "ms" });
  await appendTime(record, false);
  const end = await appendTime(record, false);
  const endFlushed = await appendTime(record, true);
  await record.close();
  report({
    name: "append after 100,000 events",
    value: end,
    unit: "ms",
    peer: "an empty log",
    peerValue: start,
    goal: "the same",
  });
  report({
    name: "append and flush after 100,000 events",
    value: endFlushed,
    unit: "ms",
    peer: "an empty log",
    peerValue: startFlushed,
    goal: "the same",
  });
}

async function manySessions(base: string, report: Report): Promise<void> {
  const store = new SessionStore(join(base, "many"), opener);
  for (let index = 0; index < SESSIONS; index++) {
    const directory = join(store.directory, newSessionId());
    await mkdir(directory, { recursive: true });
    const at = new Date(index * 1000).toISOString();
    const meta = { title: `Session ${index}`, renamed: false, workspace: "/ws", created: at };
    const text = formatMeta({ ...meta, updated: at, model: "m", allows: [{ read: "/etc/hosts" }] });
    await writeFile(join(directory, "meta.json"), text);
    await writeFile(join(directory, "log.jsonl"), "not to be read\n");
  }
  const times: number[] = [];
  for (let index = 0; index < TIMES; index++) times.push(await timed(() => store.list()));
  report({ name: "list 1,000 sessions", value: median(times), unit: "ms", limit: 200 });
}

/** The figures of the sessions on disk. */
export default async function bench(report: Report): Promise<void> {
  const base = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  try {
    await longLog(base, report);
    await manySessions(base, report);
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}
