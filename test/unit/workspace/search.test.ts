import assert from "node:assert/strict";
import { access, chmod, rename, symlink, writeFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { GREP_MATCHES } from "../../../src/core/limits.js";
import { HitReader } from "../../../src/core/workspace/hits.js";
import { issuePermit } from "../../../src/core/workspace/permit.js";
import {
  patternFault,
  type SearchOptions,
  searchFiles,
} from "../../../src/core/workspace/search.js";
import { FileChanged, ToolError, type Workspace } from "../../../src/core/workspace/types.js";
import { fifo, file, link } from "../../support/tree.js";
import { type Ground, ground, located, readPermit } from "./setup.js";

const signal = new AbortController().signal;
const SKIPPED =
  "no matches (ignored, hidden and binary files were not searched; with all: true, ignored and hidden ones are)";

async function grep(tree: Ground, options: Partial<SearchOptions>, given = "."): Promise<string> {
  const permit = await readPermit(tree.workspace, given);
  const wanted = { pattern: "needle", ...options };
  const result = await searchFiles(permit, tree.workspace, wanted, { signal });
  if (result instanceof FileChanged) throw new Error("changed");
  return result instanceof ToolError ? `error: ${result.message}` : result.text;
}

describe("a search", () => {
  it("gives path, line and text, relative to the workspace, sorted", async () => {
    const tree = await ground({
      "b.txt": "x\nneedle 1\r\nneedle 2\n",
      src: { "a.ts": "a needle" },
    });
    assert.equal(await grep(tree, {}), "b.txt:2:needle 1\nb.txt:3:needle 2\nsrc/a.ts:1:a needle");
    assert.equal(await grep(tree, {}, "src"), "src/a.ts:1:a needle");
    assert.equal(await grep(tree, {}, "b.txt"), "b.txt:2:needle 1\nb.txt:3:needle 2");
    assert.equal(await grep(tree, { glob: "*.ts" }), "src/a.ts:1:a needle");
    assert.equal(await grep(tree, { pattern: "NEEDLE" }), SKIPPED);
    assert.equal(
      await grep(tree, { pattern: "NEEDLE", ignoreCase: true }, "src"),
      "src/a.ts:1:a needle",
    );
    assert.equal(await grep(tree, { pattern: "needle.1$" }), "b.txt:2:needle 1");
    assert.equal(await grep(tree, { pattern: "needle.1", literal: true }), SKIPPED);
  });

  it("names the absolute path outside of the workspace", async () => {
    const tree = await ground({}, { outside: { f: "needle" } });
    const f = tree.at("outside", "f");
    assert.equal(await grep(tree, {}, tree.at("outside")), `${f}:1:needle`);
    assert.equal(await grep(tree, {}, f), `${f}:1:needle`);
  });

  it("skips what is ignored, hidden or binary, says so, and takes it with all, never .git", async () => {
    const tree = await ground({
      ".git": { config: "needle", HEAD: "ref: refs/heads/main\n" },
      ".gitignore": "scripts/*\n",
      ".github": { "x.yml": "needle" },
      scripts: { "w.py": "needle" },
      bin: "needle\0",
    });
    assert.equal(await grep(tree, {}), SKIPPED);
    assert.equal(await grep(tree, {}, "scripts/"), SKIPPED);
    assert.equal(await grep(tree, {}, "scripts/w.py"), "scripts/w.py:1:needle");
    const all = ".github/x.yml:1:needle\nscripts/w.py:1:needle";
    assert.equal(await grep(tree, { all: true }), all);
    assert.equal(await grep(tree, { all: true, glob: "**/*" }), all);
    assert.equal(await grep(tree, { all: true, glob: ".git/**" }), "no matches");
    assert.match(await grep(tree, {}, ".git"), /^error: grep leaves \.git out/);
    assert.match(await grep(tree, {}, ".git/config"), /^error: grep leaves \.git out/);
    assert.equal(await grep(tree, { all: true, pattern: "nothing" }), "no matches");
  });

  it("does not follow links and is not held up by a pipe", async () => {
    const tree = await ground(
      {
        src: {
          p: fifo(),
          "ok.txt": "needle",
          out: link("../../outside"),
          o: link("../../outside/f"),
        },
      },
      { outside: { f: "needle" } },
    );
    const began = performance.now();
    assert.equal(await grep(tree, {}), "src/ok.txt:1:needle");
    assert.equal(await grep(tree, { all: true }), "src/ok.txt:1:needle");
    assert.match(await grep(tree, {}, "src/p"), /not a regular file \(it is a pipe\)/);
    assert.ok(performance.now() - began < 5000);
  });

  it("takes any pattern for a pattern", async () => {
    const tree = await ground({
      "payload.sh": file("#!/bin/sh\ntouch PWNED\n", 0o755),
      f: "--help\n--version\n-1\n-f/etc/passwd\n--pre=x\n",
    });
    for (const [pattern, line] of [
      ["--help", 1],
      ["--version", 2],
      ["-1", 3],
      ["-f/etc/passwd", 4],
      ["--pre=x", 5],
    ] as const) {
      assert.equal(await grep(tree, { pattern }), `f:${line}:${pattern}`);
    }
    assert.equal(await grep(tree, { pattern: `--pre=${tree.at("ws", "payload.sh")}` }), SKIPPED);
    assert.equal(await grep(tree, { glob: `--pre=${tree.at("ws", "payload.sh")}` }), SKIPPED);
    await assert.rejects(access(tree.at("ws", "PWNED")));
  });

  it("obeys no configuration file of ripgrep's", async () => {
    const tree = await ground({ f: "Needle", conf: "--ignore-case\n" });
    const workspace: Workspace = {
      ...tree.workspace,
      env: { ...tree.workspace.env, RIPGREP_CONFIG_PATH: tree.at("ws", "conf") },
    };
    assert.equal(await grep({ ...tree, workspace }, {}), SKIPPED);
  });

  it("keeps names with colons, and shows odd ones escaped", async () => {
    const tree = await ground({
      "a:52:b.txt": "x:9:needle\n",
      "g.txt": Buffer.from("needle \xd6\xd0\n", "latin1"),
      "x\x1b[31m.txt": "needle",
      "a\nb": "needle",
      "t.txt": "\tneedle \x1b[31m \u202e",
    });
    await writeFile(Buffer.from(`${tree.at("ws")}/caf\xe9.txt`, "latin1"), "needle");
    assert.deepEqual((await grep(tree, {})).split("\n"), [
      '"a\\nb":1:needle',
      "a:52:b.txt:1:x:9:needle",
      '"caf\\xE9.txt":1:needle',
      "g.txt:1:needle \ufffd\ufffd",
      "t.txt:1:\tneedle \\u001b[31m \\u202e",
      '"x\\u001b[31m.txt":1:needle',
    ]);
  });

  it("shows 500 characters of a line, and of a longer one those around the match", async () => {
    const exact = `${"x".repeat(494)}needle`;
    const tree = await ground({ a: exact, b: `${exact}y`, c: `${"x".repeat(1_000_000)}NEEDLE` });
    assert.equal(await grep(tree, {}, "a"), `a:1:${exact}`);
    assert.equal(await grep(tree, {}, "b"), `b:1:[...]${"x".repeat(493)}needley`);
    assert.equal(await grep(tree, { pattern: "NEEDLE" }), `c:1:[...]${"x".repeat(494)}NEEDLE`);
    const mid = await ground({ m: `${"\ud83d\ude00".repeat(400)}needle${"\u6f22".repeat(400)}` });
    const shown = (await grep(mid, {})).replace(/^m:1:/, "");
    assert.equal(shown, `[...]${"\ud83d\ude00".repeat(124)}needle${"\u6f22".repeat(246)}[...]`);
    assert.match(shown, /needle/);
    assert.doesNotMatch(shown, /\p{Cs}/u);
  });

  it("keeps no more of a long line in memory than it shows", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const reader = new HitReader();
    const text = `${"x".repeat(500_000)}needle${"y".repeat(500_000)}\n`;
    const submatches = [{ start: 500_000, end: 500_006 }];
    const data = { path: { text: "f" }, lines: { text }, line_number: 1, submatches };
    const line = Buffer.from(JSON.stringify({ type: "match", data }));
    collect();
    const before = process.memoryUsage().heapUsed;
    const hits = Array.from({ length: 50 }, () => reader.read(line));
    collect();
    assert.ok(process.memoryUsage().heapUsed - before < 10_000_000);
    assert.equal(hits.at(-1)?.text.length, 510);
  });

  it("stops after 20 s where nothing else is said", async () => {
    const tree = await ground({ slow: file("#!/bin/sh\nexec sleep 300\n", 0o755) });
    const waits: (number | undefined)[] = [];
    const own = globalThis.setTimeout;
    globalThis.setTimeout = ((run: () => void, ms?: number) => {
      waits.push(ms);
      return own(run, 0);
    }) as typeof setTimeout;
    try {
      const workspace = { ...tree.workspace, ripgrep: async () => tree.at("ws", "slow") };
      const found = await searchFiles(
        await readPermit(workspace, "."),
        workspace,
        { pattern: "x" },
        { signal },
      );
      assert.match("text" in found ? found.text : "", /^\[stopped after 20 s: this is what/);
    } finally {
      globalThis.setTimeout = own;
    }
    assert.deepEqual(waits, [20_000]);
  });

  it("takes no options from a file that the environment names", async () => {
    const tree = await ground({ ".hidden": "needle" }, { config: "--hidden\n" });
    const env = { ...tree.workspace.env, RIPGREP_CONFIG_PATH: tree.at("config") };
    assert.equal(await grep({ ...tree, workspace: { ...tree.workspace, env } }, {}), SKIPPED);
  });

  it("tells nothing of a file outside that a link makes an ignore file", async () => {
    const tree = await ground(
      { f: "needle", ".ignore": link("../secret") },
      { secret: "SECRET{\n" },
    );
    assert.equal(await grep(tree, {}), "f:1:needle");
  });

  it("shows no hit of a directory that became a link, nor of one that was moved, meanwhile", async () => {
    const match = (path: string): string =>
      ["begin", "match"]
        .map((type) => {
          const lines = { text: "needle SECRET\n" };
          const hit = { path: { text: path }, lines, line_number: 1, submatches: [] };
          return `printf '%s\\n' '${JSON.stringify({ type, data: hit })}'\n`;
        })
        .join("");
    const scripted = async (does: string, given: string) => {
      const tree = await ground({ d: { f: "x" } }, { outside: { f: "needle SECRET" } });
      await writeFile(tree.at("rg"), `#!/bin/sh\n${does}`, { mode: 0o755 });
      const workspace = { ...tree.workspace, ripgrep: async () => tree.at("rg") };
      const permit = await readPermit(workspace, given);
      return searchFiles(permit, workspace, { pattern: "needle" }, { signal });
    };
    const linked = `rm -r d; ln -s ../outside d; ${match("./d/f")}`;
    assert.deepEqual(await scripted(linked, "."), { ok: true, text: SKIPPED });
    const moved = await scripted(`mv ../d ../e; ${match("./f")}`, "d");
    assert.ok(moved instanceof FileChanged);
  });

  it("says so of a pattern that no command line takes", async () => {
    const tree = await ground({ f: "x" });
    assert.equal(
      await grep(tree, { pattern: "x".repeat(2_000_000) }),
      "error: pattern or glob is too long for ripgrep. Give a shorter one.",
    );
    const early = await patternFault(tree.workspace, { pattern: "x".repeat(2_000_000) }, signal);
    assert.match(early?.message ?? "", /too long for ripgrep/);
  });

  it("says where a match is in a line that is too long for memory", async () => {
    const tree = await ground({ big: `${"x".repeat(9_000_000)}needle${"x".repeat(100)}\n` });
    assert.equal(
      await grep(tree, {}),
      "big:1:[a line too long to show: read_file from offset 9000000]",
    );
  });

  it(`gives ${GREP_MATCHES} matches whole, and of more the first and that there are more`, async () => {
    const lines = (count: number) => "needle\n".repeat(count);
    const tree = await ground({ exact: lines(200), over: lines(201), many: lines(200_000) });
    const exact = (await grep(tree, {}, "exact")).split("\n");
    assert.equal(exact.length, 200);
    assert.equal(exact.at(-1), "exact:200:needle");
    for (const name of ["over", "many"]) {
      const found = (await grep(tree, {}, name)).split("\n");
      assert.equal(found.length, 201);
      assert.equal(
        found.at(-1),
        "[the first 200 matches; there are more. Narrow the pattern, the path or the glob]",
      );
    }
  });

  it("gives ripgrep's own words for a broken pattern or glob", async () => {
    const tree = await ground({ f: "x" });
    assert.match(
      await grep(tree, { pattern: "(" }),
      /^error: rg: regex parse error:[\s\S]*unclosed group/,
    );
    assert.match(await grep(tree, { glob: "[" }), /^error: rg: error parsing glob/);
    assert.match(
      await grep(tree, { pattern: "a\0b" }),
      /^error: pattern and glob may not hold a NUL/,
    );
    assert.match(await grep(tree, { pattern: "" }), /^error: pattern is empty/);
    const fault = (pattern: string) => patternFault(tree.workspace, { pattern }, signal);
    assert.match((await fault("("))?.message ?? "", /unclosed group/);
    assert.equal(await fault("x"), undefined);
  });

  it("says so where ripgrep is not there or cannot be started", async () => {
    const tree = await ground({ f: "x" });
    const missing = new ToolError("no ripgrep here");
    const without = (ripgrep: Workspace["ripgrep"]) => ({
      ...tree,
      workspace: { ...tree.workspace, ripgrep },
    });
    assert.equal(
      await grep(
        without(async () => missing),
        {},
      ),
      "error: no ripgrep here",
    );
    assert.match(
      await grep(
        without(async () => tree.at("none")),
        {},
      ),
      /ripgrep could not be started: .*ENOENT/,
    );
  });

  it("stops after its time and says so, with what was found until then", async () => {
    const tree = await ground({
      slow: file(
        '#!/bin/sh\nprintf \'%s\\n\' \'{"type":"begin","data":{"path":{"text":"./f"}}}\'\nprintf \'%s\\n\' \'{"type":"match","data":{"path":{"text":"./f"},"lines":{"text":"needle\\n"},"line_number":1,"submatches":[{"start":0,"end":6}]}}\'\nexec sleep 60\n',
        0o755,
      ),
      f: "needle",
    });
    const workspace = { ...tree.workspace, ripgrep: async () => tree.at("ws", "slow") };
    const result = await searchFiles(
      await readPermit(workspace, "."),
      workspace,
      { pattern: "needle" },
      { signal, timeoutMs: 1500 },
    );
    assert.deepEqual(result, {
      ok: true,
      text: "f:1:needle\n[stopped after 20 s: this is what was found until then. Narrow the path or the glob]",
    });
    const stop = new AbortController();
    const cancelled = searchFiles(
      await readPermit(workspace, "."),
      workspace,
      { pattern: "needle" },
      { signal: stop.signal },
    );
    stop.abort();
    assert.deepEqual(await cancelled, new ToolError("The search was cancelled."));
  });

  it("names paths that could not be read after the hits", async () => {
    const tree = await ground({ a: "needle", closed: { b: "needle" } });
    await chmod(tree.at("ws", "closed"), 0);
    const script = await ground({
      rg: file(
        `#!/bin/sh\necho 'rg: ./closed: Permission denied (os error 13)' >&2\nexec "$RG" "$@"\n`,
        0o755,
      ),
    });
    const real = await tree.workspace.ripgrep();
    if (real instanceof ToolError) throw new Error(real.message);
    const workspace = {
      ...tree.workspace,
      env: { ...tree.workspace.env, RG: real },
      ripgrep: async () => script.at("ws", "rg"),
    };
    const text = await grep({ ...tree, workspace }, { glob: "a" });
    await chmod(tree.at("ws", "closed"), 0o755);
    assert.equal(text.split("\n")[0], "a:1:needle");
    assert.match(text, /\[could not be read:\nclosed: Permission denied \(os error 13\)/);
  });

  it("does not search through a directory that became a link", async () => {
    for (const given of ["d", "d/f"]) {
      const tree = await ground({ d: { f: "inside" } }, { outside: { f: "needle SECRET" } });
      const permit = issuePermit<"read">({
        kind: "read",
        call: "c",
        path: await located(tree.workspace, given),
      });
      let swapped = false;
      const beforeOpen = async () => {
        if (swapped) return;
        swapped = true;
        await rename(tree.at("ws", "d"), tree.at("ws", "gone"));
        await symlink("../outside", tree.at("ws", "d"));
      };
      const result = await searchFiles(
        permit,
        tree.workspace,
        { pattern: "needle" },
        { signal, moments: { beforeOpen } },
      );
      assert.deepEqual(result, new FileChanged(tree.at("ws", given)));
    }
  });
});
