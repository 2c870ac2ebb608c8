import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ACPX_VERSION, acpxCli } from "../../scripts/acpx.js";
import { readAllows } from "../../src/acp/allows.js";
import { SettingsFile } from "../../src/acp/settings.js";
import type { Script } from "../support/scriptedModel.js";
import { nodeForAcpx } from "./support/acpx.js";
import { AGENT, makeWorld, type World } from "./support/agent.js";

const text = readFileSync(fileURLToPath(new URL("../../docs/acp.md", import.meta.url)), "utf8");

/** The n-th code block in a language, as it is printed. */
function blocks(language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(
    ([, block = ""]) => block,
  );
}

/** What of a line of the document is another on each machine. */
const PLACES = {
  agent: "/path/to/countersign/dist/acp.js",
  allows: "/etc/countersign/allows.json",
  acpx: `npx acpx@${ACPX_VERSION}`,
};

/** A command of the document, run as it is printed but for `PLACES`. */
async function run(
  world: World,
  command: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const node = nodeForAcpx();
  const line = command
    .replaceAll(PLACES.acpx, `${node} ${await acpxCli()}`)
    .replaceAll(PLACES.agent, AGENT)
    .replaceAll(PLACES.allows, join(world.dir, "allows.json"));
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", line], {
      cwd: world.workspace,
      env: { ...world.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ""}` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (data: string) => {
      stdout += data;
    });
    child.stderr.setEncoding("utf8").on("data", (data: string) => {
      stderr += data;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

describe("what docs/acp.md tells a reader to type", function () {
  this.timeout(60_000);
  const shell = blocks("sh");
  const json = blocks("json").map((block) => JSON.parse(block) as Record<string, unknown>);
  let world: World;
  afterEach(() => world.dispose());

  /** A session of the model's that tries whatever the document's file of allows is about, and more. */
  const script: Script = [
    {
      calls: [
        { id: "c1", tool: "run", args: { argv: ["npm", "test"] } },
        { id: "w1", tool: "write_file", args: { path: "CHANGELOG.md", content: "new\n" } },
        { id: "r1", tool: "read_file", args: { path: "/etc/hostname" } },
        { id: "c2", tool: "run", args: { argv: ["npm", "test", "--", "x"] } },
        { id: "w2", tool: "write_file", args: { path: "README.md", content: "new\n" } },
        { id: "r2", tool: "read_file", args: { path: "/etc/passwd" } },
        { id: "r3", tool: "read_file", args: { path: "package.json" } },
      ],
    },
    { text: "That is all." },
  ];
  const files = {
    "package.json": '{ "scripts": { "test": "touch tested" } }\n',
    "CHANGELOG.md": "old\n",
    "README.md": "old\n",
  };
  async function answersOf(): Promise<{ ok: string[]; denied: string[] }> {
    const [session = ""] = await world.sessions();
    const ended = (await world.log(session)).flatMap((event) =>
      event.type === "call_ended" ? [event] : [],
    );
    const calls = (ok: boolean) => ended.flatMap((one) => (one.ok === ok ? [one.call] : []));
    return { ok: calls(true), denied: calls(false) };
  }

  it("names the places and the version that are tried here", async () => {
    world = await makeWorld([]);
    assert.equal(shell.length, 2);
    for (const line of shell) {
      assert.ok(line.includes(PLACES.acpx) && line.includes(PLACES.agent), line);
    }
    assert.ok(shell[1]?.includes(`COUNTERSIGN_ALLOWS=${PLACES.allows}`));
  });

  it("asks in CI with every card denied", async () => {
    world = await makeWorld(script, files);
    const { code, stdout, stderr } = await run(world, shell[0] ?? "");
    assert.equal(stdout.trim(), "That is all.", stderr);
    assert.deepEqual(await answersOf(), {
      ok: ["r3"],
      denied: ["c1", "w1", "r1", "c2", "w2", "r2"],
    });
    assert.notEqual(code, null);
    assert.equal(await world.file("CHANGELOG.md"), "old\n");
    await assert.rejects(world.file("tested"), { code: "ENOENT" });
  });

  it("asks in CI with the allows of the file that it shows, and no others", async () => {
    world = await makeWorld(script, files);
    const allows = blocks("json").find((block) => block.startsWith("["));
    await writeFile(join(world.dir, "allows.json"), allows ?? "");
    const { stdout, stderr } = await run(world, shell[1] ?? "");
    assert.equal(stdout.trim(), "That is all.", stderr);
    assert.deepEqual(await answersOf(), {
      ok: ["c1", "w1", "r1", "r3"],
      denied: ["c2", "w2", "r2"],
    });
    assert.deepEqual(
      [await world.file("CHANGELOG.md"), await world.file("README.md"), await world.file("tested")],
      ["new\n", "old\n", ""],
    );
  });

  it("shows files that are obeyed as they are", async () => {
    world = await makeWorld([]);
    const settings = json.find((one) => "countersign.hooks.stop" in one);
    await writeFile(join(world.home, "settings.json"), JSON.stringify(settings));
    assert.deepEqual(new SettingsFile(world.home, assert.fail).get(), {
      stopHooks: [{ argv: ["npm", "test"], timeout: 120 }],
      ripgrep: "/usr/bin/rg",
      headers: { "X-Team": "tools" },
      limits: { maxTokens: 4096, contextTokens: 64_000, idleMs: 60_000 },
    });
    const file = join(world.dir, "allows.json");
    await writeFile(file, JSON.stringify(json.find((one) => Array.isArray(one))));
    assert.deepEqual(readAllows(file, world.workspace), [
      { run: ["npm", "test"] },
      { write: join(world.workspace, "CHANGELOG.md") },
      { read: "/etc/hostname" },
    ]);
    const editors = json.flatMap((one) => ("agent_servers" in one ? [one.agent_servers] : []));
    assert.equal(editors.length, 2);
    for (const servers of editors) {
      const { Countersign } = servers as Record<string, { command: string; args: string[] }>;
      assert.deepEqual([Countersign?.command, Countersign?.args], ["node", [PLACES.agent]]);
    }
  });
});
