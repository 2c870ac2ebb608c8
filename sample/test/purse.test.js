import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMoney } from "../src/format.js";
import { total } from "../src/total.js";

test("an empty purse holds nothing", () => {
  assert.equal(total([]), 0);
});

test("every coin counts", () => {
  assert.equal(total([5, 0.5, 0.2]), 570);
});

test("cents are written with two digits", () => {
  assert.equal(formatMoney(570), "5.70");
});
