import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCore } from "../src/core/core.js";
import type { ChatAnswer, ChatClient } from "../src/core/model/chatClient.js";
import type { LiveSession } from "../src/core/turn/live.js";
import { ToolError } from "../src/core/workspace/types.js";
import { median, type Report } from "./support/measure.js";

/** Reads of one ask: with its last words one less than a turn may have answers. */
const READS = 198;
const WRITES = 15;

/** A model that answers at once, what `next` says. */
class InstantClient implements ChatClient {
  readonly provider = "bench";
  readonly model = "instant";
  readonly contextTokens = 100_000_000;
  readonly asked: number[] = [];
  constructor(private readonly next: (n: number) => Partial<ChatAnswer>) {}
  async send(): Promise<ChatAnswer> {
    const n = this.asked.push(performance.now()) - 1;
    return { text: "", calls: [], stop: "end", ...this.next(n) };
  }
}

async function withSession(
  client: ChatClient,
  work: (live: LiveSession, workspace: string) => Promise<void>,
): Promise<void> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "countersign-bench-")));
  const workspace = join(base, "workspace");
  await mkdir(workspace);
  const core = createCore({
    home: join(base, "home"),
    userHome: base,
    version: "0",
    host: "bench",
    ripgrep: async () => new ToolError("no search here"),
    env: process.env,
    settings: () => ({ stopHooks: [], trusted: true }),
    client: async () => client,
    unsaved: () => new Set(),
    report: () => {},
  });
  try {
    await work(await core.newSession(workspace), workspace);
  } finally {
    await core.dispose();
    await rm(base, { recursive: true, force: true });
  }
}

/** Resolves with the event's time of arrival. */
function next(live: LiveSession, type: string): Promise<number> {
  return new Promise((resolve) => {
    const listener = live.onEvent((event) => {
      if (event.type !== type) return;
      listener.dispose();
      resolve(performance.now());
    });
  });
}

async function askAndWait(live: LiveSession, text: string): Promise<void> {
  const ended = next(live, "turn_ended");
  await live.ask(text);
  await ended;
}

async function steps(report: Report): Promise<void> {
  const client = new InstantClient((n) =>
    n % (READS + 1) === READS
      ? { text: "Read." }
      : { calls: [{ call: `c${n}`, tool: "read_file", args: { path: "a.txt" } }] },
  );
  await withSession(client, async (live, workspace) => {
    await writeFile(join(workspace, "a.txt"), `${"some words ".repeat(20)}\n`);
    for (let turn = 0; turn < 6; turn++) await askAndWait(live, `Read on (${turn}).`);
  });
  const around = (step: number): number => {
    const gaps = client.asked.slice(1).map((at, n) => at - (client.asked[n] ?? at));
    // The first request of a turn comes after a new ask, and is no step.
    const near = gaps.flatMap((gap, n) =>
      Math.abs(n - step) <= 8 && (n + 1) % (READS + 1) !== 0 ? [gap] : [],
    );
    return median(near);
  };
  report({
    name: "a read at step 100, the model's time apart",
    value: around(100),
    unit: "ms",
    limit: 5,
  });
  report({
    name: "a read at step 1,000",
    value: around(1_000),
    unit: "ms",
    peer: "step 100",
    peerValue: around(100),
    goal: "the same",
  });
}

async function answers(report: Report): Promise<void> {
  const client = new InstantClient((n) =>
    n % 2 === 1
      ? { text: "Written." }
      : {
          calls: [
            {
              call: `w${n}`,
              tool: "write_file",
              args: { path: "a.txt", content: `${n}\n`.repeat(2_000) },
            },
          ],
        },
  );
  const cards: number[] = [];
  const writes: number[] = [];
  await withSession(client, async (live) => {
    for (let n = 0; n < WRITES; n++) {
      const raised = next(live, "card_raised");
      const done = next(live, "call_ended");
      const ended = next(live, "turn_ended");
      await live.ask(`Write (${n}).`);
      cards.push((await raised) - (client.asked.at(-1) ?? 0));
      const card = live.openCards[0]?.card ?? "";
      const answered = performance.now();
      await live.answerCard(card, "allow_once", { surface: "test" });
      writes.push((await done) - answered);
      await ended;
    }
  });
  report({
    name: "the model's answer to a card, 10 KiB written",
    value: median(cards),
    unit: "ms",
    limit: 100,
  });
  report({
    name: "the answer to a card to bytes on disk, flushed and logged",
    value: median(writes),
    unit: "ms",
    limit: 60,
  });
}

/** The core alone, with a model that answers at once: steps of a turn, and the way of a write. */
export default async function bench(report: Report): Promise<void> {
  await steps(report);
  await answers(report);
}
