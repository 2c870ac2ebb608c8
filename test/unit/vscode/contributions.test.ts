import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import * as z from "zod";
import { drivenBy, type Row } from "../../support/contributions.js";

const named = z.object({ command: z.string() });
const keyed = z.object({ command: z.string(), key: z.string() });
const identified = z.object({ id: z.string() });
const schema = z.object({
  contributes: z.strictObject({
    commands: z.array(named),
    configuration: z.object({ properties: z.record(z.string(), z.unknown()) }),
    configurationDefaults: z.record(z.string(), z.unknown()),
    keybindings: z.array(keyed),
    menus: z.record(z.string(), z.array(named)),
    views: z.record(z.string(), z.array(identified)),
    viewsContainers: z.record(z.string(), z.array(identified)),
    walkthroughs: z.array(z.object({ id: z.string(), steps: z.array(identified) })),
  }),
});

const repository = new URL("../../../", import.meta.url);

/** Every contribution, by the name that it has in the table. A new kind of it fails the schema. */
function contributions(manifest: unknown): string[] {
  const { contributes } = schema.parse(manifest);
  return [
    ...contributes.commands.map(({ command }) => `command ${command}`),
    ...Object.keys(contributes.configuration.properties).map((name) => `setting ${name}`),
    ...Object.keys(contributes.configurationDefaults).map((name) => `default ${name}`),
    ...contributes.keybindings.map(({ command, key }) => `key ${key} ${command}`),
    ...Object.entries(contributes.menus).flatMap(([menu, entries]) =>
      entries.map(({ command }) => `menu ${menu} ${command}`),
    ),
    ...Object.values(contributes.views).flatMap((views) => views.map(({ id }) => `view ${id}`)),
    ...Object.entries(contributes.viewsContainers).flatMap(([place, containers]) =>
      containers.map(({ id }) => `container ${place} ${id}`),
    ),
    ...contributes.walkthroughs.flatMap(({ id, steps }) =>
      steps.map((step) => `step ${id}#${step.id}`),
    ),
  ];
}

/** What is wrong with a table: a contribution in no row, a row for none, a test that is none. */
function faults(
  manifest: unknown,
  table: readonly Row[],
  suites: ReadonlyMap<string, string>,
): string[] {
  const wanted = contributions(manifest);
  const shown = new Set(table.flatMap(({ shows }) => shows));
  return [
    ...wanted.filter((name) => !shown.has(name)).map((name) => `${name}: has no test`),
    ...[...shown].filter((name) => !wanted.includes(name)).map((name) => `${name}: is none`),
    ...table
      .filter(({ suite, test }) => !suites.get(suite)?.includes(`it(${JSON.stringify(test)}, `))
      .map(({ suite, test }) => `${suite} has no test "${test}"`),
  ];
}

describe("what package.json contributes", () => {
  let manifest: z.infer<typeof schema>;
  const suites = new Map<string, string>();

  before(async () => {
    manifest = JSON.parse(await readFile(new URL("package.json", repository), "utf8"));
    for (const folder of ["ui", "host"]) {
      const place = new URL(`test/workbench/${folder}/`, repository);
      for (const name of await readdir(place))
        suites.set(`${folder}/${name}`, await readFile(new URL(name, place), "utf8"));
    }
  });

  it("has a test in the real workbench that shows its effect", () => {
    assert.deepEqual(faults(manifest, drivenBy, suites), []);
  });

  it("is not taken for tested where there is no row, no contribution, no suite or no title", () => {
    const { contributes } = manifest;
    const more = { ...contributes, commands: [...contributes.commands, { command: "x.new" }] };
    const table = [
      ...drivenBy.slice(1),
      { suite: "ui/log.test.ts", test: "is exported", shows: ["view x"] },
      { suite: "ui/none.test.ts", test: "is exported", shows: [] },
    ];
    assert.deepEqual(faults({ contributes: more }, table, suites), [
      "command x.new: has no test",
      "default diffEditor.codeLens: has no test",
      "view x: is none",
      'ui/log.test.ts has no test "is exported"',
      'ui/none.test.ts has no test "is exported"',
    ]);
  });
});
