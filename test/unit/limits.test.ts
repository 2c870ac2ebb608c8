import assert from "node:assert/strict";
import * as limits from "../../src/core/limits.js";

describe("the numbers of the specification", () => {
  const KiB = 1024;

  it("are these: where one changes, what is written about it changes too", () => {
    const known = {
      PATH_CHARS: 32 * KiB,
      READ_BYTES: 32 * KiB,
      BINARY_SNIFF_BYTES: 8 * KiB,
      GREP_MATCHES: 200,
      GREP_LINE_CHARS: 500,
      GREP_TIMEOUT_MS: 20_000,
      LIST_NAMES: 500,
      WRITE_BYTES: 256 * KiB,
      RUN_TIMEOUT_S: 120,
      RUN_TIMEOUT_MAX_S: 600,
      RUN_STREAM_BYTES: 64 * KiB,
      KILL_AFTER_MS: 2_000,
      DIFF_BYTES: 64 * KiB,
      DIFF_LINES: 400,
      DIFF_CONTEXT: 3,
      CARD_BLANKS: 80,
      TURN_ANSWERS: 200,
      HOOK_BLOCKS: 5,
      HOOK_TIMEOUT_S: 60,
      HOOK_OUTPUT_BYTES: 16 * KiB,
      AGENTS_MD_BYTES: 32 * KiB,
      ARGS_DEPTH: 64,
    };
    const all: Record<string, number> = { ...limits };
    const there = Object.keys(known).map((name) => [name, all[name]]);
    assert.deepEqual(Object.fromEntries(there), known);
  });
});
