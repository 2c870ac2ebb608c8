import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Checks } from "../../soak/checks.js";
import { marked } from "../../soak/files.js";
import type { Fault } from "../../soak/logs.js";
import { OURS } from "../../soak/person.js";
import { Random } from "../../soak/random.js";
import { wrongOnTheWire } from "../../soak/wire.js";
import { call, calling, makeWorld, nextEvent, type World } from "../turn/support.js";

const text = (mark: string): string => marked(mark, new Random("text"));

describe("what the soak looks for", () => {
  let world: World;
  let base: string;
  let log: string;
  let checks: Checks;
  beforeEach(async () => {
    world = await makeWorld([
      calling(
        call("write_file", { path: "files/a.txt", content: text("[m1]") }),
        call("run", { argv: ["sh", "-c", `echo T1 >> ran ${OURS}`] }),
      ),
      { text: "done" },
    ]);
    base = dirname(world.home);
    await mkdir(join(base, "outside"));
    await writeFile(join(base, "outside/secret.txt"), "outside");
    await mkdir(join(base, "ws/files"));
    await writeFile(join(base, "ws/files/b.txt"), text("[e1]"));
    checks = new Checks(base, new Set());
    const session = await world.core().newSession(world.workspace);
    session.onEvent((event) => {
      if (event.type !== "card_raised") return;
      void session.answerCard(event.card, "allow_once", { surface: "test" });
    });
    const ended = nextEvent(session, "turn_ended");
    await session.ask("go");
    await ended;
    await session.close();
    log = join(world.home, "sessions", session.id, "log.jsonl");
  });
  afterEach(() => world.dispose());

  it("is nothing where all is as it should be", async () => {
    assert.deepEqual(await checks.opened(), []);
  });

  it("is nothing where a host begins and ends calls while it looks", async () => {
    const whole = await readFile(log, "utf8");
    const before = whole.slice(
      0,
      whole.indexOf("\n", whole.indexOf('"type":"model_answered"')) + 1,
    );
    const [file, ran] = [join(base, "ws/files/a.txt"), join(base, "ws/ran")];
    for (const now of ["beforeFiles", "afterFiles"] as const) {
      await writeFile(log, before);
      await Promise.all([rm(file, { force: true }), rm(ran, { force: true })]);
      const found = await new Checks(base, new Set()).atRest((which) => {
        if (which !== now) return;
        writeFileSync(log, whole);
        writeFileSync(file, text("[m1]"));
        writeFileSync(ran, "T1\n");
      });
      assert.deepEqual(found, [], now);
    }
  });

  const change = async (path: string, from: string, to: string): Promise<void> => {
    const before = await readFile(path, "utf8");
    assert.ok(before.includes(from));
    await writeFile(path, before.replace(from, to));
  };
  const lastLine = async (type: string): Promise<string> => {
    const lines = (await readFile(log, "utf8")).split("\n");
    return `${lines.findLast((line) => line.includes(`"type":"${type}"`))}\n`;
  };
  const wrongs: readonly (readonly [string, string, () => Promise<unknown>])[] = [
    [
      "a file of two halves",
      "every file before or after",
      () => writeFile(join(base, "ws/files/b.txt"), "2 lines [e1]\n0 [e1] é漢\n1 [e2] é漢\n"),
    ],
    [
      "a file that is cut",
      "every file before or after",
      () => writeFile(join(base, "ws/files/b.txt"), text("[e1]").slice(0, -3)),
    ],
    [
      "an empty file",
      "every file before or after",
      () => writeFile(join(base, "ws/files/b.txt"), ""),
    ],
    [
      "a change that nobody allowed",
      "no effect without its answer or allow",
      () => writeFile(join(base, "ws/files/b.txt"), text("[m2]")),
    ],
    [
      "a command that ran twice",
      "no effect without its answer or allow",
      () => appendFile(join(base, "ws/ran"), "T1\n"),
    ],
    [
      "a command that nobody allowed",
      "no effect without its answer or allow",
      () => appendFile(join(base, "ws/ran"), "T9\n"),
    ],
    [
      "a command that did not run and is said to have",
      "a result says what happened",
      () => writeFile(join(base, "ws/ran"), ""),
    ],
    ["a file outside", "nothing written outside", () => writeFile(join(base, "outside/new"), "")],
    [
      "a file outside that was written with the same bytes",
      "nothing written outside",
      () => writeFile(join(base, "outside/secret.txt"), "outside"),
    ],
    [
      "an effect after a denial",
      "no effect without its answer or allow",
      () => change(log, '"answer":"allow_once"', '"answer":"deny"'),
    ],
    [
      "a line that was changed",
      "the chain of every log",
      () => change(log, '"text":"go"', '"text":"no"'),
    ],
    [
      "a number that is missing",
      "every log whole",
      async () => change(log, await lastLine("call_ended"), ""),
    ],
    [
      "two results of one call",
      "one result a call",
      async () => {
        const seq = (await readFile(log, "utf8")).split("\n").length;
        await appendFile(log, (await lastLine("call_ended")).replace(/"seq":\d+/, `"seq":${seq}`));
      },
    ],
    ["a line that is no JSON", "every log whole", () => change(log, '"type":"result"', '"type":')],
    ["a last line that is cut", "every log whole", () => appendFile(log, '{"seq":99,"a')],
    [
      "an allow that nobody gave",
      "no allow that nobody gave",
      () =>
        change(join(dirname(log), "meta.json"), '"allows": [\n', '"allows": [\n{"read": "/etc"}\n'),
    ],
    [
      "a meta.json that is cut",
      "meta.json whole",
      () => writeFile(join(dirname(log), "meta.json"), '{"title": "x'),
    ],
    [
      "a temporary file beside a target",
      "no temporary file left",
      () => writeFile(join(base, "ws/files/.countersign-0-0.tmp"), ""),
    ],
    [
      "a temporary file of the session",
      "no temporary file left",
      () => writeFile(join(dirname(log), "lock.0.tmp"), ""),
    ],
  ];
  for (const [name, invariant, wrong] of wrongs) {
    it(`finds ${name}`, async () => {
      await wrong();
      const found = await checks.opened();
      const names = found.map((fault: Fault) => fault.invariant);
      assert.ok(names.includes(invariant), JSON.stringify(found));
    });
  }

  it("is nothing where a host writes while it looks", async () => {
    const ours = (n: number) => join(dirname(log), `meta.json.${n}.tmp`);
    let n = 0;
    await writeFile(ours(n), "");
    // There is one at each moment, but none for long.
    const writing = setInterval(() => {
      writeFileSync(ours(n + 1), "");
      rmSync(ours(n));
      n++;
    }, 5);
    try {
      assert.deepEqual(await checks.opened(5_000), []);
    } finally {
      clearInterval(writing);
    }
  });

  it("finds a log that was rewritten", async () => {
    assert.deepEqual(await checks.atRest(), []);
    await writeFile(log, (await readFile(log, "utf8")).split("\n").slice(0, 3).join("\n"));
    const [fault] = (await checks.atRest()).filter(({ invariant }) => /rewritten/.test(invariant));
    assert.equal(fault?.invariant, "events are never rewritten");
  });
});

describe("a request that the soak sees on the wire", () => {
  const user = { role: "user", content: "x" };
  const calls = (...ids: string[]) => ({
    role: "assistant",
    content: null,
    tool_calls: ids.map((id) => ({ id, function: { name: "t", arguments: "{}" } })),
  });
  const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "r" });
  const use = (id: string) => ({ role: "assistant", content: [{ type: "tool_use", id }] });
  const used = (id: string) => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: id }],
  });
  const openai = (...messages: object[]) =>
    wrongOnTheWire({ messages: [{ role: "system", content: "s" }, ...messages] as never });
  const anthropic = (...messages: object[]) =>
    wrongOnTheWire({ system: "s", max_tokens: 1, messages: messages as never });

  it("is right where each call has its result", () => {
    assert.equal(openai(user, calls("a", "b"), result("a"), result("b")), undefined);
    assert.equal(anthropic(user, use("a"), used("a")), undefined);
  });

  it("is wrong without a result, with one of another call, with nothing in it, out of turn", () => {
    const wrong = [
      openai(user, calls("a", "b"), result("a")),
      openai(user, calls("a"), result("b")),
      openai(user, calls("a"), user),
      openai(user, { role: "assistant", content: "" }, user),
      openai(user, user),
      openai(user, { role: "assistant", content: "x" }),
      anthropic(user, use("a")),
      anthropic(user, use("a"), used("b")),
      anthropic(user, use("a b"), used("a b")),
      anthropic(user, { role: "assistant", content: [{ type: "text", text: " " }] }, user),
      anthropic(user, user),
      anthropic(),
    ];
    assert.deepEqual(
      wrong.filter((fault) => fault === undefined),
      [],
    );
  });
});
