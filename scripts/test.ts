/**
 * `npm test`: everything, one thing after the other, and `N passed, N failed` as the last line.
 * `npm test -- unit ui` runs those steps alone. A check counts as one, a suite by its tests; what
 * did not run to its end has failed.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHostSuites } from "./hostSuites.js";
import { root, ScriptError, script } from "./process.js";
import { type Results, readResults } from "./results.js";
import { withTemporary } from "./temporary.js";
import { prepareVsCode } from "./vscode/prepare.js";
import { webVsCode } from "./vscode/web.js";

type Count = Pick<Results, "passed" | "failed">;

const tsc = "node_modules/typescript/bin/tsc";

/** In this order: what runs in VS Code is what `build` made. */
const steps: Readonly<Record<string, () => Promise<Count>>> = {
  types: () => check([tsc, "-p", "."], [tsc, "-p", "tsconfig.webview.json"]),
  lint: () => check(["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."]),
  build: () => check(["esbuild.mjs"]),
  unit: () => withTemporary((env) => mocha(["test/unit/**/*.test.ts"], env)),
  acp: () => withTemporary((env) => mocha(["test/acp/**/*.test.ts", "--timeout", "60000"], env)),
  host: async () => {
    const built = await node(["esbuild.mjs", "--tests"]);
    return built === 0 ? runHostSuites(root) : { passed: 0, failed: 1 };
  },
  ui: () => mocha(["test/workbench/ui/**/*.test.ts", "--timeout", "90000"]),
};

await script(async () => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in steps));
  if (unknown.length > 0) {
    const names = Object.keys(steps).join(", ");
    throw new ScriptError(`There is no step ${unknown.join(", ")}; there are ${names}.`);
  }
  const chosen = Object.entries(steps).filter(
    ([name]) => wanted.length === 0 || wanted.includes(name),
  );
  const needs = (...names: string[]) => chosen.some(([name]) => names.includes(name));
  const total = { passed: 0, failed: 0 };
  const lines: string[] = [];
  if (needs("host", "ui")) await prepareVsCode();
  // The agent on stdio is driven by a client that wants the newer Node which comes with this.
  if (needs("acp")) await webVsCode();
  for (const [name, step] of chosen) {
    console.log(`\n── ${name} ──`);
    const start = performance.now();
    const { passed, failed } = await step().catch((error: unknown) => {
      console.error(error);
      return { passed: 0, failed: 1 };
    });
    total.passed += passed;
    total.failed += failed;
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    lines.push(`${name.padEnd(6)} ${passed} passed, ${failed} failed (${seconds} s)`);
  }
  console.log(`\n${lines.join("\n")}\n${total.passed} passed, ${total.failed} failed`);
  return total.failed > 0 || total.passed === 0 ? 1 : 0;
});

/** One check of one or more programs, which all run. */
async function check(...programs: readonly (readonly string[])[]): Promise<Count> {
  let ok = true;
  for (const args of programs) ok = (await node(args)) === 0 && ok;
  return ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function mocha(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Count> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-results-"));
  const file = join(folder, "results.json");
  const options = [
    ...["--no-config", "--node-option", "import=tsx", "--ui", "bdd", "--timeout", "20000"],
    ...["--forbid-only", "--forbid-pending", "--reporter", "test/support/reporter.cjs"],
  ];
  try {
    const code = await node(["node_modules/mocha/bin/mocha.js", ...options, ...args], {
      ...env,
      COUNTERSIGN_RESULTS: file,
    });
    const results = await readResults(file);
    // All tests passed and still it failed: something broke outside of them.
    return code !== 0 && results.failed === 0 ? { ...results, failed: 1 } : results;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a program of Node's in the repository, its output shown as it comes; resolves with its exit code. */
function node(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, ...env },
    });
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
