import type { Plan } from "./plan.js";

/** Whether a plan still fails in the same way. */
export type Fails = (plan: Plan) => Promise<boolean>;

/** Every plan that is this one with something taken out, the smallest ones first. */
export function* smaller(plan: Plan): Generator<Plan> {
  const { rounds } = plan;
  const without = (from: number, count: number): Plan => ({
    ...plan,
    rounds: [...rounds.slice(0, from), ...rounds.slice(from + count)],
  });
  for (let count = rounds.length >> 1; count >= 1; count >>= 1) {
    for (let from = 0; from < rounds.length; from += count) {
      if (count < rounds.length) yield without(from, count);
    }
  }
  for (const [index, round] of rounds.entries()) {
    const instead = (less: Partial<typeof round>): Plan => ({
      ...plan,
      rounds: rounds.map((one, other) => (other === index ? { ...one, ...less } : one)),
    });
    for (const key of ["moves", "edits"] as const) {
      const list = round[key];
      if (list.length > 0) yield instead({ [key]: [] });
      for (let count = list.length >> 1; count >= 1; count >>= 1) {
        for (let from = 0; from < list.length; from += count) {
          yield instead({ [key]: [...list.slice(0, from), ...list.slice(from + count)] });
        }
      }
    }
    if (round.faults > 0) yield instead({ faults: 0 });
    const { full, fileLimit, ...plain } = round;
    if (full !== undefined || fileLimit !== undefined) {
      yield { ...plan, rounds: rounds.map((one, other) => (other === index ? plain : one)) };
    }
  }
  if (plan.sessions > 1) yield { ...plan, sessions: 1 };
}

/**
 * The smallest plan found that still fails, in at most `ms` milliseconds: as long as one with
 * something taken out fails too, that one is gone on with.
 */
export async function shrink(plan: Plan, fails: Fails, ms: number): Promise<Plan> {
  const until = performance.now() + ms;
  let best = plan;
  for (let better = true; better; ) {
    better = false;
    for (const candidate of smaller(best)) {
      if (performance.now() > until) return best;
      if (!(await fails(candidate))) continue;
      best = candidate;
      better = true;
      break;
    }
  }
  return best;
}
