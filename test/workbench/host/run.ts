import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Mocha from "mocha";

/** The repository's root, seen from dist-test/. */
const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * Runs suites with mocha inside the extension host; each of `loads` is called once mocha's globals
 * are there. Rejects where a test failed, which is how VS Code hears of it.
 */
export async function runSuites(loads: readonly (() => Promise<unknown>)[]): Promise<void> {
  const mocha = new Mocha({
    ui: "bdd",
    timeout: 30_000,
    forbidOnly: true,
    forbidPending: true,
    reporter: join(root, "test/support/reporter.cjs"),
  });
  mocha.suite.emit("pre-require", globalThis, "", mocha);
  for (const load of loads) await load();
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures > 0) throw new Error(`${failures} failed`);
}
