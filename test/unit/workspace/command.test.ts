import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import fc from "fast-check";
import { KILL_AFTER_MS, RUN_STREAM_BYTES } from "../../../src/core/limits.js";
import { runCommand } from "../../../src/core/workspace/command.js";
import { spawnBounded } from "../../../src/core/workspace/spawn.js";
import { taskkillArguments } from "../../../src/core/workspace/terminate.js";
import { ToolError, type Workspace } from "../../../src/core/workspace/types.js";
import { file } from "../../support/tree.js";
import { type Ground, ground, runPermit, runs } from "./setup.js";

const never = new AbortController().signal;
const quiet = () => {};

/** The result without its time, which differs from run to run. */
function timeless(text: string): string {
  return text.replace(/\d+\.\d+ s/, "N s");
}

async function run(workspace: Workspace, argv: readonly string[], timeout = 20, signal = never) {
  const result = await runCommand(workspace, runPermit(argv, timeout), { signal, onOutput: quiet });
  if (result instanceof ToolError) return `error: ${result.message}`;
  return { ok: result.ok, text: timeless(result.text) };
}

/** Whether any living process has `mark` in its command line. */
function alive(mark: string): string {
  const lines = execFileSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" }).split("\n");
  return lines
    .filter((line) => line.includes(mark) && !line.startsWith("Z") && !line.includes("ps -eo"))
    .join("\n");
}

/** A length of sleep that no other process has. */
let marks = 0;
const mark = () => `${31_000_000 + process.pid}.${++marks}`;

describe("a command", () => {
  let tree: Ground;
  before(async () => {
    tree = await ground({ "plain.txt": "x", "bad.sh": file("#!/none/such\n", 0o755), "dir.d": {} });
  });

  it("gives exit code and both streams", async () => {
    assert.deepEqual(await run(tree.workspace, ["sh", "-c", "echo out; echo err >&2"]), {
      ok: true,
      text: "[exit code 0, N s]\nstdout:\nout\n\nstderr:\nerr",
    });
    assert.deepEqual(await run(tree.workspace, ["sh", "-c", "exit 3"]), {
      ok: false,
      text: "[exit code 3, N s]\n(no output)",
    });
    assert.deepEqual(await run(tree.workspace, ["sh", "-c", "kill -SEGV $$"]), {
      ok: false,
      text: "[ended by SIGSEGV after N s]\n(no output)",
    });
  });

  it("gets its arguments as they are, without a shell", async () => {
    assert.deepEqual(await run(tree.workspace, ["printf", "[%s]", "", "a b", "$HOME", "*"]), {
      ok: true,
      text: "[exit code 0, N s]\nstdout:\n[][a b][$HOME][*]",
    });
  });

  it("runs in the workspace, with its input at the end", async () => {
    assert.deepEqual(
      await run(tree.workspace, ["sh", "-c", 'pwd; echo "$PWD"; read x; echo "got:$x"; cat']),
      {
        ok: true,
        text: `[exit code 0, N s]\nstdout:\n${tree.at("ws")}\n${tree.at("ws")}\ngot:`,
      },
    );
  });

  it("gives characters that came in two pieces whole, and a stray byte as one U+FFFD", async () => {
    const live: string[] = [];
    const script = "printf 'x\\342'; sleep 0.2; printf '\\200\\224y'; printf '\\377' >&2; exit 5";
    const result = await runCommand(tree.workspace, runPermit(["sh", "-c", script]), {
      signal: never,
      onOutput: (stream, text) => live.push(`${stream}:${text}`),
    });
    assert.equal(
      result instanceof ToolError ? "" : timeless(result.text),
      "[exit code 5, N s]\nstdout:\nx\u2014y\n\nstderr:\n\ufffd",
    );
    assert.equal(
      live.filter((line) => line.startsWith("stdout")).join(""),
      "stdout:xstdout:\u2014y",
    );
  });

  it("has the user's environment less the editor's and the agent's, and asks nothing", async () => {
    const { cleanEnvironment } = await import("../../../src/core/workspace/environment.js");
    const env = cleanEnvironment({
      ...process.env,
      ELECTRON_RUN_AS_NODE: "1",
      OPENAI_API_KEY: "sk-1",
    });
    const result = await run({ ...tree.workspace, env }, ["env"]);
    const text = typeof result === "string" ? result : result.text;
    assert.match(text, /^PATH=/m);
    assert.match(text, /^PAGER=cat$/m);
    assert.doesNotMatch(text, /ELECTRON|sk-1/);
  });

  it("does not wait in a pager or an editor", async () => {
    const repo = await ground({});
    const git = (...args: string[]) =>
      run(repo.workspace, ["git", "-c", "user.name=a", "-c", "user.email=a@b", ...args]);
    await git("init", "-q");
    await git("commit", "-q", "--allow-empty", "-m", "first");
    const log = await git("log", "--format=%s");
    assert.deepEqual(log, { ok: true, text: "[exit code 0, N s]\nstdout:\nfirst" });
  });
});

describe("a command that does not start", () => {
  let tree: Ground;
  before(async () => {
    tree = await ground({
      "plain.txt": "x",
      "bad.sh": file("#!/none/such\n", 0o755),
      dir: {},
    });
  });
  const says = async (argv: readonly string[], message: string | RegExp) => {
    const result = await run(tree.workspace, argv);
    if (typeof message === "string") assert.equal(result, message);
    else assert.match(typeof result === "string" ? result : JSON.stringify(result), message);
  };

  it("names the command and where it was looked for", async () => {
    await says(
      ["no-such-program", "x"],
      `error: Command not found: no-such-program. It was looked for in ${process.env.PATH}.`,
    );
  });

  it("is told to split its words where all of them came as one", async () => {
    await says(
      ["cat config.yaml"],
      /^error: Command not found: cat config\.yaml\. argv must be split into its words, the program first: \["cat","config\.yaml"\]/,
    );
  });

  it("says what a path to no program is", async () => {
    await says(["./none"], /^error: The command did not start: \.\/none is not there/);
    await says(["./dir"], /\.\/dir is a directory, not a program/);
    await says(["./plain.txt"], /\.\/plain\.txt is not executable/);
    await says(["./bad.sh"], /the interpreter its first line names is not/);
  });

  it("says so where the arguments are too long", async () => {
    await says(["true", "x".repeat(3_000_000)], /its arguments are too long/);
  });

  it("says so where the workspace is gone, or became a link", async () => {
    const gone = await ground({}, { other: {} });
    const message = `error: The command did not start: the workspace folder ${gone.at("ws")} is not there any more. Ask the user to bring it back.`;
    await rm(gone.at("ws"), { recursive: true });
    assert.equal(await run(gone.workspace, ["true"]), message);
    await symlink("other", gone.at("ws"));
    assert.equal(await run(gone.workspace, ["touch", "x"]), message);
    await rm(gone.at("ws"));
    await mkdir(gone.at("ws"));
    assert.deepEqual(await run(gone.workspace, ["true"]), {
      ok: true,
      text: "[exit code 0, N s]\n(no output)",
    });
    await rename(gone.at("ws"), gone.at("moved"));
  });

  it("says that it never ran where it was cancelled before", async () => {
    assert.equal(
      await run(tree.workspace, ["touch", "ran"], 20, AbortSignal.abort()),
      "error: Cancelled before the command started; it never ran.",
    );
    await assert.rejects(readFile(tree.at("ws", "ran")));
  });
});

describe("output", () => {
  let tree: Ground;
  before(async () => {
    tree = await ground({});
  });
  const bytes = (count: number) =>
    `i=$(printf '%01024d' 0); n=0; while [ $n -lt ${count / 1024} ]; do printf %s "$i"; n=$((n+1)); done`;

  it(`of ${RUN_STREAM_BYTES} bytes is kept whole`, async () => {
    const result = await run(tree.workspace, ["sh", "-c", bytes(RUN_STREAM_BYTES)]);
    assert.deepEqual(result, {
      ok: true,
      text: `[exit code 0, N s]\nstdout:\n${`${"0".repeat(1024)}`.repeat(64)}`,
    });
  });

  it("of one byte more keeps the first and the last 32 KiB and says what is left out, in each stream", async () => {
    const script = `{ printf A; ${bytes(RUN_STREAM_BYTES)}; }; { printf B; ${bytes(RUN_STREAM_BYTES)}; printf Z; } >&2`;
    const result = await run(tree.workspace, ["sh", "-c", script]);
    const half = 32 * 1024;
    assert.deepEqual(result, {
      ok: true,
      text:
        `[exit code 0, N s]\nstdout (65537 bytes, 1 of them left out):\nA${"0".repeat(half - 1)}\n[... 1 bytes left out ...]\n${"0".repeat(half)}\n` +
        `\nstderr (65538 bytes, 2 of them left out):\nB${"0".repeat(half - 1)}\n[... 2 bytes left out ...]\n${"0".repeat(half - 1)}Z`,
    });
  });

  it("that does not end is cut, and the command is ended at its time", async () => {
    const began = performance.now();
    const result = await run(tree.workspace, ["yes"], 1);
    const text = typeof result === "string" ? result : result.text;
    assert.match(
      text,
      /^\[timed out after 1 s and was ended \(ended by SIGTERM, N s\)\]\nstdout \(\d+ bytes, \d+ of them left out\):\ny\ny\n/,
    );
    assert.ok(text.length < RUN_STREAM_BYTES + 300);
    assert.ok(performance.now() - began < 1000 + KILL_AFTER_MS + 3000);
  });
});

describe("the end of a command", () => {
  let tree: Ground;
  before(async () => {
    tree = await ground({});
  });

  it("ends what it left in its group, and no child that holds the pipe holds the result", async () => {
    const time = mark();
    const result = await run(tree.workspace, ["sh", "-c", `sleep ${time} & echo done`]);
    assert.deepEqual(result, { ok: true, text: "[exit code 0, N s]\nstdout:\ndone" });
    assert.equal(alive(time), "");
  });

  it("does not wait for one that left the group for good and holds the pipe", async () => {
    const time = mark();
    // One that is seen on its way out may be ended with the group, or told of: it is out by then.
    const up = `until ps -eo args= | grep -qx "sleep ${time}"; do :; done`;
    const result = await run(tree.workspace, [
      "sh",
      "-c",
      `setsid sleep ${time} & ${up}; echo up $!`,
    ]);
    assert.ok(typeof result !== "string", String(result));
    const [, pid] = /^\[exit code 0, N s\]\nstdout:\nup (\d+)$/.exec(result.text) ?? [];
    assert.ok(pid !== undefined, result.text);
    // It is alive: else there would be nobody to signal.
    process.kill(Number(pid));
  });

  it("at its time takes the children along, and says what came until then", async () => {
    const time = mark();
    const script = `echo begun; sh -c 'sleep ${time}' & sleep ${time}`;
    const result = await run(tree.workspace, ["sh", "-c", script], 1);
    const text = typeof result === "string" ? result : result.text;
    assert.ok(
      text.startsWith(
        "[timed out after 1 s and was ended (ended by SIGTERM, N s)]\nstdout:\nbegun\n\n[processes]\nSIGTERM was sent to:\n",
      ),
    );
    assert.equal(alive(time), "");
  });

  it("by a cancel says that it ran, and takes along what made groups of its own", async () => {
    const time = mark();
    const stop = new AbortController();
    const output = new EventTarget();
    const ready = once(output, "ready");
    const running = runCommand(
      tree.workspace,
      runPermit([
        "sh",
        "-c",
        `timeout 9999 sleep ${time} & sh -c 'sleep ${time}' & echo ready; wait`,
      ]),
      { signal: stop.signal, onOutput: () => output.dispatchEvent(new Event("ready")) },
    );
    await ready;
    stop.abort();
    const result = await running;
    assert.ok(!(result instanceof ToolError) && !result.ok);
    assert.ok(
      timeless(result.text).startsWith(
        "[cancelled by the user after it had run for N s; ended by SIGTERM. What it did until then is done.]\nstdout:\nready\n\n[processes]\n",
      ),
    );
    assert.equal(alive(time), "");
  });

  it("comes two seconds after SIGTERM for one that ignores it, and not before", async () => {
    const time = mark();
    const stop = new AbortController();
    const output = new EventTarget();
    const ready = once(output, "ready");
    const script = `trap '' TERM; echo ready; sleep ${time}`;
    const running = runCommand(tree.workspace, runPermit(["sh", "-c", script]), {
      signal: stop.signal,
      onOutput: () => output.dispatchEvent(new Event("ready")),
    });
    await ready;
    const began = performance.now();
    stop.abort();
    const result = await running;
    const took = performance.now() - began;
    assert.match(result instanceof ToolError ? "" : result.text, /ended by SIGKILL/);
    assert.ok(took >= KILL_AFTER_MS && took < KILL_AFTER_MS + 2000, `${took} ms`);
    assert.equal(alive(time), "");
  });

  it("gives a process that ends in good order its two seconds", async () => {
    const script =
      "trap 'sleep 0.5; echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    const result = await run(tree.workspace, ["sh", "-c", script], 1);
    assert.match(
      typeof result === "string" ? result : result.text,
      /exit code 0[\s\S]*ready\ntidy\n/,
    );
  });

  it("is the end of a process tree of any shape", async function () {
    this.timeout(120_000);
    type Shape = {
      readonly term: boolean;
      readonly pipes: boolean;
      readonly own: string;
      readonly children: readonly Shape[];
    };
    const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
      shape: fc.record({
        term: fc.boolean(),
        pipes: fc.boolean(),
        own: fc.constantFrom("", "", "timeout 9999 "),
        children: fc.oneof(
          { maxDepth: 2 },
          fc.constant([]),
          fc.array(tie("shape"), { maxLength: 2 }),
        ),
      }),
    }));
    const script = (node: Shape, time: string): string => {
      const children = node.children.map((child) => {
        const quoted = script(child, time).replaceAll("'", `'\\''`);
        return `${child.own}sh -c '${quoted}' ${child.pipes ? "" : ">/dev/null 2>&1 "}& `;
      });
      return `${node.term ? "" : "trap '' TERM; "}${children.join("")}sleep ${time}`;
    };
    await fc.assert(
      fc.asyncProperty(shape, fc.boolean(), async (root, leaves) => {
        const time = mark();
        const inner = script(root, time);
        // Either the leader ends and leaves all of it behind, or all of it is cancelled.
        const argv = ["sh", "-c", leaves ? `(${inner}) & echo ready` : `echo ready; ${inner}`];
        const stop = new AbortController();
        let began = performance.now();
        const exit = await spawnBounded({
          argv,
          cwd: tree.at("ws"),
          env: tree.workspace.env,
          timeoutMs: 60_000,
          maxBytesPerStream: 1000,
          signal: stop.signal,
          onOutput: () => {
            began = performance.now();
            if (!leaves) stop.abort();
          },
        });
        const took = performance.now() - began;
        assert.equal(exit.kind === "exited" && exit.stdout, "ready\n");
        assert.equal(alive(time), "");
        assert.ok(took < KILL_AFTER_MS + 2000, `${took} ms`);
      }),
      { numRuns: runs(6) },
    );
  });

  it("on Windows is taskkill with the whole tree", () => {
    assert.deepEqual(taskkillArguments(42), ["/PID", "42", "/T", "/F"]);
  });
});

describe("a bounded process", () => {
  const options = {
    cwd: "/",
    env: process.env,
    timeoutMs: 5000,
    maxBytesPerStream: 100,
    signal: never,
  };

  it("reads what it is given", async () => {
    const exit = await spawnBounded({ ...options, argv: ["cat"], stdin: "in\n" });
    assert.equal(exit.kind === "exited" && exit.stdout, "in\n");
    const closed = await spawnBounded({ ...options, argv: ["true"], stdin: "x".repeat(1_000_000) });
    assert.equal(closed.kind === "exited" && closed.code, 0);
  });

  it("may have longer than any timer can wait", async () => {
    const timeoutMs = 30 * 24 * 3_600_000;
    const exit = await spawnBounded({ ...options, timeoutMs, argv: ["sleep", "0.2"] });
    assert.deepEqual(exit.kind === "exited" && [exit.code, exit.timedOut], [0, false]);
  });

  it("is an error where its words cannot be arguments", async () => {
    const exit = await spawnBounded({ ...options, argv: ["printf", "a\0b"] });
    assert.equal(exit.kind === "not_started" && exit.code, "ERR_INVALID_ARG_VALUE");
  });

  it("passes on a flood at a pace that can be followed", async () => {
    let passed = 0;
    let skipped = false;
    const exit = await spawnBounded({
      ...options,
      argv: ["sh", "-c", "yes 0123456789abcdef | head -c 30000000"],
      onOutput: (_stream, text) => {
        passed += text.length;
        skipped ||= text.includes("too fast to show");
      },
    });
    assert.equal(exit.kind === "exited" && exit.stdoutBytes, 30_000_000);
    assert.ok(skipped && passed < 20_000_000, `${passed}`);
  });
});
