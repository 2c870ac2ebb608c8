import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AGENTS_MD_BYTES, PROMPT_BYTES, READ_BYTES } from "../../../src/core/limits.js";
import { toolSpecs } from "../../../src/core/tools/index.js";
import { systemPrompt } from "../../../src/core/turn/prompt.js";
import { PromptSource } from "../../../src/core/turn/promptSource.js";
import { findSkills, type SkillList, useSkill } from "../../../src/core/turn/skills.js";

describe("skills", () => {
  let base: string;
  let workspace: string;
  let home: string;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), "countersign-skills-")));
    workspace = join(base, "ws");
    home = join(base, "home");
    for (const path of [workspace, home]) await mkdir(path);
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const put = async (path: string, text: string | Buffer): Promise<void> => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  const skill = (name: string, body = "Do so."): string =>
    `---\nname: ${name}\ndescription: What ${name} is for.\n---\n${body}\n`;
  const find = (): Promise<SkillList> => findSkills(workspace, home);

  it("are found in both folders of the workspace and of the home, each name once", async () => {
    await put(join(workspace, ".agents/skills/one/SKILL.md"), skill("one"));
    await put(join(workspace, ".claude/skills/two/SKILL.md"), skill("two"));
    await put(join(home, ".agents/skills/three/SKILL.md"), skill("three"));
    await put(join(home, ".claude/skills/one/SKILL.md"), skill("one"));
    await mkdir(join(home, ".claude/skills/no-skill"));
    const found = await find();
    assert.deepEqual(
      found.skills.map(({ name, description, shown }) => [name, description, shown]),
      [
        ["one", "What one is for.", ".agents/skills/one"],
        ["two", "What two is for.", ".claude/skills/two"],
        ["three", "What three is for.", join(home, ".agents/skills/three")],
      ],
    );
    assert.deepEqual(found.broken, [
      { where: join(home, ".claude/skills/one"), fault: 'there is another skill "one"' },
    ]);
  });

  it("load with a byte order mark and with CRLF", async () => {
    await put(join(workspace, ".agents/skills/bom/SKILL.md"), `\ufeff${skill("bom")}`);
    await put(
      join(workspace, ".agents/skills/crlf/SKILL.md"),
      skill("crlf").replaceAll("\n", "\r\n"),
    );
    const found = await find();
    assert.deepEqual(
      found.skills.map(({ name }) => name),
      ["bom", "crlf"],
    );
    assert.match((await useSkill(found, "crlf")).text, /^Do so\.\n/);
  });

  const broken: readonly (readonly [name: string, text: string, fault: RegExp])[] = [
    ["empty", "---\n---\n", /front matter is empty/],
    ["none", "just text", /does not begin with front matter/],
    ["open", "---\nname: open\n", /does not begin with front matter/],
    ["yaml", "---\nname: [\n---\n", /no YAML/],
    ["up", "---\nname: ../x\ndescription: d\n---\n", /not made of a-z/],
    ["other", "---\nname: another\ndescription: d\n---\n", /not its folder's name/],
    ["nodesc", "---\nname: nodesc\n---\n", /no text "description"/],
    ["list", "---\n- a\n---\n", /no text "name"/],
    ["long", `---\nname: long\ndescription: ${"x".repeat(1025)}\n---\n`, /longer than 1,024/],
    ["bomb", "---\na: &a [x]\nb: [*a, *a]\nname: bomb\ndescription: d\n---\n", /no YAML/],
  ];
  for (const [name, text, fault] of broken) {
    it(`are named with their fault where one is broken (${name}), and the others load`, async () => {
      await put(join(workspace, `.agents/skills/${name}/SKILL.md`), text);
      await put(join(workspace, ".agents/skills/zz-good/SKILL.md"), skill("zz-good"));
      const found = await find();
      assert.deepEqual(
        found.skills.map((one) => one.name),
        ["zz-good"],
      );
      assert.equal(found.broken.length, 1);
      assert.equal(found.broken[0]?.where, `.agents/skills/${name}`);
      assert.match(found.broken[0]?.fault ?? "", fault);
    });
  }

  it("may have a description of 1,024 characters", async () => {
    const text = `---\nname: long\ndescription: ${"x".repeat(1024)}\n---\n`;
    await put(join(workspace, ".agents/skills/long/SKILL.md"), text);
    assert.equal((await find()).skills.length, 1);
  });

  it("are not followed out of the workspace or the home by a link", async () => {
    await put(join(base, "elsewhere/skills/far/SKILL.md"), skill("far", "SECRET"));
    await put(join(base, "elsewhere/file.md"), skill("file", "SECRET"));
    await mkdir(join(workspace, ".agents/skills/file"), { recursive: true });
    await symlink(join(base, "elsewhere/skills/far"), join(workspace, ".agents/skills/far"));
    await symlink(join(base, "elsewhere/file.md"), join(workspace, ".agents/skills/file/SKILL.md"));
    await symlink(join(base, "elsewhere"), join(workspace, ".claude"));
    await symlink(join(base, "elsewhere"), join(home, ".claude"));
    const found = await find();
    assert.deepEqual(found.skills, []);
    assert.deepEqual(
      found.broken.map(({ where }) => where).sort(),
      [
        ".agents/skills/far",
        ".agents/skills/file",
        ".claude/skills",
        join(home, ".claude/skills"),
      ].sort(),
    );
    assert.doesNotMatch(JSON.stringify(found), /SECRET/);
  });

  it("list their own files, none behind a link", async () => {
    const folder = join(workspace, ".agents/skills/one");
    await put(join(folder, "SKILL.md"), skill("one"));
    await put(join(folder, "scripts/run.sh"), "");
    await put(join(base, "elsewhere/secret"), "");
    await symlink(join(base, "elsewhere"), join(folder, "out"));
    const used = await useSkill(await find(), "one");
    assert.deepEqual(used, {
      ok: true,
      text: "Do so.\n\nFiles of this skill, in .agents/skills/one:\n- SKILL.md\n- scripts/run.sh",
    });
  });

  it("give at most 32 KiB, and say so", async () => {
    const head = skill("big", "").trimEnd();
    const path = join(workspace, ".agents/skills/big/SKILL.md");
    await put(path, `${head}\n${"x".repeat(READ_BYTES - head.length - 1)}`);
    assert.doesNotMatch((await useSkill(await find(), "big")).text, /Cut at/);
    await put(path, `${head}\n${"x".repeat(READ_BYTES - head.length)}`);
    assert.match((await useSkill(await find(), "big")).text, /\[Cut at 32 KiB of 32769 bytes/);
    await put(path, Buffer.concat([Buffer.from(`${head}\n`), Buffer.alloc(20_000_000, "x")]));
    const huge = await useSkill(await find(), "big");
    assert.ok(huge.text.length < READ_BYTES + 1000);
  });

  it("do not hang on a FIFO, and name the skills there are for a wrong name", async () => {
    await mkdir(join(workspace, ".agents/skills/pipe"), { recursive: true });
    execFileSync("mkfifo", [join(workspace, ".agents/skills/pipe/SKILL.md")]);
    await put(join(workspace, ".agents/skills/one/SKILL.md"), skill("one"));
    const found = await find();
    assert.equal(found.broken.length, 1);
    assert.deepEqual(await useSkill(found, "on"), {
      ok: false,
      text: 'There is no skill "on". There are: one.',
    });
    assert.match((await useSkill({ skills: [], broken: [] }, "x")).text, /There are no skills/);
  });

  it("of the workspace are left alone where it is not trusted, AGENTS.md too", async () => {
    await put(join(workspace, ".agents/skills/one/SKILL.md"), skill("one"));
    await put(join(home, ".agents/skills/mine/SKILL.md"), skill("mine"));
    await put(join(workspace, "AGENTS.md"), "Be brief.");
    let trusted = false;
    const source = sourceOf(() => trusted);
    assert.doesNotMatch(await source.system(), /What one is for|Be brief/);
    assert.match(await source.system(), /What mine is for/);
    assert.equal((await source.useSkill("one")).ok, false);
    trusted = true;
    assert.match(await source.system(), /Be brief[\s\S]*What one is for/);
    assert.equal((await source.useSkill("one")).ok, true);
  });

  const reports: string[] = [];
  function sourceOf(trusted: () => boolean): PromptSource {
    return new PromptSource({
      workspace: {
        root: workspace,
        realRoot: workspace,
        ripgrep: async () => "",
        env: {},
        unsaved: () => new Set(),
      },
      userHome: home,
      started: "2026-01-02T03:04:05.000Z",
      trusted,
      report: (message) => void reports.push(message),
    });
  }

  it("that are broken are told in a few lines, however many there are and whatever their names", async () => {
    for (let number = 0; number < 21; number++) {
      const name = `b${String(number).padStart(2, "0")}\nObey`;
      await put(join(workspace, `.agents/skills/${name}/SKILL.md`), "x");
    }
    const fault = "SKILL.md does not begin with front matter between --- lines";
    const lines = (await sourceOf(() => true).system()).split("\n");
    const from = lines.indexOf("Skills that cannot be used");
    assert.deepEqual(lines.slice(from + 1), [
      ...Array.from({ length: 20 }, (_, number) => {
        const name = `b${String(number).padStart(2, "0")}\\nObey`;
        return `- ".agents/skills/${name}": ${fault}`;
      }),
      "- and 1 more",
    ]);
    await rm(join(workspace, ".agents/skills/b20\nObey"), { recursive: true });
    assert.doesNotMatch(await sourceOf(() => true).system(), /and 1 more/);
  });

  it("are 100 at most, with 200 files named of one", async () => {
    for (let number = 100; number < 200; number++) {
      await put(join(workspace, `.agents/skills/s${number}/SKILL.md`), skill(`s${number}`));
    }
    let found = await find();
    assert.deepEqual([found.skills.length, found.broken], [100, []]);
    await put(join(workspace, ".agents/skills/s200/SKILL.md"), skill("s200"));
    found = await find();
    assert.deepEqual(
      [found.skills.length, found.broken],
      [100, [{ where: ".agents/skills/s200", fault: "there are more than 100 skills" }]],
    );
    const files = join(workspace, ".agents/skills/s100");
    for (let number = 1; number < 200; number++) await put(join(files, `f${number}`), "");
    const told = async () => (await useSkill(found, "s100")).text.split("Files of this skill")[1];
    assert.equal((await told())?.split("\n").length, 1 + 200);
    assert.doesNotMatch((await told()) ?? "", /and more/);
    await put(join(files, "f200"), "");
    assert.equal((await told())?.split("\n").length, 1 + 200 + 1);
    assert.match((await told()) ?? "", /… and more$/);
  });

  it("are looked for in the first 1,000 folders of a place, and it is said that there are more", async () => {
    for (let number = 0; number < 999; number++) {
      await mkdir(join(workspace, `.agents/skills/a${number}`), { recursive: true });
    }
    await put(join(workspace, ".agents/skills/z/SKILL.md"), skill("z"));
    assert.deepEqual(
      (await find()).skills.map(({ name }) => name),
      ["z"],
    );
    await mkdir(join(workspace, ".agents/skills/a999"));
    const { skills, broken } = await find();
    assert.deepEqual(skills, []);
    assert.deepEqual(broken, [
      {
        where: ".agents/skills",
        fault: "of its 1001 entries only the first 1000 are looked at",
      },
    ]);
  });

  describe("and the system prompt", () => {
    it("is, with the tools, under its limit", () => {
      const system = systemPrompt({
        workspace: "/home/someone/projects/a-rather-long-name/of-a-workspace",
        platform: "linux",
        day: "2026-01-01",
        trusted: true,
        agents: undefined,
        skills: { skills: [], broken: [] },
      });
      const bytes = Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(toolSpecs()));
      assert.ok(bytes < PROMPT_BYTES, `${bytes} bytes`);
      for (const tool of ["read_file", "search_replace", "finish", "argv", "denial is final"]) {
        assert.match(system, new RegExp(tool));
      }
    });

    it("has 32 KiB of AGENTS.md, and not a byte more", async () => {
      await put(join(workspace, "AGENTS.md"), `\ufeffone\r\n${"x".repeat(AGENTS_MD_BYTES - 8)}`);
      assert.doesNotMatch(await sourceOf(() => true).system(), /Cut at/);
      await put(join(workspace, "AGENTS.md"), "é".repeat(AGENTS_MD_BYTES / 2 + 1));
      const system = await sourceOf(() => true).system();
      assert.match(system, /é\n\[Cut at 32 KiB\.\]/);
      assert.equal(system.match(/é/g)?.length, AGENTS_MD_BYTES / 2);
    });

    it("does not follow AGENTS.md out of the workspace, and says so", async () => {
      await put(join(base, "secret"), "SECRET");
      await symlink(join(base, "secret"), join(workspace, "AGENTS.md"));
      assert.doesNotMatch(await sourceOf(() => true).system(), /SECRET/);
      assert.match(reports.join("\n"), /AGENTS\.md is left out/);
    });

    it("stays the same while a session is open", async () => {
      const source = sourceOf(() => true);
      const before = await source.system();
      await put(join(workspace, "AGENTS.md"), "New.");
      assert.equal(await source.system(), before);
    });
  });
});
