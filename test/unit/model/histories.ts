import fc from "fast-check";
import type { Message, ModelCall, ProviderData } from "../../../src/core/model/chatClient.js";

const text = fc.oneof(
  fc.constantFrom("", " ", "\n", "(no output)", "Grüße 🎉", "a\u0000b", "\ud83d"),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);

const id = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
  fc.constantFrom("call_0", "id with spaces", "ünï", "x".repeat(41), "a/b", ""),
);

const call: fc.Arbitrary<ModelCall> = fc.oneof(
  fc.record({
    call: id,
    tool: fc.constantFrom("read_file", "run", "no such tool!", "", "ö", "x".repeat(80)),
    args: fc.dictionary(fc.constantFrom("path", "content", "__proto__"), fc.jsonValue()),
  }),
  fc.record({
    call: id,
    tool: fc.constantFrom("read_file", "run"),
    args: fc.constant(null),
    invalid: text,
  }),
);

/** What the clients of every provider left in a log, fitting or not. */
function extraOf(message: {
  text: string;
  calls: readonly ModelCall[];
}): fc.Arbitrary<ProviderData | undefined> {
  const thinking = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
  const order = [
    thinking,
    { type: "redacted_thinking", data: "aGk=" },
    { type: "text", length: message.text.length },
    ...message.calls.map(({ call: name }) => ({ type: "call", call: name })),
  ];
  return fc.constantFrom<ProviderData | undefined>(
    undefined,
    { provider: "anthropic", data: { model: "m", blocks: order } },
    { provider: "anthropic", data: { model: "m", blocks: [thinking] } },
    { provider: "anthropic", data: { model: "another", blocks: order } },
    { provider: "anthropic", data: { model: "m", blocks: [{ type: "call", call: "gone" }] } },
    { provider: "anthropic", data: "broken" },
    { provider: "openai", data: { origin: "http://o", model: "m", reasoning: "Hm." } },
    { provider: "openai", data: { origin: "http://other", model: "m", details: [{ a: 1 }] } },
    { provider: "openai", data: null },
    { provider: "vscode", data: {} },
  );
}

const assistant: fc.Arbitrary<Extract<Message, { role: "assistant" }>> = fc
  .record({ text, calls: fc.array(call, { maxLength: 4 }) })
  .chain((message) =>
    extraOf(message).map((extra) => ({
      role: "assistant" as const,
      ...message,
      ...(extra === undefined ? {} : { extra }),
    })),
  );

const user: fc.Arbitrary<Message> = text.map((words) => ({ role: "user", text: words }));

/** Any messages in any order: results that belong to no call, calls that have none, or two. */
export const anyHistory: fc.Arbitrary<Message[]> = fc.array(
  fc.oneof(
    user,
    assistant,
    fc.record({ role: fc.constant("tool" as const), call: id, ok: fc.boolean(), text }),
  ),
  { maxLength: 14 },
);

/** A session as a log gives it: turns of asks and answers, each call with its result. */
export const session: fc.Arbitrary<Message[]> = fc
  .array(fc.tuple(user, fc.array(assistant, { minLength: 1, maxLength: 4 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((turns) => {
    let n = 0;
    return turns.flatMap(([ask, answers]) => [
      ask,
      ...answers.flatMap((answer): Message[] => {
        const calls = answer.calls.map((one) => ({ ...one, call: `${one.call}${n++}` }));
        return [
          { ...answer, calls },
          ...calls.map(
            ({ call: name }, at): Message => ({
              role: "tool",
              call: name,
              ok: at % 2 === 0,
              text: at === 0 ? "" : "result",
            }),
          ),
        ];
      }),
    ]);
  });
