import assert from "node:assert/strict";
import { classify } from "../../../src/webview/links.js";

describe("a link in a model's text", () => {
  const dead = [
    "command:workbench.action.quit",
    "COMMAND:workbench.action.quit",
    " command:x",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "java\tscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "vscode:extension/evil",
    "vscode-webview://x/y",
    "file:///etc/passwd",
    "blob:https://a/b",
    "//evil.example/share",
    "\\\\evil.example\\share",
    "%0d%0ajavascript:alert(1)",
    "a%00b",
    "https://example.com/\u0001x",
    "http://a\nb",
    "mailto:a@example.com\u007f",
    "",
  ];
  for (const href of dead)
    it(`stays text: ${JSON.stringify(href)}`, () => {
      assert.equal(classify(href), undefined);
    });

  it("may lead to the web", () => {
    assert.deepEqual(classify("https://example.com/a?b#c"), {
      kind: "web",
      href: "https://example.com/a?b#c",
    });
    assert.deepEqual(classify("mailto:a@example.com"), {
      kind: "web",
      href: "mailto:a@example.com",
    });
  });

  it("may lead to a file, at a line", () => {
    assert.deepEqual(classify("src/a.ts"), { kind: "file", path: "src/a.ts" });
    assert.deepEqual(classify("src/a.ts:12"), { kind: "file", path: "src/a.ts", line: 12 });
    assert.deepEqual(classify("src/a.ts:12:3"), { kind: "file", path: "src/a.ts", line: 12 });
    assert.deepEqual(classify("src/a.ts#L7-L9"), { kind: "file", path: "src/a.ts", line: 7 });
    assert.deepEqual(classify("a%20b.txt"), { kind: "file", path: "a b.txt" });
    assert.deepEqual(classify("100%.txt"), { kind: "file", path: "100%.txt" });
  });
});
