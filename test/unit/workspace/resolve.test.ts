import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { resolvePath } from "../../../src/core/workspace/resolve.js";
import { link, type Tree } from "../../support/tree.js";
import { type Ground, ground, workspaceOn } from "./setup.js";

const WS: Tree = {
  "a.txt": "a",
  dir: { "b.txt": "b" },
  out: link("../outside"),
  "out.txt": link("../outside/secret"),
  "in.txt": link("a.txt"),
  "new.txt": link("dir/not-yet"),
  "new-out.txt": link("../outside/not-yet"),
  loop: link("."),
  esc: link("../outside/secret"),
  circle: link("circle"),
  one: link("two"),
  two: link("one"),
  "~x": "tilde",
  "a:52:b.txt": "colons",
  CON: "a device elsewhere",
};

describe("a path of a call", () => {
  let tree: Ground;
  before(async () => {
    tree = await ground(WS, {
      outside: { secret: "secret", back: link("../ws/dir") },
      "ws-evil": { x: "evil" },
      alias: link("ws"),
    });
  });

  async function inside(given: string): Promise<string> {
    const found = await resolvePath(tree.workspace, given);
    assert.equal(found.kind, "inside", `${given}: ${JSON.stringify(found)}`);
    if (found.kind !== "inside") return "";
    assert.equal(found.given, given);
    assert.equal(
      found.real,
      found.relative === "." ? tree.at("ws") : tree.at("ws", found.relative),
    );
    return found.relative;
  }
  async function outside(given: string): Promise<string> {
    const found = await resolvePath(tree.workspace, given);
    assert.equal(found.kind, "outside", `${given}: ${JSON.stringify(found)}`);
    return found.kind === "outside" ? found.real : "";
  }
  async function refused(given: string): Promise<string> {
    const found = await resolvePath(tree.workspace, given);
    assert.equal(found.kind, "refused", `${given}: ${JSON.stringify(found)}`);
    return found.kind === "refused" ? found.reason : "";
  }

  it("is inside where it is relative and lands inside", async () => {
    assert.equal(await inside("a.txt"), "a.txt");
    assert.equal(await inside("./dir//b.txt"), "dir/b.txt");
    assert.equal(await inside("."), ".");
    assert.equal(await inside("dir/.."), ".");
    assert.equal(await inside("dir/../a.txt"), "a.txt");
    assert.equal(await inside("in.txt"), "a.txt");
    assert.equal(await inside("loop/loop/dir/b.txt"), "dir/b.txt");
    assert.equal(await inside("../ws/a.txt"), "a.txt");
    assert.equal(await inside("a:52:b.txt"), "a:52:b.txt");
    assert.equal(await inside("CON"), "CON");
  });

  it("keeps the parts that do not exist yet below the deepest one that does", async () => {
    assert.equal(await inside("dir/new/deep/c.txt"), "dir/new/deep/c.txt");
    assert.equal(await inside("loop/new/c.txt"), "new/c.txt");
    assert.equal(await inside("missing/../a.txt"), "a.txt");
    assert.equal(await inside("new.txt"), "dir/not-yet");
  });

  it("is refused where it is relative and a link leads out, and names the link", async () => {
    const reason = `The path out/secret is refused: the link ${tree.at("ws", "out")} leads out of the workspace. Name a path inside, or the absolute path of what is outside.`;
    assert.equal(await refused("out/secret"), reason);
    for (const given of [
      "out",
      "out/",
      "out/new/deep.txt",
      "out.txt",
      "loop/loop/esc",
      "new-out.txt",
    ]) {
      assert.match(await refused(given), /the link .* leads out of the workspace/, given);
    }
  });

  it('is refused where it is relative and ".." leads out', async () => {
    for (const given of [
      "..",
      "../outside/secret",
      "dir/../../outside",
      "../ws-evil/x",
      "missing/../../outside",
    ]) {
      assert.match(await refused(given), /the "\.\." in it leads out of the workspace/, given);
    }
  });

  it("is inside where it is absolute and under the root, as it is seen or as it is", async () => {
    assert.equal(await inside(tree.at("ws", "a.txt")), "a.txt");
    assert.equal(await inside(tree.at("ws")), ".");
    const seen = await workspaceOn(tree.at("alias"));
    for (const root of ["alias", "ws"]) {
      assert.deepEqual(await resolvePath(seen, tree.at(root, "dir", "b.txt")), {
        kind: "inside",
        given: tree.at(root, "dir", "b.txt"),
        real: tree.at("ws", "dir", "b.txt"),
        relative: "dir/b.txt",
      });
      assert.equal((await resolvePath(seen, tree.at(root, "new.md"))).kind, "inside");
    }
  });

  it("is refused where it is absolute, under the root, and leads out", async () => {
    await refused(tree.at("ws", "out", "secret"));
    await refused(`${tree.at("ws")}/../outside/secret`);
    await refused(`${tree.at("ws-evil")}/../ws/out/secret`);
    const seen = await workspaceOn(tree.at("alias"));
    assert.equal((await resolvePath(seen, tree.at("alias", "out", "secret"))).kind, "refused");
    assert.equal((await resolvePath(seen, `${tree.at("alias")}/../outside`)).kind, "refused");
  });

  it("is a deliberate reach where it is absolute and elsewhere", async () => {
    assert.equal(await outside(tree.at("outside", "secret")), tree.at("outside", "secret"));
    assert.equal(await outside(tree.at("outside", "none", "x")), tree.at("outside", "none", "x"));
    assert.equal(await outside(tree.at("ws-evil", "x")), tree.at("ws-evil", "x"));
    assert.equal(await outside(`${tree.at("ws")}-evil/x`), tree.at("ws-evil", "x"));
    assert.equal(await outside("/"), "/");
  });

  it("is inside where it is absolute and elsewhere, and lands inside through a link", async () => {
    assert.equal(await inside(tree.at("outside", "back", "b.txt")), "dir/b.txt");
    assert.equal(await inside(tree.at("alias", "a.txt")), "a.txt");
  });

  it("goes through the aliases of /proc", async () => {
    const root = process.platform === "linux" ? "/proc/self/root" : "/";
    assert.equal(
      await outside(`${root}${tree.at("outside", "secret")}`),
      tree.at("outside", "secret"),
    );
    assert.equal(await outside("/proc/self/environ"), `/proc/${process.pid}/environ`);
  });

  it("is refused where links lead in a circle", async () => {
    assert.match(await refused("circle"), /leads in a circle/);
    assert.match(await refused("one/x"), /leads in a circle/);
  });

  it("follows forty links, and no more", async () => {
    const chain: Record<string, ReturnType<typeof link> | string> = { end: "x" };
    for (let index = 1; index <= 41; index++)
      chain[`l${index}`] = link(index === 1 ? "end" : `l${index - 1}`);
    const long = await ground(chain);
    assert.equal((await resolvePath(long.workspace, "l40")).kind, "inside");
    assert.equal((await resolvePath(long.workspace, "l41")).kind, "refused");
  });

  it("is refused for its spelling: empty, NUL, tilde, half a character", async () => {
    assert.match(await refused(""), /it is empty/);
    assert.match(await refused("a\0b"), /NUL character/);
    assert.match(await refused("~"), /"~" is not expanded/);
    assert.match(await refused("~/notes/x.txt"), /"~" is not expanded/);
    assert.match(await refused("~root/x"), /"~" is not expanded/);
    assert.match(await refused("a\ud800"), /no valid text/);
    assert.equal(await inside("./~x"), "~x");
  });

  it("is refused through a link whose target is no UTF-8", async () => {
    const { symlink } = await import("node:fs/promises");
    await symlink(Buffer.from("caf\xe9", "latin1"), tree.at("ws", "latin"));
    assert.match(await refused("latin"), /no UTF-8/);
  });

  it("takes the root of the disk as a workspace", async () => {
    const root = await workspaceOn("/");
    assert.deepEqual(await resolvePath(root, tree.at("ws", "a.txt")), {
      kind: "inside",
      given: tree.at("ws", "a.txt"),
      real: tree.at("ws", "a.txt"),
      relative: tree.at("ws", "a.txt").slice(1),
    });
    assert.equal((await resolvePath(root, "..")).kind, "inside");
  });
});

describe("a workspace", () => {
  it("says what is wrong where its folder is not there or is a file", async () => {
    const tree = await ground({ "a.txt": "a" });
    await assert.rejects(workspaceOn(tree.at("none")), /cannot be opened \(ENOENT\)/);
    await assert.rejects(workspaceOn(tree.at("ws", "a.txt")), /is not a folder/);
  });

  it("keeps its real root where the link to it is turned elsewhere later", async () => {
    const tree = await ground({ "a.txt": "a" }, { other: {}, name: link("ws") });
    const workspace = await workspaceOn(tree.at("name"));
    const { rm, symlink } = await import("node:fs/promises");
    await rm(tree.at("name"));
    await symlink("other", tree.at("name"));
    await mkdir(tree.at("other", "sub"));
    await writeFile(tree.at("other", "a.txt"), "other");
    const found = await resolvePath(workspace, "a.txt");
    assert.equal(found.kind === "inside" && found.real, tree.at("ws", "a.txt"));
  });
});
