"use strict";
/**
 * Mocha's spec reporter, which also writes what became of every test to the file that
 * COUNTERSIGN_RESULTS names: `{passed, failed, tests: [{title, ok, ms, error?}]}`. No file: the
 * run did not end.
 */
const { renameSync, writeFileSync } = require("node:fs");
const { reporters } = require("mocha");

module.exports = class Reporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const tests = [];
    const note = (test, error) =>
      tests.push({
        title: test.fullTitle(),
        ok: error === undefined,
        ms: test.duration ?? 0,
        ...(error === undefined ? {} : { error: error.stack ?? String(error) }),
      });
    runner.on("pass", (test) => note(test));
    runner.on("fail", (test, error) => note(test, error));
    // A test that is left out is no test that passed.
    runner.on("pending", (test) => note(test, new Error("was skipped")));
    runner.once("end", () => {
      const file = process.env.COUNTERSIGN_RESULTS;
      if (!file) return;
      const passed = tests.filter((test) => test.ok).length;
      const text = JSON.stringify({ passed, failed: tests.length - passed, tests });
      writeFileSync(`${file}.part`, text);
      renameSync(`${file}.part`, file);
    });
  }
};
