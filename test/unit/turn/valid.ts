import assert from "node:assert/strict";
import type { ChatRequest } from "../../../src/core/model/chatClient.js";
import type { World } from "./support.js";

/** What every provider asks of a request: one result for each call, in its place, and nothing empty. */
export function assertValid(request: ChatRequest): void {
  const waiting: string[] = [];
  const seen = new Set<string>();
  let before = "nothing";
  for (const message of request.messages) {
    if (message.role === "tool") {
      assert.equal(message.call, waiting.shift(), "a result belongs to the next call");
      assert.notEqual(message.text, "");
    } else {
      assert.equal(waiting.length, 0, "each call has its result before anything else is said");
      assert.notEqual(message.role, before, "the roles take turns");
      assert.ok(
        message.text.trim() !== "" || (message.role === "assistant" && message.calls.length > 0),
        "no message is empty",
      );
      if (message.role === "assistant") {
        for (const { call } of message.calls) {
          assert.ok(!seen.has(call), `${call} is the name of one call`);
          seen.add(call);
          waiting.push(call);
        }
      }
    }
    before = message.role;
  }
  assert.equal(waiting.length, 0);
  assert.equal(request.messages[0]?.role, "user");
  assert.notEqual(before, "assistant", "the model has the word");
}

/** Each request begins with all of the one before it. */
export function assertGrows(requests: readonly ChatRequest[]): void {
  for (const [index, request] of requests.entries()) {
    const previous = requests[index - 1];
    if (previous === undefined) continue;
    assert.equal(request.system, previous.system);
    assert.equal(JSON.stringify(request.tools), JSON.stringify(previous.tools));
    assert.equal(
      JSON.stringify(request.messages.slice(0, previous.messages.length)),
      JSON.stringify(previous.messages),
    );
  }
}

/** Ends a test's world, in which every request was valid. */
export async function closeValid(world: World): Promise<void> {
  for (const request of world.client.requests) assertValid(request);
  await world.dispose();
}
