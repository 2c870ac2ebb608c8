/**
 * One real turn against any server, in a folder of its own, with the cards answered here:
 *
 *   npm run try-model -- <base url> <model> [--anthropic] [--ask "<what to do>"] [--keep]
 *
 * The key, where the server wants one, comes from OPENAI_API_KEY or ANTHROPIC_API_KEY. `demo` in
 * place of a base URL runs the demo. Exits with 0 when the turn has finished.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { createCore } from "../src/core/core.js";
import { ChatError } from "../src/core/model/chatClient.js";
import { createClient, type ModelConfig } from "../src/core/model/index.js";
import type { Answer, SessionEvent } from "../src/core/session/events.js";
import type { LiveSession } from "../src/core/turn/live.js";
import { findRipgrep } from "../src/core/workspace/ripgrep.js";

const ASK =
  "The program in sum.mjs prints a wrong sum. Find the fault, mend it with search_replace, run `node sum.mjs` to see that it prints 6, and finish with one sentence.";
const PROGRAM = `const numbers = [1, 2, 3];\nlet sum = 0;\nfor (let at = 1; at < numbers.length; at++) sum += numbers[at];\nconsole.log(sum);\n`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    anthropic: { type: "boolean", default: false },
    ask: { type: "string", default: ASK },
    keep: { type: "boolean", default: false },
  },
});
const [baseUrl, model] = positionals;
if (baseUrl === undefined || (model === undefined && baseUrl !== "demo")) {
  console.error(
    'usage: npm run try-model -- <base url> <model> [--anthropic] [--ask "…"] [--keep]',
  );
  process.exit(2);
}

/** Lines from the terminal or a pipe, one for each question. */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function read(prompt: string): Promise<string> {
  process.stdout.write(prompt);
  const { value, done } = await lines.next();
  if (done === true) throw new Error("the input ended while an answer was needed");
  return String(value).trim();
}

function configOf(url: string, name: string): ModelConfig {
  if (url === "demo") return { provider: "demo" };
  const provider = values.anthropic ? "anthropic" : "openai";
  const variable = values.anthropic ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
  const key = process.env[variable];
  const advice = { setKey: `in ${variable}`, pickModel: "on the command line" };
  return { provider, baseUrl: url, model: name, advice, ...(key ? { key } : {}) };
}

async function answerCard(session: LiveSession, card: string): Promise<void> {
  for (;;) {
    const text = await read("\nApprove? [y]es, for this [s]ession, [n]o and why: ");
    const [word = "", ...why] = text.split(/\s+/);
    const answer: Answer | undefined = /^y(es)?$/i.test(word)
      ? "allow_once"
      : /^s(ession)?$/i.test(word)
        ? "allow_session"
        : /^no?$/i.test(word)
          ? "deny"
          : undefined;
    if (answer === undefined) continue;
    const note = why.join(" ");
    const outcome = await session.answerCard(card, answer, {
      surface: "command",
      ...(note === "" ? {} : { note }),
    });
    if (outcome.outcome === "gone") console.log(outcome.message);
    return;
  }
}

function show(event: SessionEvent): void {
  switch (event.type) {
    case "model_answered": {
      const { usage } = event;
      for (const call of event.calls) {
        console.log(`\n→ ${call.tool} ${JSON.stringify(call.args ?? call.invalid)}`);
      }
      if (usage !== undefined) {
        const cached = usage.cached === undefined ? "" : `, ${usage.cached} of them cached`;
        const guess = usage.estimated === true ? " or so" : "";
        console.log(`  (${usage.input} tokens in${cached}, ${usage.output} out${guess})`);
      }
      break;
    }
    case "card_raised":
      console.log(`\n── card: ${event.kind} ${event.path ?? JSON.stringify(event.argv)}`);
      if (event.diff !== undefined) console.log(event.diff);
      for (const reason of event.reasons ?? []) console.log(`  ! ${reason}`);
      break;
    case "call_ended":
      console.log(`${event.ok ? "✓" : "✗"} ${event.result.split("\n").slice(0, 6).join("\n  ")}`);
      break;
    case "question":
      console.log(`\n? ${event.text}${event.options ? ` (${event.options.join(" / ")})` : ""}`);
      break;
    case "result":
      console.log(`\n= ${event.text}`);
      break;
    case "turn_ended":
      console.log(`\nThe turn ended: ${event.reason}${event.message ? `, ${event.message}` : ""}`);
      break;
    default:
  }
}

const folder = await mkdtemp(join(tmpdir(), "countersign-try-"));
const home = await mkdtemp(join(tmpdir(), "countersign-home-"));
await writeFile(join(folder, "sum.mjs"), PROGRAM);
console.log(`folder: ${folder}`);

let code = 1;
const core = createCore({
  home,
  userHome: homedir(),
  version: "try-model",
  host: "try-model",
  ripgrep: () => findRipgrep({ setting: undefined, packaged: import.meta.dirname }),
  env: process.env,
  settings: () => ({ stopHooks: [], trusted: true }),
  client: async () => createClient(configOf(baseUrl, model ?? "")),
  unsaved: () => new Set(),
  report: (message) => console.error(`! ${message}`),
});
try {
  const session = await core.newSession(folder);
  session.onDelta((delta) => {
    if (delta.type === "text" || delta.type === "output") process.stdout.write(delta.text);
    if (delta.type === "retry") console.log(`\n… again at ${delta.at}: ${delta.reason}`);
  });
  const ended = new Promise<string>((resolve, reject) => {
    session.onEvent((event) => {
      show(event);
      if (event.type === "card_raised") answerCard(session, event.card).catch(reject);
      if (event.type === "question") {
        read("Answer: ")
          .then((text) => session.answerQuestion(event.question, text))
          .catch(reject);
      }
      if (event.type === "turn_ended") resolve(event.reason);
    });
  });
  process.once("SIGINT", () => void session.cancel());
  const started = await session.ask(values.ask);
  if (started.outcome === "refused") throw new Error(started.message);
  const reason = await ended;
  code = reason === "finished" ? 0 : 1;
} catch (error) {
  console.error(error instanceof ChatError || error instanceof Error ? error.message : error);
} finally {
  await core.dispose();
  await rm(home, { recursive: true, force: true });
  if (!values.keep) await rm(folder, { recursive: true, force: true });
}
process.exit(code);
