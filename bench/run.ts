/**
 * `npm run bench [-- NAME …]`: each `bench/<name>.ts` has a default export `bench(report)`; what
 * they report is printed as one table. Figures are of this machine and this moment.
 */
import { readdir } from "node:fs/promises";
import { cpus } from "node:os";

/** One line of the table. */
export interface Row {
  /** What was measured, in a few words. */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the same job costs elsewhere, in the same unit. */
  readonly peer?: string;
  readonly peerValue?: number;
  /** Ours to the peer's. */
  readonly ratio?: number;
  /** What was to be reached. */
  readonly goal?: string;
}

export type Report = (row: Row) => void;

interface BenchModule {
  readonly default: (report: Report) => Promise<void>;
}

const folder = new URL(".", import.meta.url);
const there = (await readdir(folder))
  .filter((name) => name.endsWith(".ts") && name !== "run.ts")
  .map((name) => name.slice(0, -".ts".length))
  .sort();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !there.includes(name));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}; there are: ${there.join(", ")}.`);
  process.exit(1);
}

const columns = ["bench", "what", "figure", "peer", "ratio", "goal"] as const;
type Line = Readonly<Record<(typeof columns)[number], string>>;

const lines: Line[] = [];
for (const name of wanted.length > 0 ? wanted : there) {
  console.error(`${name} …`);
  const module = (await import(new URL(`${name}.ts`, folder).href)) as BenchModule;
  await module.default((row) => {
    const peer = row.peerValue === undefined ? "" : `${number(row.peerValue)} ${row.unit}`;
    lines.push({
      bench: name,
      what: row.name,
      figure: `${number(row.value)} ${row.unit}`,
      peer: [row.peer, peer].filter(Boolean).join(": "),
      ratio: row.ratio === undefined ? "" : row.ratio.toFixed(2),
      goal: row.goal ?? "",
    });
  });
}

const title: Line = {
  bench: "bench",
  what: "what",
  figure: "figure",
  peer: "peer",
  ratio: "ratio",
  goal: "goal",
};
const widths = columns.map((column) =>
  Math.max(...[title, ...lines].map((line) => line[column].length)),
);
console.log(`Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`);
for (const line of [title, ...lines]) {
  console.log(columns.map((column, n) => line[column].padEnd(widths[n] ?? 0)).join("  "));
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
