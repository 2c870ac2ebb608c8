import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { importsOf, wrongImports } from "../support/imports.js";

const src = fileURLToPath(new URL("../../src", import.meta.url));

describe("the import rule", () => {
  it("holds in src", async () => {
    assert.deepEqual(await wrongImports(src), []);
  });

  describe("finds", () => {
    let tree: string;
    beforeEach(async () => {
      tree = await mkdtemp(join(tmpdir(), "countersign-imports-"));
    });
    afterEach(async () => {
      await rm(tree, { recursive: true, force: true });
    });

    const cases: readonly (readonly [name: string, file: string, source: string, fault: string])[] =
      [
        [
          "vscode in the core",
          "core/turn/runner.ts",
          'import * as vscode from "vscode";',
          "vscode is for vscode/ and extension.ts alone",
        ],
        [
          "vscode in the core as a type",
          "core/session/log.ts",
          'import type { Uri } from "vscode";',
          "vscode is for vscode/ and extension.ts alone",
        ],
        [
          "vscode loaded late",
          "core/gate/gate.ts",
          'const late = () => import("vscode");',
          "vscode is for vscode/ and extension.ts alone",
        ],
        [
          "an import against the order",
          "core/workspace/read.ts",
          'import { gate } from "../gate/gate.js";',
          "workspace imports gate",
        ],
        [
          "an import over several lines against the order",
          "core/gate/card.ts",
          'import {\n  one,\n  type Two,\n} from "../tools/index.js";',
          "gate imports tools",
        ],
        [
          "a type against the order",
          "core/tools/run.ts",
          'import type { Runner } from "../turn/runner.js";',
          "tools knows types of turn",
        ],
        [
          "a re-export against the order",
          "core/limits.ts",
          'export * from "./workspace/types.js";',
          "limits imports workspace",
        ],
        [
          "the vocabulary by value in the gate",
          "core/gate/card.ts",
          'import { allowSchema } from "../session/events.js";',
          "gate imports session",
        ],
        [
          "a value in the session's log",
          "core/session/log.ts",
          'import { resolve } from "../workspace/resolve.js";',
          "session imports workspace",
        ],
        [
          "a value in a chat client",
          "core/model/openai.ts",
          'import { tools } from "../tools/index.js";',
          "model imports tools",
        ],
        [
          "a host in the core",
          "core/core.ts",
          'import "../vscode/ids.js";',
          "the core imports vscode/ids.ts",
        ],
        [
          "the core in the webview",
          "webview/card.tsx",
          'import { allowSchema } from "../core/session/events.js";',
          "the webview imports core/session/events.ts",
        ],
        [
          "Node in the webview",
          "webview/card.tsx",
          'import "node:path";',
          "the webview has no node:path",
        ],
        [
          "the webview's inside in a host",
          "vscode/chatView.ts",
          'import { store } from "../webview/store.js";',
          "a host imports webview/store.ts; it may know the webview's protocol and texts alone",
        ],
        [
          "one host in the other",
          "acp/agent.ts",
          'import "../vscode/ids.js";',
          "acp imports vscode",
        ],
        [
          "a permit made outside of the gate",
          "core/turn/call.ts",
          'import { issuePermit } from "../workspace/permit.js";',
          "only core/gate/gate.ts makes permits",
        ],
        [
          "a permit made under another name",
          "core/gate/card.ts",
          'import { issuePermit as make } from "../workspace/permit.js";',
          "only core/gate/gate.ts makes permits",
        ],
        [
          "everything of the permits",
          "vscode/asking.ts",
          'import * as permits from "../core/workspace/permit.js";',
          "only core/gate/gate.ts makes permits",
        ],
        [
          "permits passed on",
          "core/workspace/read.ts",
          'export { issuePermit } from "./permit.js";',
          "only core/gate/gate.ts makes permits",
        ],
        [
          "a process outside of the workspace",
          "core/tools/run.ts",
          'import { spawn } from "node:child_process";',
          "may start processes by node:child_process",
        ],
        [
          "a process by require",
          "vscode/asking.ts",
          'const { exec } = require("child_process");',
          "may start processes by child_process",
        ],
        [
          "a write outside of the workspace",
          "core/turn/prompt.ts",
          'import { readFile, writeFile } from "node:fs/promises";',
          "may change files by writeFile of node:fs/promises",
        ],
        [
          "all of the file system",
          "core/gate/card.ts",
          'import * as fs from "node:fs";',
          "may change files by * of node:fs",
        ],
        [
          "the tests in the product",
          "core/turn/runner.ts",
          'import { tree } from "../../../test/support/tree.js";',
          "../../../test/support/tree.js is not of src",
        ],
        [
          "a package that no list has",
          "core/turn/runner.ts",
          'import pad from "left-pad";',
          "left-pad is on no list of packages",
        ],
        [
          "a client library outside of the models",
          "core/turn/runner.ts",
          'import OpenAI from "openai";',
          "openai is for core/model/ alone",
        ],
        [
          "a client library's code",
          "core/model/openai.ts",
          'const client = () => import("openai");',
          "openai is for its types alone",
        ],
        [
          "a name that is computed",
          "core/turn/runner.ts",
          "const module = await import(name);",
          "imports a module whose name is computed",
        ],
      ];
    for (const [name, file, source, fault] of cases) {
      it(name, async () => {
        await mkdir(dirname(join(tree, file)), { recursive: true });
        await writeFile(join(tree, file), source);
        assert.deepEqual(await wrongImports(tree), [`${file}: ${fault}`]);
      });
    }
  });

  it("lets through what it should", async () => {
    const tree = await mkdtemp(join(tmpdir(), "countersign-imports-"));
    const right: readonly (readonly [string, string])[] = [
      ["core/gate/gate.ts", 'import { issuePermit } from "../workspace/permit.js";'],
      ["core/gate/card.ts", 'import type { Answer } from "../session/events.js";'],
      ["core/tools/run.ts", 'import { Permit } from "../workspace/permit.js";'],
      ["core/session/state.ts", 'import type { OpenCard } from "../turn/live.js";'],
      ["core/turn/prompt.ts", 'import { readFile } from "node:fs/promises";'],
      ["core/model/openai.ts", 'import type OpenAI from "openai";'],
      ["vscode/lens.ts", 'import * as vscode from "vscode";\nimport { x } from "../core/core.js";'],
      ["webview/store.ts", 'import type { Answer } from "../core/session/events.js";'],
      ["acp.ts", 'import { version } from "../package.json";'],
      ["webview/card.tsx", 'import { h } from "preact";\nimport "./style.css";'],
    ];
    try {
      for (const [file, source] of right) {
        await mkdir(dirname(join(tree, file)), { recursive: true });
        await writeFile(join(tree, file), source);
      }
      assert.deepEqual(await wrongImports(tree), []);
    } finally {
      await rm(tree, { recursive: true, force: true });
    }
  });

  it("reads every form of import", () => {
    const source = [
      'import a from "a";',
      'import b, { c as d, type E } from "b";',
      'import type { F } from "f";',
      'import "g";',
      'export type { H } from "h";',
      "const i = await import('i');",
    ].join("\n");
    assert.deepEqual(importsOf(source), [
      { from: "a", typeOnly: false, names: ["*"] },
      { from: "b", typeOnly: false, names: ["c", "*"] },
      { from: "f", typeOnly: true, names: ["F"] },
      { from: "h", typeOnly: true, names: ["H"] },
      { from: "g", typeOnly: false, names: [] },
      { from: "i", typeOnly: false, names: ["*"] },
    ]);
  });
});
