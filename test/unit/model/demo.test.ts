import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { createCore } from "../../../src/core/core.js";
import type { Message } from "../../../src/core/model/chatClient.js";
import { DemoClient } from "../../../src/core/model/demo.js";
import { type DemoCall, demoSaid, demoStep } from "../../../src/core/model/demoTour.js";
import type { Answer, SessionEvent } from "../../../src/core/session/events.js";
import type { LiveSession } from "../../../src/core/turn/live.js";
import { findRipgrep } from "../../../src/core/workspace/ripgrep.js";
import { ask, joined, requestOf } from "./ask.js";

const TOOLS = [
  "read_file",
  "grep",
  "list_dir",
  "search_replace",
  "write_file",
  "run",
  "ask",
  "finish",
  "use_skill",
];
const PLACE = { tools: new Set(TOOLS), platform: "linux" } as const;

interface Tour {
  readonly tools: readonly string[];
  readonly args: readonly unknown[];
  readonly cards: readonly string[];
  readonly events: readonly SessionEvent[];
  readonly files: readonly string[];
  readonly text: string;
}

/** One whole turn of the demo in a folder, through the real core, every card answered like this. */
async function tour(
  fill: (folder: string) => Promise<void>,
  answer: Answer,
  question = "Finish the tour",
  look: (folder: string, session: LiveSession) => Promise<void> = async () => {},
): Promise<Tour> {
  const base = await mkdtemp(join(tmpdir(), "countersign-demo-"));
  const folder = join(base, "ws");
  const userHome = join(base, "user");
  for (const path of [folder, userHome]) await mkdir(path);
  await fill(folder);
  const core = createCore({
    home: join(base, "home"),
    userHome,
    version: "0.0.0-test",
    host: "test",
    ripgrep: () => findRipgrep({ setting: undefined, packaged: import.meta.dirname }),
    env: process.env,
    settings: () => ({ stopHooks: [], trusted: true }),
    client: async () =>
      new DemoClient({ pace: 0, advice: { setKey: "", pickModel: "with “Select Model…”" } }),
    unsaved: () => new Set(),
    report: () => {},
  });
  try {
    const session = await core.newSession(folder);
    const cards: string[] = [];
    const ended = new Promise<void>((resolve) => {
      session.onEvent((event) => {
        if (event.type === "card_raised") {
          cards.push(event.kind);
          void session.answerCard(event.card, answer, { surface: "test" });
        }
        if (event.type === "question") void session.answerQuestion(event.question, question);
        if (event.type === "turn_ended") resolve();
      });
    });
    await session.ask("What can you do?");
    await ended;
    const calls = session.events.flatMap((event) =>
      event.type === "model_answered" ? event.calls : [],
    );
    await look(folder, session);
    return {
      tools: calls.map(({ tool }) => tool),
      args: calls.map(({ args }) => args),
      cards,
      events: [...session.events],
      files: (await readdir(folder)).sort(),
      text: session.events
        .map((event) => (event.type === "model_answered" ? event.text : ""))
        .join("\n"),
    };
  } finally {
    await core.dispose();
    await rm(base, { recursive: true, force: true });
  }
}

async function project(folder: string): Promise<void> {
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "README.md"), "# Harbour\n\nShips come in and go out.\n");
  await writeFile(join(folder, "package.json"), "{}\n");
  await writeFile(join(folder, "src", "a.ts"), "export const harbour = 1;\n");
}

describe("the demo", () => {
  it("is a real turn on the folder: reads, greps, proposes, runs, asks, finishes, and says that it is a demo", async () => {
    const { tools, args, cards, events, files, text } = await tour(
      project,
      "allow_once",
      undefined,
      async (folder) => {
        const written = await readFile(join(folder, "countersign-demo.md"), "utf8");
        assert.match(
          written,
          /- It read `README\.md`\.\n- It searched for “Harbour”\.\n- \[x\] read the diff\n$/,
        );
      },
    );
    assert.deepEqual(tools, [
      "list_dir",
      "read_file",
      "grep",
      "write_file",
      "search_replace",
      "run",
      "ask",
      "finish",
    ]);
    assert.deepEqual(args.slice(0, 3), [
      {},
      { path: "README.md", line: 1 },
      { pattern: "Harbour", literal: true },
    ]);
    assert.deepEqual(cards, ["write", "write", "run"]);
    const results = events.flatMap((event) => (event.type === "call_ended" ? [event.ok] : []));
    assert.deepEqual(results, Array(8).fill(true));
    assert.deepEqual(files, ["README.md", "countersign-demo.md", "package.json", "src"]);
    assert.match(text, /This is a \*\*demo\*\*: no model is at work/);
    const last = events.at(-1);
    assert.ok(last?.type === "turn_ended");
    assert.equal(last.reason, "finished");
    const result = events.find((event) => event.type === "result");
    assert.ok(result?.type === "result");
    assert.match(result.text, /The demo is over.*“Select Model…”/);
  });

  it("goes on to its end where everything is denied, and nothing has happened", async () => {
    const { tools, files, text, events } = await tour(
      project,
      "deny",
      "Read a file outside the folder",
    );
    assert.deepEqual(tools, [
      "list_dir",
      "read_file",
      "grep",
      "write_file",
      "run",
      "ask",
      "read_file",
      "finish",
    ]);
    assert.deepEqual(files, ["README.md", "package.json", "src"]);
    assert.equal(text.match(/You denied that, and so nothing happened/g)?.length, 3);
    assert.match(JSON.stringify(events), /Nothing was changed in your folder/);
  });

  it("works in an empty folder", async () => {
    const { tools, files, text } = await tour(async () => {}, "allow_once");
    assert.deepEqual(tools, ["list_dir", "write_file", "search_replace", "run", "ask", "finish"]);
    assert.deepEqual(files, ["countersign-demo.md"]);
    assert.match(text, /There is no file here to read/);
  });

  it("takes a free name, and leaves links, odd names and unknown kinds alone", async () => {
    const { args, files } = await tour(async (folder) => {
      await writeFile(join(folder, "countersign-demo.md"), "mine\n");
      await writeFile(join(folder, "a.md b"), "x\n");
      await writeFile(join(folder, "new\nline.md"), "x\n");
      await writeFile(join(folder, "data.bin"), Buffer.from([0, 1, 2]));
      await writeFile(join(folder, "with space.txt"), "Fairway buoys\n");
      await symlink("/etc/passwd", join(folder, "README.md"));
    }, "allow_once");
    assert.deepEqual(args[1], { path: "countersign-demo.md", line: 1 });
    assert.ok(files.includes("countersign-demo-2.md"));
  });

  it("stops in mid-word when it is cancelled", async () => {
    const controller = new AbortController();
    const reason = new Error("stop");
    const sending = new DemoClient({ pace: 1 }).send(requestOf(), {
      signal: controller.signal,
      onDelta: () => controller.abort(reason),
    });
    await assert.rejects(sending, (error) => error === reason);
  });

  it("streams its words in small pieces that are the whole text", async () => {
    const { answer, deltas } = await ask(new DemoClient({ pace: 0 }), {
      ...requestOf(),
      tools: TOOLS.map((name) => ({ name, description: "", parameters: {} })),
    });
    assert.ok(deltas.length > 20);
    assert.equal(joined(deltas, "text"), answer?.text);
    assert.deepEqual(
      answer?.calls.map(({ tool, args }) => [tool, args]),
      [["list_dir", {}]],
    );
    assert.equal(answer?.usage?.estimated, true);
  });

  it("goes on where it was after a stop or a hook, and begins again with another ask", () => {
    const made: Message[] = [
      { role: "user", text: "hello" },
      { role: "assistant", text: "", calls: [{ call: "a", tool: "list_dir", args: {} }] },
      { role: "tool", call: "a", ok: true, text: "notes.txt (5 bytes)" },
    ];
    const goOn: Message[] = [
      { role: "assistant", text: "(The turn was stopped here.)", calls: [] },
      { role: "user", text: "Go on." },
    ];
    const hook: Message = {
      role: "user",
      text: 'The Stop hook "test" blocked the end of the turn',
    };
    const next = (messages: Message[]): string | undefined =>
      demoStep(demoSaid(messages), PLACE).calls[0]?.tool;
    assert.equal(next(made), "read_file");
    assert.equal(next([...made, ...goOn]), "read_file");
    assert.equal(next([...made, hook]), "read_file");
    assert.equal(next([...made, { role: "user", text: "and again" }]), "list_dir");
  });

  it("does without a tool that is not there", () => {
    const tools = new Set(TOOLS.filter((name) => name !== "run" && name !== "ask"));
    const said: DemoCall[] = [];
    for (;;) {
      const [call] = demoStep(said, { ...PLACE, tools }).calls;
      if (call === undefined || call.tool === "finish") break;
      assert.ok(tools.has(call.tool));
      said.push({ ...call, ok: true, text: "a.md (1 byte)" });
    }
    assert.deepEqual(
      said.map(({ tool }) => tool),
      ["list_dir", "read_file", "write_file", "search_replace"],
    );
  });

  it("comes to an end whatever the results are, a finish that a hook blocks too", () => {
    const result = fc.record({
      ok: fc.boolean(),
      text: fc.constantFrom(
        "",
        "README.md (3 bytes)\nsrc/",
        "The user denied this call.",
        "[. is an empty directory]",
        "Read a file outside the folder",
        "words like harbour",
        "interrupted: it may or may not have happened",
      ),
    });
    fc.assert(
      fc.property(fc.array(result, { minLength: 14, maxLength: 14 }), (results) => {
        const said: DemoCall[] = [];
        for (const outcome of results) {
          const [call] = demoStep(said, PLACE).calls;
          if (call === undefined) return;
          assert.ok(PLACE.tools.has(call.tool));
          said.push({ ...call, ...outcome });
        }
        assert.fail(`no end after ${said.map(({ tool }) => tool).join(", ")}`);
      }),
      { numRuns: 500 },
    );
  });
});
