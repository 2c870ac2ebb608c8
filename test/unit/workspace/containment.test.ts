import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import fc from "fast-check";
import { digest } from "../../../src/core/workspace/digest.js";
import { issuePermit } from "../../../src/core/workspace/permit.js";
import { readSnapshot, readWindow } from "../../../src/core/workspace/read.js";
import { resolvePath } from "../../../src/core/workspace/resolve.js";
import { FileChanged, ToolError } from "../../../src/core/workspace/types.js";
import { writeBytes } from "../../../src/core/workspace/write.js";
import { harvest } from "../../support/tree.js";
import { ground, runs } from "./setup.js";

const NAMES = ["a", "b", "c"];
const name = fc.constantFrom(...NAMES);
const near = fc.constantFrom("a", "b", "c", "..", ".", "ws", "outside", "ws-evil");
const anywhere = fc
  .array(near, { minLength: 1, maxLength: 4 })
  .chain((parts) => fc.constantFrom(parts.join("/"), `BASE/${parts.join("/")}`));
/** Where a link may lead; BASE stands for the temporary directory. Many lead out, as attacks would. */
const target = fc.oneof(
  anywhere,
  fc.constantFrom(
    "../outside",
    "../../outside",
    "BASE/outside",
    "BASE/outside/a",
    "BASE/outside/c",
  ),
  fc.constantFrom(
    "..",
    "../..",
    "BASE/ws-evil",
    "BASE/alias",
    "/proc/self/root",
    "BASE/outside/new",
  ),
);
const node = fc.oneof(
  fc.constant({ kind: "file" } as const),
  fc.constant({ kind: "dir" } as const),
  target.map((to) => ({ kind: "link", to }) as const),
);
const tree = fc.array(fc.tuple(fc.array(name, { minLength: 1, maxLength: 3 }), node), {
  maxLength: 10,
});
const given = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: name },
      fc.constantFrom("..", ".", "", "ws", "outside", "ws-evil", "new"),
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .chain((parts) => {
    const path = parts.join("/");
    return fc.constantFrom(path, path, `BASE/${path}`, `BASE/ws/${path}`, `BASE/alias/${path}`);
  });
const OUTSIDE = { a: { a: "SECRET", b: "SECRET", c: "SECRET" }, b: "SECRET", c: "SECRET" };

describe("any tree of files and links, and any path", () => {
  it("gives no byte from outside and changes none, without a path that says that it is outside", async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(
        tree,
        fc.array(given, { minLength: 1, maxLength: 8 }),
        async (nodes, paths) => {
          const place = await ground({}, { outside: OUTSIDE, "ws-evil": OUTSIDE });
          await symlink("ws", place.at("alias"));
          const real = (text: string) => text.replace("BASE", place.base);
          for (const [parts, what] of nodes) {
            const at = place.at("ws", ...parts);
            // Names that are taken, or whose parent is a file or leads nowhere, are left as they are.
            try {
              if (!(await resolvePath(place.workspace, at)).kind.startsWith("in")) continue;
              await mkdir(path.dirname(at), { recursive: true });
              if (what.kind === "file") await writeFile(at, "inside", { flag: "wx" });
              else if (what.kind === "dir") await mkdir(at);
              else await symlink(real(what.to), at);
            } catch {}
          }
          const outsideBefore = [
            await harvest(place.at("outside")),
            await harvest(place.at("ws-evil")),
          ];
          for (const text of paths.map(real)) {
            const found = await resolvePath(place.workspace, text);
            if (found.kind === "outside") {
              // A card names it; and it is never one that was meant to be inside.
              assert.ok(path.isAbsolute(text));
              assert.ok(
                found.real !== place.at("ws") && !found.real.startsWith(place.at("ws", "/")),
              );
              continue;
            }
            if (found.kind === "refused") continue;
            const permit = issuePermit<"read">({ kind: "read", call: "c", path: found });
            const read = await readWindow(permit, place.workspace, { offset: 0 });
            assert.ok(!(read instanceof FileChanged));
            assert.doesNotMatch(read instanceof ToolError ? read.message : read.text, /SECRET/);
            const before = await readSnapshot(place.workspace, found, 100);
            if (before instanceof ToolError) continue;
            const bytes = Buffer.from("written");
            const write = issuePermit<"write">({
              kind: "write",
              call: "c",
              path: found,
              before: before.digest,
              after: digest(bytes),
              mark: "0123456789abcdef",
            });
            await writeBytes(place.workspace, write, bytes);
          }
          assert.deepEqual(
            [await harvest(place.at("outside")), await harvest(place.at("ws-evil"))],
            outsideBefore,
          );
          await place.remove();
        },
      ),
      { numRuns: runs(150) },
    );
  });
});
