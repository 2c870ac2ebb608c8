/** A host that does one scripted turn, to be killed by a test. Arguments: home, workspace, session or "". */

import { createCore } from "../../../src/core/core.js";
import type { ChatAnswer, ChatClient, ChatRequest } from "../../../src/core/model/chatClient.js";
import { ToolError } from "../../../src/core/workspace/types.js";

const [home = "", workspace = "", id = ""] = process.argv.slice(2);

/** Every command appends a line of its own, every write makes a file of its own. */
function answerTo(request: ChatRequest): Partial<ChatAnswer> {
  const count = request.messages.filter((message) => message.role === "assistant").length;
  if (count >= 6) return { calls: [{ call: "f", tool: "finish", args: { result: "done" } }] };
  return {
    calls: [
      { call: `l${count}`, tool: "list_dir", args: {} },
      { call: `w${count}`, tool: "write_file", args: { path: `f${count}`, content: `${count}\n` } },
      {
        call: `r${count}`,
        tool: "run",
        args: { argv: ["sh", "-c", `echo ${count} >> ran`] },
      },
    ],
  };
}

const client: ChatClient = {
  provider: "scripted",
  model: "scripted-1",
  contextTokens: 100_000,
  send: async (request) => ({ text: "", calls: [], stop: "end", ...answerTo(request) }),
};

const core = createCore({
  home,
  userHome: home,
  version: "0.0.0-test",
  host: "child",
  ripgrep: async () => new ToolError("none"),
  env: process.env,
  settings: () => ({ stopHooks: [], trusted: true }),
  client: async () => client,
  unsaved: () => new Set(),
  report: (message) => console.error(message),
});
const session = id === "" ? await core.newSession(workspace) : await core.openSession(id);
if (session.readOnly !== undefined) throw new Error(session.readOnly);
console.log(session.id);
session.onEvent((event) => {
  if (event.type === "card_raised") {
    void session.answerCard(event.card, "allow_once", { surface: "test" });
  }
  if (event.type === "turn_ended") console.log("ended");
});
for (const { card } of session.openCards) {
  void session.answerCard(card, "allow_once", { surface: "test" });
}
if (session.state === "interrupted") await session.goOn();
else if (session.events.length === 1) await session.ask("go");
else if (session.state === "idle") console.log("ended");
process.stdin.resume();
