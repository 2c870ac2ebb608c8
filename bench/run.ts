/**
 * `npm run bench [-- NAME …] [--peers] [--write]`: each `bench/<name>.ts` has a default export
 * `bench(report)`; what they report is printed as one table, ours and the peer's of the same run.
 * `--peers` first installs the others into the ignored `bench/peers`; `--write` also writes
 * `bench/RESULTS.md`. Figures are of this machine and this moment.
 */
import { execFileSync } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { must, root } from "../scripts/process.js";
import type { Report, Row } from "./support/measure.js";
import { installPeers } from "./support/peers.js";

interface BenchModule {
  readonly default: (report: Report) => Promise<void>;
}

const folder = new URL(".", import.meta.url);
const there = (await readdir(folder))
  .filter((name) => name.endsWith(".ts") && name !== "run.ts")
  .map((name) => name.slice(0, -".ts".length))
  .sort();
const given = process.argv.slice(2);
const wanted = given.filter((name) => !name.startsWith("--"));
const unknown = [
  ...wanted.filter((name) => !there.includes(name)),
  ...given.filter((name) => name.startsWith("--") && name !== "--peers" && name !== "--write"),
];
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}; there are: ${there.join(", ")}.`);
  process.exit(1);
}
if (given.includes("--peers")) await installPeers();
// What ships is measured, not what is built while one works on it.
const build = [join(root, "esbuild.mjs"), "--production"];
await must("The build", process.execPath, build, { cwd: root });

const columns = ["what", "figure", "goal", "met", "peer", "ratio"] as const;
type Line = Readonly<Record<(typeof columns)[number], string>>;

const loadBefore = loadavg()[0] ?? 0;
const lines: Line[] = [];
const notes: string[] = [];
const failed: string[] = [];
for (const name of wanted.length > 0 ? wanted : there) {
  console.error(`${name} …`);
  const module = (await import(new URL(`${name}.ts`, folder).href)) as BenchModule;
  try {
    await module.default((row) => lines.push(lineOf(name, row)));
  } catch (error) {
    failed.push(name);
    console.error(error);
  }
}

function lineOf(bench: string, row: Row): Line {
  const { value, unit, peer, peerValue, limit, note } = row;
  const what = `${bench}: ${row.name}`;
  if (note !== undefined) notes.push(`${what}: ${note}`);
  return {
    what,
    figure: `${number(value)} ${unit}`,
    goal: limit === undefined ? (row.goal ?? "") : `< ${number(limit)} ${unit}`,
    met: limit === undefined ? "" : value < limit ? "yes" : "no",
    peer: peerValue === undefined ? "" : `${number(peerValue)} ${unit} (${peer ?? ""})`,
    ratio: peerValue === undefined ? "" : number(value / peerValue),
  };
}

function number(value: number): string {
  if (value === 0) return "0";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3).replace(/\.0+$/, "");
}

const title = Object.fromEntries(columns.map((name) => [name, name])) as unknown as Line;
const widths = Object.fromEntries(
  columns.map((column) => [
    column,
    Math.max(...[title, ...lines].map((line) => line[column].length)),
  ]),
);
const machine = [
  `Node ${process.versions.node}`,
  `${type()} ${release()}`,
  `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`,
  `${Math.round(totalmem() / 1024 ** 3)} GiB`,
  `load ${loadBefore.toFixed(1)} before and ${(loadavg()[0] ?? 0).toFixed(1)} after`,
].join(", ");
console.log(machine);
for (const line of [title, ...lines]) {
  console.log(columns.map((column) => line[column].padEnd(widths[column] ?? 0)).join("  "));
}
for (const note of notes) console.log(note);

if (given.includes("--write")) {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], {
    cwd: root,
    encoding: "utf8",
  });
  const cell = (text: string): string => text.replaceAll("|", "\\|");
  const row = (line: Line): string => `| ${columns.map((name) => cell(line[name])).join(" | ")} |`;
  const text = [
    "# Results",
    "",
    "Written by the command itself; no figure here was typed.",
    "",
    `    npm run bench -- ${given.join(" ")}`,
    "",
    `On ${machine}; ${new Date().toISOString().slice(0, 10)}, after commit ${commit.trim()}. A ratio is ours to the peer's; both are`,
    "medians of the same run. Where other work shares the machine, times are longer for both.",
    "",
    row(title),
    `| ${columns.map(() => "---").join(" | ")} |`,
    ...lines.map(row),
    ...(notes.length === 0 ? [] : ["", ...notes.map((note) => `- ${note}`)]),
    "",
  ];
  await writeFile(new URL("RESULTS.md", folder), text.join("\n"));
}
if (failed.length > 0) {
  console.error(`Not measured: ${failed.join(", ")}.`);
  process.exit(1);
}
process.exit(0);
