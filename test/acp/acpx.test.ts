import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { acpxCli } from "../../scripts/acpx.js";
import type { ScriptedAnswer } from "../support/scriptedModel.js";
import { nodeForAcpx } from "./support/acpx.js";
import { AGENT, makeWorld, type World } from "./support/agent.js";

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The headless client that no one here wrote, on the built agent run by this Node. */
async function acpx(
  world: World,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Run> {
  const node = nodeForAcpx();
  const cli = await acpxCli();
  const agent = `${process.execPath} ${AGENT}`;
  return new Promise((resolve, reject) => {
    const child = spawn(node, [cli, "--agent", agent, "--cwd", world.workspace, ...args], {
      cwd: world.workspace,
      env: {
        ...world.env,
        PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ""}`,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

const WRITE: ScriptedAnswer = {
  calls: [{ id: "w1", tool: "write_file", args: { path: "made.txt", content: "made\n" } }],
};
const run = (id: string, ...argv: string[]): ScriptedAnswer => ({
  calls: [{ id, tool: "run", args: { argv } }],
});

describe("acpx, a client that no one here wrote", function () {
  this.timeout(60_000);
  let world: World;
  afterEach(() => world.dispose());

  it("asks once and prints the answer", async () => {
    world = await makeWorld(
      [
        { calls: [{ id: "r1", tool: "read_file", args: { path: "a.txt" } }] },
        { text: "It says one." },
      ],
      { "a.txt": "one\n" },
    );
    const { code, stdout, stderr } = await acpx(world, ["--format", "quiet", "exec", "Read a.txt"]);
    assert.deepEqual([code, stdout.trim()], [0, "It says one."], stderr);
  });

  it("changes nothing with every card denied", async () => {
    world = await makeWorld([WRITE, run("c1", "touch", "touched.txt"), { text: "I may not." }]);
    const { stdout } = await acpx(world, ["--deny-all", "--format", "quiet", "exec", "Make it"]);
    assert.match(stdout, /I may not\./);
    assert.equal(existsSync(join(world.workspace, "made.txt")), false);
    assert.equal(existsSync(join(world.workspace, "touched.txt")), false);
    const [session] = await world.sessions();
    const answers = (await world.log(session ?? "")).flatMap((event) =>
      event.type === "card_answered" ? [event.answer] : [],
    );
    assert.deepEqual(answers, ["deny", "deny"]);
  });

  it("lets through what is allowed, each card once", async () => {
    world = await makeWorld([WRITE, { text: "Made." }]);
    const { code, stdout, stderr } = await acpx(world, [
      "--approve-all",
      "--format",
      "json",
      "exec",
      "Make it",
    ]);
    assert.equal(code, 0, stderr);
    assert.equal(await world.file("made.txt"), "made\n");
    assert.match(stdout, /"stopReason":"end_turn"/);
    const [session] = await world.sessions();
    const answers = (await world.log(session ?? "")).flatMap((event) =>
      event.type === "card_answered" ? [event.answer] : [],
    );
    assert.deepEqual(answers, ["allow_once"]);
  });

  it("goes through with the user's file of allows and nothing else", async () => {
    world = await makeWorld([
      run("c1", "touch", "allowed.txt"),
      run("c2", "touch", "other.txt"),
      WRITE,
      { text: "Some of it." },
    ]);
    const allows = join(world.dir, "allows.json");
    await writeFile(
      allows,
      JSON.stringify([{ run: ["touch", "allowed.txt"] }, { write: "made.txt" }]),
    );
    const { stdout, stderr } = await acpx(
      world,
      ["--deny-all", "--format", "quiet", "exec", "Do it"],
      { COUNTERSIGN_ALLOWS: allows },
    );
    assert.match(stdout, /Some of it\./, stderr);
    assert.equal(existsSync(join(world.workspace, "allowed.txt")), true);
    assert.equal(existsSync(join(world.workspace, "other.txt")), false);
    assert.equal(await world.file("made.txt"), "made\n");
    const [session] = await world.sessions();
    const started = (await world.log(session ?? "")).flatMap((event) =>
      event.type === "call_started" ? [[event.call, event.by]] : [],
    );
    assert.deepEqual(started, [
      ["c1", "allow"],
      ["w1", "allow"],
    ]);
  });

  it("starts no session where the file of allows lies in the workspace", async () => {
    world = await makeWorld([{ text: "Never." }], { "allows.json": "[]" });
    const { code, stdout, stderr } = await acpx(world, ["exec", "Do it"], {
      COUNTERSIGN_ALLOWS: join(world.workspace, "allows.json"),
    });
    assert.notEqual(code, 0);
    assert.match(stdout + stderr, /inside the workspace/);
    assert.deepEqual(world.model.requests, []);
  });

  it("keeps a conversation over several runs, each of which takes the session up again", async () => {
    world = await makeWorld([{ text: "First." }, WRITE, { text: "Second." }]);
    const owner = ["--ttl", "5", "--deny-all", "--format", "quiet"];
    const made = await acpx(world, [...owner, "sessions", "new"]);
    const [session] = await world.sessions();
    assert.match(made.stdout, new RegExp(session ?? "no session"));
    const first = await acpx(world, [...owner, "prompt", "One"]);
    assert.deepEqual([first.code, first.stdout.trim()], [0, "First."], first.stderr);
    const second = await acpx(world, [...owner, "prompt", "Two"]);
    assert.match(second.stdout, /Second\./, second.stderr);
    await acpx(world, [...owner, "sessions", "close"]);
    assert.deepEqual(await world.sessions(), [session]);
    const texts = (await world.log(session ?? "")).flatMap((event) =>
      event.type === "turn_started" ? [event.text] : [],
    );
    assert.deepEqual(texts, ["One", "Two"]);
    assert.equal(existsSync(join(world.workspace, "made.txt")), false);
  });
});
