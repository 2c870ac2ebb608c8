import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { LISTED_PROCESSES, PROCESS_CHARS } from "../../../src/core/limits.js";
import { runCommand } from "../../../src/core/workspace/command.js";
import { Family } from "../../../src/core/workspace/family.js";
import {
  askPs,
  parsePs,
  readProcesses,
  showCommandLine,
} from "../../../src/core/workspace/processes.js";
import { tellEnded } from "../../../src/core/workspace/tellEnded.js";
import { ToolError } from "../../../src/core/workspace/types.js";
import { type Ground, ground, runPermit } from "./setup.js";

/** A length of sleep that no other process has. */
let marks = 0;
const mark = () => `${32_000_000 + process.pid}.${++marks}`;

/** The numbers of living processes that are exactly this sleep. */
function living(time: string): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,stat=,args="], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => {
    const [, pid, args] = /^\s*(\d+) [^Z]\S*\s+(.*)$/.exec(line) ?? [];
    return args === `sleep ${time}` ? [Number(pid)] : [];
  });
}

function bytes(...words: string[]): Buffer {
  return Buffer.from(words.map((word) => `${word}\0`).join(""));
}

describe("a command that was cut short tells", function () {
  this.timeout(30_000);
  let tree: Ground;
  before(async () => {
    tree = await ground({});
  });
  const times: string[] = [];
  const time = (): string => {
    const one = mark();
    times.push(one);
    return one;
  };
  afterEach(() => {
    // What left its group is not ended by the command: that is what these tests are about.
    for (const one of times.splice(0)) for (const pid of living(one)) process.kill(pid, "SIGKILL");
  });

  /** Runs a script, cancels it once it has started these, and gives the lines about its processes. */
  async function cancelled(started: readonly string[], ...argv: string[]): Promise<string[]> {
    const stop = new AbortController();
    const running = runCommand(tree.workspace, runPermit(argv, 60), {
      signal: stop.signal,
      onOutput: () => {},
    });
    while (started.some((one) => living(one).length === 0)) await delay(20);
    stop.abort();
    const result = await running;
    assert.ok(!(result instanceof ToolError));
    return about(result.text);
  }
  const about = (text: string): string[] => {
    const [, told = ""] = text.split("\n[processes]\n");
    return told.split("\n");
  };
  /** Numbers differ from run to run. */
  const plain = (lines: readonly string[]): string[] =>
    lines.map((line) => line.replace(/^ {2}\d+/, "  N").replace(/"\d+"/, '"N"'));

  it("whom SIGTERM went to, and that nobody is left", async () => {
    const [one, two] = [time(), time()];
    const told = await cancelled([one, two], "sh", "-c", `sleep ${one} & sleep ${two}; :`);
    assert.deepEqual(plain(told), [
      "SIGTERM was sent to:",
      `  N sh -c "sleep ${one} & sleep ${two}; :"`,
      `  N sleep ${one}`,
      `  N sleep ${two}`,
      "No process of it that can be seen is left.",
    ]);
    assert.deepEqual([...living(one), ...living(two)], []);
  });

  it("whom it took SIGKILL to end", async () => {
    const one = time();
    const told = await cancelled([one], "sh", "-c", `trap '' TERM; sleep ${one}; :`);
    const after = plain(told).slice(
      plain(told).indexOf("SIGKILL was sent, two seconds later, to:"),
    );
    assert.deepEqual(after, [
      "SIGKILL was sent, two seconds later, to:",
      `  N sh -c "trap '' TERM; sleep ${one}; :"`,
      `  N sleep ${one}`,
      "No process of it that can be seen is left.",
    ]);
  });

  const ways: readonly (readonly [string, (time: string) => readonly string[]])[] = [
    ["a child that left its group by setsid", (one) => ["sh", "-c", `setsid sleep ${one} & wait`]],
    [
      "a daemon that forked twice, whose parent is gone",
      (one) => ["sh", "-c", `(setsid sleep ${one} >/dev/null 2>&1 &); sleep 60`],
    ],
    [
      "a child that left its group with an empty environment",
      (one) => ["sh", "-c", `env -i setsid -w sleep ${one} & wait`],
    ],
  ];
  for (const [name, argv] of ways) {
    it(`of ${name}, which it lists and does not end`, async () => {
      const one = time();
      const told = await cancelled([one], ...argv(one));
      const [pid] = living(one);
      assert.ok(pid !== undefined, "it is still alive");
      assert.ok(told.some((line) => line.startsWith("Still running (it left the command's group")));
      assert.ok(told.includes(`  ${pid} sleep ${one}`), told.join("\n"));
      assert.match(told.join("\n"), /To end one: \["kill", "\d+"\]/);
    });
  }

  it("the same when its time is up", async () => {
    const one = time();
    const script = `(setsid sleep ${one} >/dev/null 2>&1 &); sleep 60`;
    const result = await runCommand(tree.workspace, runPermit(["sh", "-c", script], 1), {
      signal: new AbortController().signal,
      onOutput: () => {},
    });
    assert.ok(!(result instanceof ToolError));
    assert.match(result.text, /^\[timed out after 1 s/);
    assert.ok(about(result.text).includes(`  ${living(one)[0]} sleep ${one}`));
  });

  it("of one that left, where it ended by itself and left others in its group", async () => {
    const [one, two] = [time(), time()];
    const up = (it: string) => `until ps -eo args= | grep -qx "sleep ${it}"; do :; done`;
    const begin = `setsid sleep ${one} >/dev/null 2>&1 & sleep ${two} >/dev/null 2>&1 &`;
    const script = `${begin} ${up(one)}; ${up(two)}; echo done`;
    const result = await runCommand(tree.workspace, runPermit(["sh", "-c", script], 60), {
      signal: new AbortController().signal,
      onOutput: () => {},
    });
    assert.ok(!(result instanceof ToolError) && result.ok);
    assert.deepEqual(plain(about(result.text)), [
      "Still running (it left the command's group, and was not ended):",
      `  N sleep ${one}`,
      'To end one: ["kill", "N"]. It may have children.',
    ]);
    assert.deepEqual(living(two), []);
  });

  it("nothing of a process that another command started meanwhile", async () => {
    const [one, other] = [time(), time()];
    const stranger = spawn("setsid", ["sleep", other], { detached: true, stdio: "ignore" });
    await once(stranger, "spawn");
    const told = await cancelled([one], "sh", "-c", `sleep ${one}; :`);
    assert.ok(!told.join("\n").includes(other));
    assert.equal(told.at(-1), "No process of it that can be seen is left.");
  });
});

describe("the processes of a command", () => {
  const entry = { parent: 1, group: 7, session: 7, started: "100" };

  it("are not those that got their numbers later", async () => {
    const family = new Family(7, "mark");
    family.see([
      { ...entry, pid: 7, command: "leader" },
      { ...entry, pid: 8, command: "child" },
    ]);
    family.see([
      { ...entry, pid: 7, started: "200", command: "another's leader" },
      { ...entry, pid: 8, started: "201", command: "another's child" },
      { ...entry, pid: 9, started: "202", parent: 8, command: "another's grandchild" },
    ]);
    assert.deepEqual(family.named([7, 8, 9]), [
      { pid: 7, command: "leader" },
      { pid: 8, command: "child" },
    ]);
  });

  it("are followed through any depth, in whatever order the table has them", () => {
    const family = new Family(7, "mark");
    family.see([
      { ...entry, pid: 10, parent: 9, session: 10, command: "d" },
      { ...entry, pid: 9, parent: 8, session: 9, command: "c" },
      { ...entry, pid: 8, parent: 7, session: 8, command: "b" },
      { ...entry, pid: 7, command: "a" },
      { ...entry, pid: 11, parent: 1, session: 11, command: "another" },
    ]);
    assert.deepEqual(
      family.named([7, 8, 9, 10, 11]).map(({ pid }) => pid),
      [10, 9, 8, 7],
    );
  });

  it("are in the table of ps as in that of /proc", async () => {
    const own = (await askPs())?.find(({ pid }) => pid === process.pid);
    assert.equal(own?.parent, process.ppid);
    assert.ok(own?.command?.includes("node"));
    assert.match(own?.started ?? "", /^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/);
    const stat = readFileSync("/proc/self/stat", "latin1");
    const same = readProcesses()?.find(({ pid }) => pid === process.pid);
    assert.equal(same?.started, stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  });

  it("are read from what ps prints, dead ones left out", () => {
    const text = [
      "    7     1     7 Ss   Wed Dec  2 10:00:00 2026 sh -c sleep 1",
      "    8     7     7 Z    Wed Dec  2 10:00:01 2026 [sleep] <defunct>",
      "    9     1     9 S    Wed Dec  2 10:00:02 2026 evil \u202e name",
      "nonsense",
    ].join("\n");
    assert.deepEqual(parsePs(text), [
      {
        ...{ pid: 7, parent: 1, group: 7, session: 7 },
        ...{ started: "Wed Dec  2 10:00:00 2026", command: "sh -c sleep 1" },
      },
      {
        ...{ pid: 9, parent: 1, group: 9, session: 9 },
        ...{ started: "Wed Dec  2 10:00:02 2026", command: '"evil \\u202e name"' },
      },
    ]);
  });
});

describe("the command line of a process", () => {
  it("comes on one line, with every hidden character escaped and blanks in quotes", () => {
    assert.equal(showCommandLine(bytes("sh", "-c", "a b", "")), 'sh -c "a b" ""');
    assert.equal(
      showCommandLine(bytes("x\n[exit code 0]", "\u202e")),
      '"x\\n[exit code 0]" "\\u202e"',
    );
    assert.equal(showCommandLine(Buffer.from([0x61, 0xff, 0])), '"a\\xFF"');
  });

  it(`of ${PROCESS_CHARS} characters is whole, and of one more is cut`, () => {
    assert.equal(showCommandLine(bytes("x".repeat(PROCESS_CHARS))), "x".repeat(PROCESS_CHARS));
    const long = showCommandLine(bytes("x".repeat(PROCESS_CHARS + 1)));
    assert.equal(long, `${"x".repeat(PROCESS_CHARS)}…`);
    assert.equal(showCommandLine(bytes(...Array(100_000).fill("y"))).length, PROCESS_CHARS + 1);
  });
});

describe("what a result tells of processes", () => {
  const some = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ pid: index + 1, command: "x" }));
  const ended = { gone: true, asked: [], forced: [], left: [] };

  it(`names ${LISTED_PROCESSES}, and of one more how many there are`, () => {
    const all = tellEnded({ ...ended, left: some(LISTED_PROCESSES) }, false);
    assert.match(all, /^ {2}10 x$/m);
    assert.doesNotMatch(all, /more/);
    assert.match(
      tellEnded({ ...ended, left: some(LISTED_PROCESSES + 1) }, false),
      /^ {2}and 1 more$/m,
    );
  });

  it("is nothing where a command ended by itself and all of it is gone", () => {
    assert.equal(tellEnded(ended, false), "");
    assert.equal(tellEnded({ ...ended, asked: some(2) }, false), "");
    assert.equal(tellEnded({ ...ended, left: undefined }, false), "");
  });

  it("says so where it cannot be known, and where some could not be ended", () => {
    assert.equal(
      tellEnded({ ...ended, left: undefined }, true),
      "\n[processes]\nWhether a process that left it is still running cannot be seen here.\n",
    );
    assert.equal(
      tellEnded({ ...ended, gone: false }, false),
      "\n[processes]\nSome of its processes could not be ended.\n",
    );
  });
});
