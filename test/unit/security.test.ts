import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

const ROOT = join(import.meta.dirname, "../..");

/** Every name in code quotes of a cell. */
function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

describe("SECURITY.md", () => {
  let rows: { tried: string; stops: string; tests: string }[];
  before(async () => {
    const text = await readFile(join(ROOT, "SECURITY.md"), "utf8");
    rows = text
      .split("\n")
      .filter((line) => line.startsWith("| ") && !line.startsWith("| ---"))
      .slice(1)
      .map((line) => {
        const [tried = "", stops = "", tests = ""] = line.split(" | ");
        return { tried, stops, tests };
      });
    assert.ok(rows.length > 12);
  });

  it("names tests for each threat, and each of them is there", () => {
    const missing: string[] = [];
    for (const { tried, tests } of rows) {
      let folder = "";
      const names = quoted(tests);
      if (names.length === 0) missing.push(`none for ${tried}`);
      for (const name of names) {
        const path = name.startsWith("test/") ? name : `${folder}/${name}`;
        folder = path.slice(0, path.lastIndexOf("/"));
        const whole = join(ROOT, path);
        const file = existsSync(`${whole}.test.ts`);
        const suite =
          existsSync(whole) && readdirSync(whole).some((entry) => entry.endsWith(".test.ts"));
        if (!file && !suite) missing.push(path);
      }
    }
    assert.deepEqual(missing, []);
  });

  it("names only files of the core that there are", async () => {
    const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
    const named = rows.flatMap(({ stops }) => quoted(stops).filter((name) => name.endsWith(".ts")));
    assert.ok(named.length > 5);
    assert.deepEqual(
      named.filter((name) => !sources.some((source) => `/${source}`.endsWith(`/${name}`))),
      [],
    );
  });
});

describe("the dependencies", () => {
  const lockSchema = z.object({
    lockfileVersion: z.literal(3),
    packages: z.record(
      z.string(),
      z.object({
        version: z.string().optional(),
        resolved: z.string().optional(),
        integrity: z.string().optional(),
        link: z.boolean().optional(),
        hasInstallScript: z.boolean().optional(),
      }),
    ),
  });
  const manifestSchema = z.object({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  });
  const json = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(ROOT, name), "utf8"));

  it("are pinned to one version each", async () => {
    const { dependencies, devDependencies } = manifestSchema.parse(await json("package.json"));
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
    );
    assert.deepEqual(loose, []);
  });

  it("are each held by the lock file to its bytes, from a registry, never from git or a URL", async () => {
    const { packages } = lockSchema.parse(await json("package-lock.json"));
    const entries = Object.entries(packages).filter(([name]) => name !== "");
    assert.ok(entries.length > 50);
    const wrong = entries.filter(
      ([name, { version, resolved, integrity, link }]) =>
        !name.startsWith("node_modules/") ||
        link === true ||
        !/^\d+\.\d+\.\d+/.test(version ?? "") ||
        !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? "") ||
        // Without an address the registry is whatever npm is set to; the bytes are the same.
        (resolved !== undefined && !/^https:\/\/[^/]+\/.*\.tgz$/.test(resolved)),
    );
    assert.deepEqual(wrong, []);
  });

  it("run no script of their own when they are installed, but for the bundler that checks its own", async () => {
    const { packages } = lockSchema.parse(await json("package-lock.json"));
    const scripts = Object.entries(packages).flatMap(([name, entry]) =>
      entry.hasInstallScript === true ? [name] : [],
    );
    assert.deepEqual(scripts, ["node_modules/esbuild"]);
  });
});
