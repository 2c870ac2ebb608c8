/**
 * `npm run soak -- --minutes N [--seed S] [--plan FILE]`: sessions in parallel under every fault
 * there is, for so long. A seed gives the same plan again: the same moves, edits, answers of the
 * model and kills, at the same times. What it does not give again is how the processes interleave,
 * so that a failure may need a few tries. A plan that failed is made smaller and written down.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { planSchema } from "./plan.js";
import { Run } from "./run.js";
import { shrunk, soak, withHost } from "./soak.js";
import { Tally } from "./tally.js";

const SHRINK_MS = 180_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    plan: { type: "string" },
    "no-shrink": { type: "boolean", default: false },
  },
});

process.exitCode = await withHost(async (program) => {
  const began = Date.now();
  if (values.plan !== undefined) {
    const plan = planSchema.parse(JSON.parse(readFileSync(values.plan, "utf8")));
    const tally = new Tally();
    const broken = await new Run(plan, program, tally).all();
    console.log(tally.report());
    console.log(
      broken === undefined ? "no broken invariant" : JSON.stringify(broken, undefined, 2),
    );
    return broken === undefined ? 0 : 1;
  }
  const ms = Number(values.minutes) * 60_000;
  const seed = Number(values.seed);
  if (!(ms > 0) || !Number.isInteger(seed)) {
    console.error("--minutes takes a number over 0, --seed a whole number");
    return 1;
  }
  const { tally, failed } = await soak(program, {
    ms,
    seed,
    tell: (line) => console.log(line),
    keep: (failing) => join(process.cwd(), `soak-${failing}.world`),
  });
  console.log(tally.report());
  console.log(`${((Date.now() - began) / 60_000).toFixed(1)} minutes, first seed ${seed}`);
  if (failed === undefined) {
    console.log("no broken invariant");
    return 0;
  }
  const { plan, broken } = failed;
  console.log(
    `BROKEN in round ${broken.round} of seed ${plan.seed}: ${broken.invariant}\n${broken.what}`,
  );
  console.log(`What was there is kept in soak-${plan.seed}.world`);
  if (values["no-shrink"]) return 1;
  const small = await shrunk(program, plan, broken, SHRINK_MS);
  const file = join(process.cwd(), `soak-${plan.seed}.json`);
  writeFileSync(file, `${JSON.stringify(small, undefined, 2)}\n`);
  console.log(
    `${small.rounds.length} of ${plan.rounds.length} rounds are left: npm run soak -- --plan ${file}`,
  );
  return 1;
});
