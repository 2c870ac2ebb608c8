import assert from "node:assert/strict";
import { cleanEnvironment } from "../../../src/core/workspace/environment.js";

const QUIET = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  NO_COLOR: "1",
  TERM: "dumb",
};

describe("the environment of a command", () => {
  it("is the user's, less the editor's own and the agent's keys and settings", () => {
    const given = {
      PATH: "/bin",
      HOME: "/home/u",
      MY_ELECTRON_APP: "kept",
      ELECTRON_RUN_AS_NODE: "1",
      VSCODE_IPC_HOOK: "x",
      NODE_OPTIONS: "--inspect",
      NODE_OPTIONS_OF_MINE: "kept",
      OPENAI_API_KEY: "sk",
      ANTHROPIC_BASE_URL: "http://x",
      COUNTERSIGN_HOME: "/c",
      MY_TOKEN: "secret",
      PAGER: "less",
      TERM: "xterm",
      GONE: undefined,
    };
    assert.deepEqual(cleanEnvironment(given, ["MY_TOKEN"], "linux"), {
      PATH: "/bin",
      HOME: "/home/u",
      MY_ELECTRON_APP: "kept",
      NODE_OPTIONS_OF_MINE: "kept",
      ...QUIET,
    });
    assert.equal(given.OPENAI_API_KEY, "sk");
  });

  it("compares names without case on Windows, and with it elsewhere", () => {
    const given = { Path: "x", Node_Options: "x", vscode_pid: "1", Pager: "less", my_token: "x" };
    assert.deepEqual(cleanEnvironment(given, ["MY_TOKEN"], "win32"), { Path: "x", ...QUIET });
    assert.deepEqual(cleanEnvironment(given, ["MY_TOKEN"], "linux"), { ...given, ...QUIET });
  });
});
