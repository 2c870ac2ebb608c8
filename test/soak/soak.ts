import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import esbuild from "esbuild";
import { type Plan, planOf } from "./plan.js";
import { type Broken, Run } from "./run.js";
import { shrink } from "./shrink.js";
import { Tally } from "./tally.js";

const ROOT = join(import.meta.dirname, "..", "..");

/** Builds the host into one file, so that it starts in a moment, and takes it away after `work`. */
export async function withHost<T>(work: (program: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-soak-host-"));
  const outfile = join(folder, "host.mjs");
  try {
    await esbuild.build({
      entryPoints: [join(ROOT, "test/soak/host.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      sourcemap: "inline",
      logLevel: "error",
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });
    return await work(outfile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface Soaked {
  readonly tally: Tally;
  /** The first plan that broke an invariant. */
  readonly failed?: { readonly plan: Plan; readonly broken: Broken };
}

/** One plan after the other, seeds counting up from `seed`, for so many milliseconds or until one fails. */
export async function soak(
  program: string,
  options: {
    readonly ms: number;
    readonly seed: number;
    readonly rounds?: number;
    readonly longest?: number;
    readonly tell?: (line: string) => void;
    /** Where the world of the plan that failed is kept, by its seed. */
    readonly keep?: (seed: number) => string;
  },
): Promise<Soaked> {
  const tally = new Tally();
  const began = performance.now();
  for (
    let seed = options.seed;
    seed === options.seed || performance.now() - began < options.ms;
    seed++
  ) {
    const plan = planOf(seed, options.rounds, options.longest);
    const broken = await new Run(plan, program, tally, options.keep?.(seed)).all();
    if (broken !== undefined) return { tally, failed: { plan, broken } };
    options.tell?.(`seed ${seed}: ${tally.of("turns")} turns, ${tally.kills} kills so far`);
  }
  return { tally };
}

/** The plan made as small as can be found in `ms` milliseconds; each try is made twice, as kills hit by chance. */
export function shrunk(program: string, plan: Plan, broken: Broken, ms: number): Promise<Plan> {
  const fails = async (candidate: Plan): Promise<boolean> => {
    for (let tries = 0; tries < 2; tries++) {
      const again = await new Run(candidate, program, new Tally()).all();
      if (again?.invariant === broken.invariant) return true;
    }
    return false;
  };
  return shrink(plan, fails, ms);
}
