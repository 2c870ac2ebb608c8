import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { root } from "../../scripts/process.js";

const stepSchema = z.object({
  uses: z.string().optional(),
  run: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const workflowSchema = z.object({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.object({
      uses: z.string().optional(),
      needs: z.array(z.string()).default([]),
      permissions: z.record(z.string(), z.string()).optional(),
      strategy: z.object({ matrix: z.record(z.string(), z.array(z.string())) }).optional(),
      steps: z.array(stepSchema).default([]),
    }),
  ),
});
type Workflow = z.infer<typeof workflowSchema>;

const folder = join(root, ".github/workflows");

describe("the workflows of continuous integration", () => {
  const texts = new Map<string, string>();
  const workflows = new Map<string, Workflow>();

  before(async () => {
    for (const name of await readdir(folder)) {
      const text = await readFile(join(folder, name), "utf8");
      texts.set(name, text);
      workflows.set(name, workflowSchema.parse(parse(text)));
    }
  });

  const jobs = () =>
    [...workflows].flatMap(([file, { jobs }]) =>
      Object.entries(jobs).map(([name, job]) => ({ file, name, job })),
    );

  it("are two, and use no action that is not pinned to a commit, its version beside it", () => {
    assert.deepEqual([...texts.keys()].sort(), ["ci.yml", "release.yml"]);
    const uses = [...texts.values()].flatMap((text) =>
      [...text.matchAll(/uses: (.*)/g)].map(([, used = ""]) => used),
    );
    const loose = uses.filter(
      (used) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used),
    );
    assert.deepEqual(loose, ["./.github/workflows/ci.yml"]);
  });

  it("may read the repository, and only the job that makes a release may write to it", () => {
    for (const { permissions } of workflows.values()) {
      assert.deepEqual(permissions, { contents: "read" });
    }
    assert.deepEqual(
      jobs().flatMap(({ name, job }) => (job.permissions ? [[name, job.permissions]] : [])),
      [["github", { contents: "write" }]],
    );
  });

  it("give a secret to one step that publishes, in a job that has none of the repository's code", () => {
    const secret = /\$\{\{ *secrets\./;
    const holders = jobs().filter(({ job }) => secret.test(JSON.stringify(job)));
    assert.deepEqual(
      holders.map(({ file, name }) => `${file} ${name}`),
      ["release.yml marketplace", "release.yml open-vsx"],
    );
    for (const { job } of holders) {
      assert.ok(!job.steps.some(({ uses }) => uses?.startsWith("actions/checkout@")));
      const given = job.steps.filter((step) => secret.test(JSON.stringify(step)));
      assert.deepEqual(
        given.map(({ run }) => /^npx --no-install \w+ publish /.test(run ?? "")),
        [true],
      );
      for (const { run = "" } of job.steps.filter(({ run }) => run?.startsWith("npm install"))) {
        assert.match(run, / --ignore-scripts \S+@\d+\.\d+\.\d+$/);
      }
    }
  });

  it("put no expression into a shell line, where its text would be run", () => {
    assert.deepEqual(
      jobs().flatMap(({ job }) =>
        job.steps.flatMap(({ run }) => (run?.includes("${{") ? [run] : [])),
      ),
      [],
    );
  });

  it("try the oldest VS Code that package.json promises, and the newest, on three systems", async () => {
    const manifest = z
      .object({ engines: z.object({ vscode: z.string() }) })
      .parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
    assert.deepEqual(workflows.get("ci.yml")?.jobs.desktop?.strategy?.matrix, {
      os: ["ubuntu-latest", "macos-latest", "windows-latest"],
      vscode: [manifest.engines.vscode.replace("^", ""), "stable"],
    });
  });

  it("publish with the vsce that the package was made with", async () => {
    const pinned = /@vscode\/vsce@\d+\.\d+\.\d+/;
    const script = await readFile(join(root, "scripts/package.ts"), "utf8");
    assert.equal(pinned.exec(texts.get("release.yml") ?? "")?.[0], pinned.exec(script)?.[0]);
  });

  it("run scripts and steps of npm test that there are, and wait for jobs that there are", async () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
    const tests = await readFile(join(root, "scripts/test.ts"), "utf8");
    const runs = jobs().flatMap(({ job }) => job.steps.flatMap(({ run }) => run ?? []));
    const named = runs.flatMap((run) => [...run.matchAll(/\bnpm (?:run )?([\w-]+)(?: -- (.*))?/g)]);
    const wrong = named.filter(([, script = "", steps = ""]) => {
      if (script === "install") return false;
      if (scripts[script] === undefined) return true;
      const known = (step: string): boolean => new RegExp(`^  ${step}:`, "m").test(tests);
      return script === "test" && !steps.split(" ").every((step) => step === "" || known(step));
    });
    assert.deepEqual(
      wrong.map(([whole]) => whole),
      [],
    );
    assert.deepEqual([...new Set(named.map(([, script = ""]) => script))].sort(), [
      ...["install", "package", "test", "unused"],
    ]);
    const needed = jobs().flatMap(({ file, job }) => job.needs.map((need) => ({ file, need })));
    assert.equal(needed.length, 6);
    assert.deepEqual(
      needed.filter(({ file, need }) => workflows.get(file)?.jobs[need] === undefined),
      [],
    );
  });

  it("name only suites that there are", () => {
    const named = [...(texts.get("ci.yml") ?? "").matchAll(/"(test\/unit\/[^"]+)"/g)].flatMap(
      ([, pattern = ""]) => alternatives(pattern),
    );
    assert.ok(named.length > 10);
    const gone = named.filter((path) => !existsSync(join(root, path.replace("/*.test.ts", ""))));
    assert.deepEqual(gone, []);
  });
});

/** `a/{b,c}/d` as `a/b/d` and `a/c/d`. */
function alternatives(pattern: string): string[] {
  const [, before = "", inside, after = ""] = /^(.*?)\{([^}]+)\}(.*)$/.exec(pattern) ?? [];
  if (inside === undefined) return [pattern];
  return inside.split(",").flatMap((one) => alternatives(`${before}${one}${after}`));
}
