import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { label, notice } from "../../../src/vscode/plain.js";

const src = fileURLToPath(new URL("../../../src", import.meta.url));

/** How VS Code finds links in a notification, and icons in a row of a list. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/gi;
const ICON = /(\\)?\$\(([A-Za-z0-9-]+(?:~[A-Za-z]+)?)\)/g;

describe("words of others in VS Code's own surfaces", () => {
  const hostile = [
    "[Details](command:workbench.action.quit)",
    "[[x](command:a)](command:b)",
    '[a](https://example.invalid "title")',
    "[a]](file:///etc/passwd)",
    "[a](command:b)](command:c)",
  ];
  for (const text of hostile) {
    it(`are no link in a notification: ${text}`, () => {
      assert.deepEqual(notice(text).match(LINK), null);
      assert.equal(notice(text).replaceAll("] (", "]("), text);
    });
  }

  it("stay as they are in a notification where they are no link", () => {
    for (const text of ["src/[id]/page.ts", "f(a)[0] (b)", "$(x)", "a ] b ( c"])
      assert.equal(notice(text), text);
  });

  it("are drawn as they are in a list, with what would be an icon", () => {
    const drawn = (text: string) =>
      label(text).replace(ICON, (_, escaped: string | undefined, name: string) =>
        escaped === undefined ? "" : `$(${name})`,
      );
    for (const text of [
      'sh -c "echo $(reboot)"',
      "$(check)$(x~spin)",
      "\\$(check)",
      "$(rm -rf ~)",
      "$() $($(a))",
    ])
      assert.equal(drawn(text), text);
  });

  it("come to a notification by one way alone", async () => {
    const files = (await readdir(src, { recursive: true })).filter((name) => name.endsWith(".ts"));
    const others: string[] = [];
    for (const name of files) {
      if (name.replaceAll("\\", "/") === "vscode/say.ts") continue;
      const text = await readFile(`${src}/${name}`, "utf8");
      if (/\bshow(Information|Warning|Error)Message\b/.test(text)) others.push(name);
    }
    assert.deepEqual(others, []);
  });
});
