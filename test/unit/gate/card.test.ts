import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { chmod, link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeCard } from "../../../src/core/gate/card.js";
import type { PreparedRead } from "../../../src/core/gate/prepared.js";
import { WRITE_BYTES } from "../../../src/core/limits.js";
import { digest } from "../../../src/core/workspace/digest.js";
import { resolvePath } from "../../../src/core/workspace/resolve.js";
import { bytes, makeWorkspace, prepareRun, prepareWrite } from "./support.js";

const ids = { card: "k1", call: "c1", turn: "t1" };
type Made = Awaited<ReturnType<typeof makeWorkspace>>;

describe("a card", () => {
  let made: Made;
  beforeEach(async () => {
    made = await makeWorkspace();
  });
  afterEach(() => made.remove());

  const cardOf = async (path: string, after: Uint8Array) =>
    makeCard(made.workspace, await prepareWrite(made.workspace, path, after), ids);
  const reasonsOf = async (path: string, after = bytes("new\n")) =>
    (await cardOf(path, after)).reasons ?? [];

  it("for a write has the path, the diff, the digest and every proposed byte", async () => {
    await writeFile(join(made.root, "a.txt"), "one\ntwo\n");
    deepStrictEqual(await cardOf("a.txt", bytes("one\n2\n3\n")), {
      type: "card_raised",
      card: "k1",
      call: "c1",
      turn: "t1",
      tool: "write_file",
      kind: "write",
      path: join(made.root, "a.txt"),
      relative: "a.txt",
      digest: digest(bytes("one\ntwo\n")),
      diff: "@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n",
      added: 2,
      removed: 1,
      bytesBefore: 8,
      bytesAfter: 8,
      proposed: "one\n2\n3\n",
      proposedEncoding: "utf8",
    });
  });

  it("for a new file says that there was none", async () => {
    const card = await cardOf("deep/new.txt", bytes(""));
    deepStrictEqual(
      [card.digest, card.bytesBefore, card.bytesAfter, card.diff, card.proposed],
      [null, null, 0, "\\ New file, empty\n", ""],
    );
  });

  it("keeps bytes that are no UTF-8 in base64, and a BOM as it is", async () => {
    const latin = Buffer.from("caf\xe9\n", "latin1");
    const card = await cardOf("a.txt", latin);
    deepStrictEqual(
      [card.proposedEncoding, Buffer.from(card.proposed ?? "", "base64")],
      ["base64", latin],
    );
    strictEqual((await cardOf("b.txt", bytes("\ufeffa"))).proposed, "\ufeffa");
  });

  it("keeps every byte of a change whose diff is cut", async () => {
    const text = "0123456\n".repeat(WRITE_BYTES / 8);
    const card = await cardOf("big.txt", bytes(text));
    deepStrictEqual(
      [card.diffCut, card.bytesAfter, card.added, card.proposed === text],
      [true, WRITE_BYTES, WRITE_BYTES / 8, true],
    );
  });

  it("for a command has its argv as it is, and the time limit only where it is not the default", async () => {
    const argv = ["rm", "-rf", "src\u202egnp.tac"];
    deepStrictEqual(await makeCard(made.workspace, prepareRun(argv), ids), {
      type: "card_raised",
      ...ids,
      tool: "run",
      kind: "run",
      argv,
      reasons: ["1 argument holds hidden characters, shown as ⟦…⟧."],
    });
    const limits = await Promise.all(
      [119, 120, 121].map((timeout) =>
        makeCard(made.workspace, prepareRun(["make"], timeout), ids),
      ),
    );
    deepStrictEqual(
      limits.map((card) => card.timeout),
      [119, undefined, 121],
    );
  });

  it("says where text stands behind 80 blanks, and not where it does not, or did before", async () => {
    const ran = async (argument: string): Promise<string[]> =>
      (await makeCard(made.workspace, prepareRun(["sh", "-c", argument]), ids)).reasons ?? [];
    const apart = (count: number, blank = " "): string => `ok${blank.repeat(count)}evil`;
    deepStrictEqual(await ran(apart(79)), []);
    deepStrictEqual(await ran(`${" ".repeat(200)}ok${" ".repeat(200)}`), []);
    deepStrictEqual(await ran(apart(80)), [
      "Argument 2 goes on behind 80 or more blanks in a row.",
    ]);
    const said = ["A line of it goes on behind 80 or more blanks in a row."];
    deepStrictEqual(await reasonsOf("f", bytes(`${apart(79)}\n`)), []);
    deepStrictEqual(await reasonsOf("f", bytes(`${apart(40)}\n${apart(80, "\t")}\n`)), said);
    await writeFile(join(made.root, "f"), `${apart(100)}\n`);
    deepStrictEqual(await reasonsOf("f", bytes(`${apart(100)}\nnew\n`)), []);
    deepStrictEqual(await reasonsOf("f", bytes(`${apart(100)}\n${apart(80)}\n`)), said);
  });

  it("says how long an argument with line breaks is", async () => {
    const argument = `ok${"\n".repeat(200)}; evil`;
    const card = await makeCard(made.workspace, prepareRun(["sh", "-c", argument]), ids);
    deepStrictEqual(card.reasons, [
      "1 argument holds hidden characters, shown as ⟦…⟧.",
      "Argument 2 is 201 lines and 208 characters long.",
    ]);
  });

  it("for a read outside names the path after every link, and as given where they differ", async () => {
    await writeFile(join(made.outside, "real.txt"), "x");
    await symlink("real.txt", join(made.outside, "link.txt"));
    const given = join(made.outside, "link.txt");
    const path = await resolvePath(made.workspace, given);
    ok(path.kind === "outside");
    const prepared: PreparedRead = { kind: "read", tool: "read_file", path };
    deepStrictEqual(await makeCard(made.workspace, prepared, { ...ids, replaces: "k0" }), {
      type: "card_raised",
      ...ids,
      replaces: "k0",
      tool: "read_file",
      kind: "read",
      path: join(made.outside, "real.txt"),
      given,
      reasons: ["It is outside the workspace."],
    });
  });

  it("names the file that a link inside leads to", async () => {
    await writeFile(join(made.root, "AGENTS.md"), "old\n");
    await symlink("AGENTS.md", join(made.root, "CLAUDE.md"));
    const card = await cardOf("CLAUDE.md", bytes("new\n"));
    deepStrictEqual(
      [card.path, card.relative, card.given],
      [join(made.root, "AGENTS.md"), "AGENTS.md", "CLAUDE.md"],
    );
  });

  it("says why a path deserves a second look", async () => {
    const cases: [string, RegExp][] = [
      [join(made.outside, "x"), /outside the workspace/],
      ["/proc/self/none", /in \/proc, .* asked for each time/],
      [".git/hooks/pre-commit", /in \.git,/],
      ["sub/.GIT/config", /in \.git,/],
      [".vscode/tasks.json", /in \.vscode,/],
      [".v\u017fcode/tasks.json", /in \.vscode,/],
      [".g\u200cit/hooks/pre-commit", /in \.git,/],
      [".z\u017fhrc", /shell profile/],
      ["dotfiles/.bashrc", /shell profile/],
      ["dotfiles/.ZSHENV", /shell profile/],
      ["fish/conf.d/a.fish", /shell profile/],
      ["x.code-workspace", /workspace file/],
      ["a\u200b.txt", /hidden characters/],
    ];
    for (const [path, reason] of cases) match((await reasonsOf(path)).join("\n"), reason);
    deepStrictEqual(await reasonsOf("gitignore/.gitignore"), []);
    deepStrictEqual(await reasonsOf("vscode/bashrc"), []);
  });

  it("says what stands out about the file", async () => {
    const file = join(made.root, "f");
    const reasonsWith = async (mode: number) => {
      await writeFile(file, "old\n");
      await chmod(file, mode);
      return reasonsOf("f");
    };
    deepStrictEqual(await reasonsWith(0o644), []);
    deepStrictEqual(await reasonsWith(0o755), ["It is executable."]);
    deepStrictEqual(await reasonsWith(0o654), ["It is executable."]);
    deepStrictEqual(await reasonsWith(0o4755), [
      "It is executable.",
      "It has a set-user, set-group or sticky bit.",
    ]);
    await chmod(file, 0o644);
    await link(file, join(made.root, "g"));
    deepStrictEqual(await reasonsOf("f"), [
      "It has 1 other name (hard links), which will keep the old text.",
    ]);
    await link(file, join(made.root, "h"));
    made.unsaved.add(file);
    deepStrictEqual(await reasonsOf("f", bytes("")), [
      "The editor holds it with unsaved changes, which are not in this diff.",
      "It has 2 other names (hard links), which will keep the old text.",
      "Everything in it is deleted.",
    ]);
    deepStrictEqual(
      (await reasonsOf("f", bytes("old\n"))).at(-1),
      "It has exactly these bytes already.",
    );
    await chmod(file, 0o444);
    ok((await reasonsOf("f")).includes("It is read-only."));
  });

  it("says where the new text changes the direction of text, even past the part that is shown", async () => {
    const far = `${"line\n".repeat(20_000)}a\u202eb\n`;
    const card = await cardOf("a.txt", bytes(far));
    deepStrictEqual(
      [card.diffCut, card.diff?.includes("U+202E"), card.reasons],
      [
        true,
        false,
        ["What is proposed holds characters that change the direction of text, shown as ⟦U+…⟧."],
      ],
    );
  });

  it("does not call all of a workspace suspect that lies below such a folder itself", async () => {
    const root = join(made.root, ".git", "ws");
    await mkdir(root, { recursive: true });
    const workspace = { ...made.workspace, root, realRoot: root };
    const prepared = await prepareWrite(workspace, "a.txt", bytes("a"));
    strictEqual((await makeCard(workspace, prepared, ids)).reasons, undefined);
  });
});
