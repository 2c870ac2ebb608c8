import assert from "node:assert/strict";
import { readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import net from "node:net";
import type { Prepared } from "../../../src/core/gate/prepared.js";
import {
  ASK_OPTION_CHARS,
  ASK_OPTIONS,
  PROMPT_BYTES,
  REPLACED_BYTES,
  RUN_TIMEOUT_MAX_S,
  WRITE_BYTES,
} from "../../../src/core/limits.js";
import { findTool, parseArgs, toolSpecs, tools } from "../../../src/core/tools/index.js";
import type { Tool, ToolContext } from "../../../src/core/tools/tool.js";
import { digest } from "../../../src/core/workspace/digest.js";
import { issuePermit, type Permit } from "../../../src/core/workspace/permit.js";
import { FileChanged, ToolError } from "../../../src/core/workspace/types.js";
import { fifo, file, harvest, link } from "../../support/tree.js";
import { type Ground, ground } from "../workspace/setup.js";

function contextOf(tree: Ground): ToolContext {
  return {
    workspace: tree.workspace,
    signal: new AbortController().signal,
    onOutput: () => {},
    turn: {
      ask: async (question, options) => `${question} ${options?.join("|") ?? "-"}`,
      finish: async (result) => ({ ok: true, text: `finished: ${result}` }),
      useSkill: async (name) => ({ ok: false, text: `no skill ${name}` }),
    },
  };
}

const options = (count: number, each: string): string[] => new Array<string>(count).fill(each);

function toolNamed(name: string): Tool {
  const tool = findTool(name);
  if (tool instanceof ToolError) throw new Error(tool.message);
  return tool;
}

/** The permit that the gate would make for what was prepared. */
function permitFor(prepared: Prepared): Permit | undefined {
  if (prepared.kind === "free") return undefined;
  const call = "c";
  if (prepared.kind === "run") {
    const { argv, timeout } = prepared;
    return issuePermit<"run">({ kind: "run", call, argv, timeout }) as unknown as Permit;
  }
  const { path } = prepared;
  if (prepared.kind === "read")
    return issuePermit<"read">({ kind: "read", call, path }) as unknown as Permit;
  const { before, after } = prepared;
  return issuePermit<"write">({
    kind: "write",
    call,
    path,
    before: before.digest,
    after: digest(after),
    mark: "0123456789abcdef",
  }) as unknown as Permit;
}

async function prepare(tree: Ground, name: string, args: unknown): Promise<Prepared | ToolError> {
  const tool = toolNamed(name);
  const parsed = parseArgs(tool, args);
  return parsed instanceof ToolError ? parsed : tool.prepare(parsed, contextOf(tree));
}

/** A whole call that everyone lets through; text of the result, marked where it is an error. */
async function call(tree: Ground, name: string, args: unknown): Promise<string> {
  const prepared = await prepare(tree, name, args);
  if (prepared instanceof ToolError) return `not prepared: ${prepared.message}`;
  const result = await toolNamed(name).execute(
    args,
    prepared,
    permitFor(prepared),
    contextOf(tree),
  );
  if (result instanceof FileChanged) return `changed: ${result.path}`;
  return result instanceof ToolError ? `error: ${result.message}` : result.text;
}

describe("the tools", () => {
  it("are these nine", () => {
    assert.deepEqual(
      tools.map((tool) => tool.name),
      [
        "read_file",
        "grep",
        "list_dir",
        "search_replace",
        "write_file",
        "run",
        "ask",
        "finish",
        "use_skill",
      ],
    );
  });

  it("are told to the model in schemas of objects, within their share of the prompt", () => {
    const specs = toolSpecs();
    for (const { name, description, parameters } of specs) {
      assert.equal(parameters.type, "object", name);
      assert.equal(parameters.additionalProperties, false, name);
      assert.ok(description.length > 20, name);
    }
    assert.ok(JSON.stringify(specs).length < Math.min(7000, PROMPT_BYTES));
    assert.deepEqual(specs[0]?.parameters, {
      type: "object",
      properties: {
        path: { type: "string" },
        offset: { type: "integer", minimum: 0, description: "bytes, from 0" },
        line: { type: "integer", minimum: 1, description: "from 1" },
      },
      required: ["path"],
      additionalProperties: false,
    });
  });

  it("that are not there are answered with those that are", () => {
    const found = findTool("readFile");
    assert.equal(
      found instanceof ToolError && found.message,
      'There is no tool named "readFile". The tools are: read_file, grep, list_dir, search_replace, write_file, run, ask, finish, use_skill.',
    );
  });

  const wrong: [string, unknown, RegExp][] = [
    ["read_file", {}, /read_file: path: /],
    ["read_file", { path: 1 }, /path: .*string/],
    ["read_file", { path: "a", offset: -1 }, /offset: /],
    ["read_file", { path: "a", offset: 0.5 }, /offset: /],
    ["read_file", { path: "a", line: 0 }, /line: /],
    ["read_file", { path: "a", line: 1, offset: 1 }, /offset: give offset or line, not both/],
    ["read_file", { path: "a", limit: 3 }, /"limit"/],
    ["read_file", null, /object/],
    ["grep", { pattern: ["x"] }, /pattern: /],
    ["grep", { pattern: "x", all: "yes" }, /all: /],
    ["list_dir", { path: null }, /path: /],
    ["search_replace", { path: "a", old: "x" }, /new: /],
    ["write_file", { path: "a" }, /content: /],
    ["run", { argv: "ls -l" }, /argv: .*array/],
    ["run", { argv: ["ls", 1] }, /argv\[1\]: /],
    ["run", { argv: ["ls"], timeout: 0 }, /timeout: /],
    ["run", { argv: ["ls"], timeout: RUN_TIMEOUT_MAX_S + 1 }, /timeout: .*600/],
    ["run", { argv: ["ls"], timeout: 1.5 }, /timeout: /],
    ["ask", { question: "" }, /question: /],
    ["ask", { question: "q", options: options(ASK_OPTIONS + 1, "o") }, /options: .*10/],
    ["ask", { question: "q", options: ["o".repeat(ASK_OPTION_CHARS + 1)] }, /options\[0\]: .*200/],
    ["finish", {}, /result: /],
    ["use_skill", {}, /name: /],
  ];
  for (const [name, args, message] of wrong) {
    it(`say what is wrong with ${name} ${JSON.stringify(args)}`, () => {
      const parsed = parseArgs(toolNamed(name), args);
      assert.match(parsed instanceof ToolError ? parsed.message : "", message);
    });
  }

  it("act on the turn through its port alone, and need no permit for that", async () => {
    const tree = await ground({});
    assert.deepEqual(await prepare(tree, "ask", { question: "q" }), { kind: "free", tool: "ask" });
    assert.equal(await call(tree, "ask", { question: "q", options: ["a", "b"] }), "q a|b");
    const most = options(ASK_OPTIONS, "o".repeat(ASK_OPTION_CHARS));
    assert.equal(await call(tree, "ask", { question: "q", options: most }), `q ${most.join("|")}`);
    assert.equal(await call(tree, "finish", { result: "r" }), "finished: r");
    assert.equal(await call(tree, "use_skill", { name: "n" }), "no skill n");
  });

  it("do nothing without the permit for it", async () => {
    const tree = await ground({ f: "old" });
    const prepared = await prepare(tree, "write_file", { path: "f", content: "new" });
    if (prepared instanceof ToolError) throw new Error(prepared.message);
    const read = await prepare(tree, "read_file", { path: "f" });
    if (read instanceof ToolError) throw new Error(read.message);
    const tool = toolNamed("write_file");
    for (const permit of [undefined, permitFor(read)]) {
      await assert.rejects(
        async () => tool.execute({}, prepared, permit, contextOf(tree)),
        /without its permit/,
      );
    }
    assert.deepEqual(await harvest(tree.at("ws")), { f: "old" });
  });
});

describe("reads", () => {
  it("go through in the workspace", async () => {
    const tree = await ground({ f: "one\ntwo\n", d: { g: "two" } });
    assert.equal(await call(tree, "read_file", { path: "f" }), "one\ntwo\n");
    assert.equal(await call(tree, "read_file", { path: "f", line: 2 }), "two\n");
    assert.equal(await call(tree, "grep", { pattern: "two" }), "d/g:1:two\nf:2:two");
    assert.equal(
      await call(tree, "grep", { pattern: "TWO", ignore_case: true, path: "d" }),
      "d/g:1:two",
    );
    assert.equal(await call(tree, "list_dir", {}), "d/\nf (8 bytes)");
  });

  it("that would fail inside fail before they are decided on", async () => {
    const tree = await ground({ f: "x", d: {}, p: fifo() });
    assert.match(
      await call(tree, "read_file", { path: "none" }),
      /^not prepared: none is not there/,
    );
    assert.match(
      await call(tree, "read_file", { path: "d" }),
      /^not prepared: d is a directory, not a file; list_dir/,
    );
    assert.match(
      await call(tree, "read_file", { path: "p" }),
      /^not prepared: p is not a regular file/,
    );
    assert.match(
      await call(tree, "list_dir", { path: "f" }),
      /^not prepared: f is not a directory; read_file/,
    );
    assert.match(
      await call(tree, "grep", { pattern: "x", path: "none" }),
      /^not prepared: none is not there/,
    );
    assert.match(
      await call(tree, "read_file", { path: "../x" }),
      /^not prepared: .*leads out of the workspace/,
    );
    assert.match(await call(tree, "read_file", { path: "a\0b" }), /^not prepared: .*NUL/);
    assert.match(await call(tree, "grep", { pattern: "a\0b" }), /^not prepared: .*NUL/);
  });

  it("outside tell nothing before they are allowed, whatever is there", async () => {
    const tree = await ground({}, { outside: { f: "x", d: {}, p: fifo() } });
    for (const name of ["f", "d", "p", "none"]) {
      const given = tree.at("outside", name);
      for (const tool of ["read_file", "list_dir", "grep"]) {
        const args = tool === "grep" ? { path: given, pattern: "x" } : { path: given };
        assert.deepEqual(await prepare(tree, tool, args), {
          kind: "read",
          tool,
          path: { kind: "outside", given, real: given },
        });
      }
    }
    assert.match(
      await call(tree, "read_file", { path: tree.at("outside", "none") }),
      /^error: .*none is not there/,
    );
    assert.match(
      await call(tree, "grep", { path: tree.at("outside"), pattern: "(" }),
      /^not prepared: .*unclosed group/s,
    );
  });
});

describe("writes", () => {
  it("say what was written: the path, bytes and lines", async () => {
    const tree = await ground({ f: "one\ntwo" }, { outside: {} });
    assert.equal(
      await call(tree, "write_file", { path: "new/g", content: "a\nb" }),
      "Created new/g: 3 bytes, 2 lines.",
    );
    assert.equal(
      await call(tree, "write_file", { path: "f", content: "x\n" }),
      "Replaced f: 2 bytes, 1 line.",
    );
    assert.equal(
      await call(tree, "write_file", { path: "f", content: "" }),
      "Replaced f: 0 bytes, 0 lines.",
    );
    assert.equal(
      await call(tree, "search_replace", { path: "new/g", old: "a", new: "$&" }),
      "Replaced the text in new/g: 4 bytes, 2 lines.",
    );
    const outside = tree.at("outside", "o");
    assert.equal(
      await call(tree, "write_file", { path: outside, content: "o" }),
      `Created ${outside}: 1 byte, 1 line.`,
    );
    assert.deepEqual(await harvest(tree.at()), {
      outside: { o: "o" },
      ws: { f: "", new: { g: "$&\nb" } },
    });
  });

  it("are prepared with every byte, before and after, and nothing has happened", async () => {
    const tree = await ground({
      "CLAUDE.md": link("AGENTS.md"),
      "AGENTS.md": file("old\n", 0o644),
    });
    assert.deepEqual(
      await prepare(tree, "search_replace", { path: "CLAUDE.md", old: "old", new: "new" }),
      {
        kind: "write",
        tool: "search_replace",
        path: {
          kind: "inside",
          given: "CLAUDE.md",
          real: tree.at("ws", "AGENTS.md"),
          relative: "AGENTS.md",
        },
        before: {
          bytes: Buffer.from("old\n"),
          digest: digest(Buffer.from("old\n")),
          mode: 0o644,
          links: 1,
        },
        after: Buffer.from("new\n"),
      },
    );
    assert.deepEqual(await harvest(tree.at("ws")), {
      "AGENTS.md": "old\n",
      "CLAUDE.md": "-> AGENTS.md",
    });
  });

  it("keep one byte order mark", async () => {
    const tree = await ground({ f: "\ufeffhello\n" });
    await call(tree, "search_replace", { path: "f", old: "hello", new: "hello2" });
    assert.equal(await readFile(tree.at("ws", "f"), "utf8"), "\ufeffhello2\n");
    await call(tree, "write_file", { path: "f", content: "\ufeffx" });
    assert.equal(await readFile(tree.at("ws", "f"), "utf8"), "\ufeffx");
  });

  it("that cannot be made inside fail before a card", async () => {
    const tree = await ground(
      { f: "a\n", ro: file("x", 0o444), d: { x: "" }, p: fifo(), out: link("../outside") },
      { outside: {} },
    );
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(tree.at("ws", "s"), resolve));
    const { mtimeMs } = await stat(tree.at("ws", "f"));
    const failing: [string, object, RegExp][] = [
      ["search_replace", { path: "f", old: "", new: "X" }, /old is empty/],
      ["search_replace", { path: "f", old: "a", new: "a" }, /identical/],
      ["search_replace", { path: "f", old: "z", new: "a" }, /^not prepared: f: old was not found/],
      ["search_replace", { path: "none", old: "z", new: "a" }, /none is not there; write_file/],
      ["search_replace", { path: "ro", old: "x", new: "a" }, /read-only \(mode 0444\)/],
      ["search_replace", { path: "d", old: "x", new: "a" }, /is a directory/],
      ["search_replace", { path: "p", old: "x", new: "a" }, /is not a regular file/],
      ["search_replace", { path: "s", old: "x", new: "a" }, /is not a regular file/],
      ["search_replace", { path: "out/f", old: "x", new: "a" }, /leads out of the workspace/],
      ["write_file", { path: "ro", content: "a" }, /read-only \(mode 0444\)/],
      ["write_file", { path: "d", content: "a" }, /is a directory/],
      ["write_file", { path: "p", content: "a" }, /is not a regular file/],
      ["write_file", { path: "out/new/f", content: "a" }, /leads out of the workspace/],
      ["write_file", { path: "~/notes", content: "a" }, /"~" is not expanded/],
      ["write_file", { path: "f", content: "a\n" }, /exactly this content already/],
      ["write_file", { path: "f", content: "\ud800" }, /half of a surrogate pair/],
    ];
    const was = await harvest(tree.at());
    for (const [name, args, message] of failing) {
      const said = await call(tree, name, args);
      assert.match(said, /^not prepared: /);
      assert.match(said, message);
    }
    assert.deepEqual(await harvest(tree.at()), was);
    server.close();
    assert.equal((await stat(tree.at("ws", "f"))).mtimeMs, mtimeMs);
  });

  it("that cannot be made outside ask for the read, and only then say why", async () => {
    const tree = await ground({}, { outside: { f: "x", d: {} } });
    const f = tree.at("outside", "f");
    const args = { path: f, old: "z", new: "y" };
    const prepared = await prepare(tree, "search_replace", args);
    if (prepared instanceof ToolError || prepared.kind !== "read") throw new Error("not a read");
    assert.deepEqual(prepared.path, { kind: "outside", given: f, real: f });
    assert.match(prepared.fails?.message ?? "", /old was not found/);
    assert.match(await call(tree, "search_replace", args), /^error: .*old was not found/);
    const none = { path: tree.at("outside", "none"), old: "z", new: "y" };
    assert.match(await call(tree, "search_replace", none), /^error: .*none is not there/);
    assert.match(
      await call(tree, "write_file", { path: tree.at("outside", "d"), content: "" }),
      /^error: .*is a directory/,
    );
  });

  it(`take content of ${WRITE_BYTES} bytes, and not one more`, async () => {
    const tree = await ground({});
    const exact = "\u20ac".repeat(WRITE_BYTES / 4) + "x".repeat(WRITE_BYTES / 4);
    assert.match(await call(tree, "write_file", { path: "f", content: exact }), /262144 bytes/);
    assert.match(
      await call(tree, "write_file", { path: "g", content: `${exact}y` }),
      /^not prepared: content has 262145 bytes/,
    );
    assert.match(
      await call(tree, "search_replace", { path: "f", old: "\u20acx", new: "yx" }),
      /^Replaced/,
    );
    await writeFile(tree.at("ws", "big"), `${"x".repeat(WRITE_BYTES)}y`);
    assert.match(
      await call(tree, "search_replace", { path: "big", old: "y", new: "" }),
      /^not prepared: big has 262145 bytes, and at most 262144/,
    );
  });

  it(`replace files of up to ${REPLACED_BYTES} bytes, and none larger`, async () => {
    const tree = await ground({
      f: Buffer.alloc(REPLACED_BYTES),
      g: Buffer.alloc(REPLACED_BYTES + 1),
    });
    assert.equal(
      await call(tree, "write_file", { path: "f", content: "x" }),
      "Replaced f: 1 byte, 1 line.",
    );
    assert.match(
      await call(tree, "write_file", { path: "g", content: "x" }),
      /^not prepared: g has 16777217 bytes/,
    );
  });

  it("are made anew where the file or the way to it changed", async () => {
    const tree = await ground({ f: "old", d: { f: "old" } }, { outside: {} });
    for (const [given, change] of [
      ["f", () => writeFile(tree.at("ws", "f"), "odd")],
      [
        "d/f",
        async () => {
          await rm(tree.at("ws", "d"), { recursive: true });
          await symlink("../outside", tree.at("ws", "d"));
        },
      ],
      ["n", () => writeFile(tree.at("ws", "n"), "theirs")],
    ] as const) {
      const args = { path: given, content: "new" };
      const prepared = await prepare(tree, "write_file", args);
      if (prepared instanceof ToolError) throw new Error(prepared.message);
      await change();
      const outcome = await toolNamed("write_file").execute(
        args,
        prepared,
        permitFor(prepared),
        contextOf(tree),
      );
      assert.deepEqual(outcome, new FileChanged(tree.at("ws", given)));
    }
    assert.deepEqual(await harvest(tree.at()), {
      outside: {},
      ws: { d: "-> ../outside", f: "odd", n: "theirs" },
    });
  });
});

describe("commands", () => {
  it("are prepared as they are, with the default time", async () => {
    const tree = await ground({});
    assert.deepEqual(await prepare(tree, "run", { argv: ["ls", "-l"] }), {
      kind: "run",
      tool: "run",
      argv: ["ls", "-l"],
      timeout: 120,
    });
    for (const timeout of [1, RUN_TIMEOUT_MAX_S]) {
      assert.deepEqual(await prepare(tree, "run", { argv: ["ls"], timeout }), {
        kind: "run",
        tool: "run",
        argv: ["ls"],
        timeout,
      });
    }
    assert.match(
      await call(tree, "run", { argv: ["printf", "[%s]", "", "a b"] }),
      /stdout:\n\[\]\[a b\]$/,
    );
  });

  it("that cannot be started at all fail before a card", async () => {
    const tree = await ground({});
    assert.match(await call(tree, "run", { argv: [] }), /^not prepared: argv is empty/);
    assert.match(await call(tree, "run", { argv: [""] }), /^not prepared: argv is empty/);
    assert.match(
      await call(tree, "run", { argv: ["printf", "a\0b"] }),
      /^not prepared: argv\[1\] holds a NUL/,
    );
    assert.match(
      await call(tree, "run", { argv: ["cat config.yaml"] }),
      /^error: .*argv must be split/,
    );
  });
});
