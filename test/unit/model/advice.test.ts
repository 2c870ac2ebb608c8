import assert from "node:assert/strict";
import { ChatError } from "../../../src/core/model/chatClient.js";
import { type Advice, chatError, type ServerFault } from "../../../src/core/model/errors.js";
import { createClient } from "../../../src/core/model/index.js";

const SERVER = "https://models.invalid/v1";
const ADVICE: Advice = { setKey: "in THE_KEY", pickModel: "in THE_MODEL" };

const told = (fault: ServerFault, advice?: Advice): string =>
  chatError(fault, { server: SERVER, model: "m", secrets: [], advice }).message;

describe("what an error tells the user to do", () => {
  const cases: readonly [string, ServerFault, string][] = [
    ["a wrong key", { status: 401 }, "Set the right one in THE_KEY."],
    [
      "a key without the right",
      { status: 403 },
      "The key may not use the model “m”; check the key's rights, or set another in THE_KEY.",
    ],
    [
      "no quota",
      { status: 402 },
      "Check its plan and billing, or pick another model in THE_MODEL.",
    ],
    [
      "a model that is not there",
      { status: 404 },
      "Check the model's name and the base URL, or pick another in THE_MODEL.",
    ],
    [
      "a model without tools",
      { status: 400, message: "m does not support tools" },
      "Pick one that can in THE_MODEL.",
    ],
  ];
  for (const [name, fault, end] of cases) {
    it(`ends in the host's own way: ${name}`, () => {
      assert.ok(told(fault, ADVICE).endsWith(` ${end}`), told(fault, ADVICE));
      const plain = end.replace(/ in THE_\w+\.$/, ".");
      assert.ok(told(fault).endsWith(` ${plain}`), told(fault));
    });
  }

  for (const [name, more, says] of [
    ["a key with a line break", { key: "sk-a\nb" }, "line breaks). Set it again in THE_KEY."],
    [
      "a password in the base URL",
      { baseUrl: "https://a:b@models.invalid" },
      "Take them out of it, and use a header or set a key in THE_KEY.",
    ],
  ] as const) {
    it(`ends so before anything is sent: ${name}`, () => {
      const config = { provider: "openai", baseUrl: SERVER, model: "m", advice: ADVICE } as const;
      assert.throws(
        () => createClient({ ...config, ...more }),
        (error) => error instanceof ChatError && error.message.endsWith(says),
      );
    });
  }
});
