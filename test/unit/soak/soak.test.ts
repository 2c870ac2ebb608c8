import assert from "node:assert/strict";
import { type Plan, planOf } from "../../soak/plan.js";
import { shrink } from "../../soak/shrink.js";
import { soak, withHost } from "../../soak/soak.js";

const SEED = Number(process.env.COUNTERSIGN_TEST_SEED ?? Date.now() % 1_000_000);

describe(`sessions in parallel, their host killed, their files and disk meddled with (seed ${SEED})`, () => {
  it("break no invariant", async function () {
    this.timeout(180_000);
    await withHost(async (program) => {
      const { tally, failed } = await soak(program, {
        ms: 0,
        seed: SEED,
        rounds: 5,
        longest: 1_000,
      });
      assert.deepEqual(failed?.broken, undefined, JSON.stringify(failed));
      assert.equal(tally.of("rounds"), 6);
      assert.ok(tally.of("turns") > 0);
    });
  });
});

describe("the plan of a soak", () => {
  it("follows from its seed", () => {
    assert.deepEqual(planOf(7), planOf(7));
    assert.notDeepEqual(planOf(7), planOf(8));
  });

  it("is made as small as it can be and still fail", async () => {
    const guilty = (plan: Plan): boolean =>
      plan.rounds.some(
        ({ moves, edits }) =>
          moves.some((move) => move.do === "reopen") && edits.some((edit) => edit.do === "linkOut"),
      );
    let seed = 0;
    while (!guilty(planOf(seed))) seed++;
    const small = await shrink(planOf(seed), async (plan) => guilty(plan), 10_000);
    const [round, ...others] = small.rounds;
    assert.deepEqual(
      [others, round?.moves.map((one) => one.do), round?.edits.map((one) => one.do)],
      [[], ["reopen"], ["linkOut"]],
    );
    assert.deepEqual([small.sessions, round?.faults, round?.full], [1, 0, undefined]);
  });

  it("is left as it is where nothing can go", async () => {
    const plan = planOf(1, 2);
    assert.deepEqual(await shrink(plan, async () => false, 10_000), plan);
  });
});
