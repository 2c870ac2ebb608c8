import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "../../../scripts/process.js";
import { type ScriptedAnswer, startScriptedModel } from "../../support/scriptedModel.js";

const FIX = { path: "sum.mjs", old: "let at = 1", new: "let at = 0" };
const TURN: readonly ScriptedAnswer[] = [
  { calls: [{ tool: "read_file", args: { path: "sum.mjs" } }] },
  { calls: [{ tool: "search_replace", args: FIX }] },
  { calls: [{ tool: "run", args: { argv: [process.execPath, "sum.mjs"] } }] },
  { calls: [{ tool: "finish", args: { result: "It prints 6." } }] },
];

/** Runs the script with `answers` typed to it, and what it said. */
async function tryModel(args: readonly string[], answers: string, env: NodeJS.ProcessEnv = {}) {
  const script = ["--import=tsx", join(root, "scripts/try-model.ts"), ...args];
  const child = spawn(process.execPath, script, {
    env: { ...process.env, OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  }
  child.stdin.on("error", () => {});
  child.stdin.end(answers);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, said };
}

describe("npm run try-model", () => {
  for (const [protocol, flags, address] of [
    ["chat completions", [], "url"],
    ["Anthropic's messages", ["--anthropic"], "origin"],
  ] as const) {
    it(`runs one turn over ${protocol}, shows its cards, and ends well`, async () => {
      const model = await startScriptedModel(TURN);
      try {
        const { code, said } = await tryModel([model[address], "scripted", ...flags], "y\ny\n");
        assert.equal(code, 0, said);
        assert.match(said, /card: write .*sum\.mjs/);
        assert.match(said, /\+for \(let at = 0; /);
        assert.match(said, /card: run \[/);
        assert.match(said, /stdout:\n {2}6\n/);
        assert.match(said, /= It prints 6\./);
        assert.match(said, /The turn ended: finished\n$/);
      } finally {
        await model.close();
      }
    });
  }

  it("says what to do about a key, and does not show it", async () => {
    const model = await startScriptedModel([{ status: 401 }]);
    try {
      const key = { OPENAI_API_KEY: "sk-canary-7702ab" };
      const { code, said } = await tryModel([model.url, "scripted"], "", key);
      assert.equal(code, 1, said);
      assert.match(said, /did not accept the key.*Set the right one in OPENAI_API_KEY\./);
      assert.ok(!said.includes("canary"));
    } finally {
      await model.close();
    }
  });

  it("takes the end of its input for no answer: nothing is approved", async () => {
    const model = await startScriptedModel(TURN);
    try {
      const { code, said } = await tryModel([model.url, "scripted"], "");
      assert.equal(code, 1, said);
      assert.match(said, /the input ended while an answer was needed/);
      assert.doesNotMatch(said, /Replaced the text/);
    } finally {
      await model.close();
    }
  });

  it("without a model says how it is used", async () => {
    const { code, said } = await tryModel(["http://127.0.0.1:1/v1"], "");
    assert.equal(code, 2);
    assert.match(said, /^usage: npm run try-model -- <base url> <model>/);
  });
});
