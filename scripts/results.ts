import { readFile } from "node:fs/promises";
import * as z from "zod";

const schema = z.object({
  passed: z.number(),
  failed: z.number(),
  tests: z.array(
    z.object({ title: z.string(), ok: z.boolean(), ms: z.number(), error: z.string().optional() }),
  ),
});

/** What a run of mocha left in its results file. */
export type Results = z.infer<typeof schema>;

/** Reads a results file. None, or one without tests, is one failure: something did not run. */
export async function readResults(file: string): Promise<Results> {
  const failure = (error: string): Results => ({
    passed: 0,
    failed: 1,
    tests: [{ title: "the suites run to their end", ok: false, ms: 0, error }],
  });
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return failure("there is no report: the run was cut short");
  const results = schema.parse(JSON.parse(text));
  return results.tests.length === 0 ? failure("there were no tests") : results;
}
