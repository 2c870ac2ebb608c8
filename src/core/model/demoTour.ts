import type { Message } from "./chatClient.js";
import { advised } from "./errors.js";

/** One call that the demo made in this turn, and what came of it. */
export interface DemoCall {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly ok: boolean;
  readonly text: string;
}

export interface DemoStep {
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly args: Record<string, unknown> }[];
}

export interface DemoPlace {
  /** Names of the tools there are: an untrusted workspace has no `run`. */
  readonly tools: ReadonlySet<string>;
  readonly platform: NodeJS.Platform;
  /** How the host lets a user pick a model: `Advice`. */
  readonly pickModel?: string | undefined;
}

const OUTSIDE = "Read a file outside the folder";
const FINISH = "Finish the tour";

/** Words that go on with a turn and do not begin another: of the user, and of a Stop hook. */
const GOES_ON = /^(go on\b|continue\b|the stop hook ")/i;

/** The calls and results since the ask that began the tour. */
export function demoSaid(messages: readonly Message[]): DemoCall[] {
  const from = messages.findLastIndex(
    (message) => message.role === "user" && !GOES_ON.test(message.text),
  );
  const turn = messages.slice(from + 1);
  const results = new Map(
    turn.flatMap((message) => (message.role === "tool" ? [[message.call, message] as const] : [])),
  );
  return turn.flatMap((message) =>
    message.role !== "assistant"
      ? []
      : message.calls.map(({ call, tool, args }) => {
          const result = results.get(call);
          return { tool, args: args ?? {}, ok: result?.ok ?? false, text: result?.text ?? "" };
        }),
  );
}

/** What the demo says and calls next. A pure function of what was done. */
export function demoStep(said: readonly DemoCall[], place: DemoPlace): DemoStep {
  const last = said.at(-1);
  const seen = said.find(({ tool }) => tool === "list_dir");
  const files = filesIn(seen?.ok === true ? seen.text : "");
  const before = last === undefined ? "" : `${remark(last)}\n\n`;
  const has = (tool: string): boolean => place.tools.has(tool);
  const made = (tool: string): DemoCall | undefined => said.find((call) => call.tool === tool);
  const step = (text: string, tool: string, args: Record<string, unknown>): DemoStep => ({
    text: before + text,
    calls: [{ tool, args }],
  });

  if (seen === undefined && has("list_dir")) {
    return step(
      "This is a **demo**: no model is at work, and these words come from a script. Everything else is real: the calls below run in your folder, and nothing changes on your machine unless you approve it.\n\nFirst I look at what is here. Listing, reading and searching inside the folder need no card.",
      "list_dir",
      {},
    );
  }
  const file = files.find(looksReadable) ?? files[0];
  if (made("read_file") === undefined && file !== undefined && has("read_file")) {
    return step(`I read the beginning of \`${file}\`.`, "read_file", { path: file, line: 1 });
  }
  const word = wordIn(made("read_file"));
  if (made("grep") === undefined && word !== undefined && has("grep")) {
    return step(`Now I search the folder for “${word}”.`, "grep", { pattern: word, literal: true });
  }
  const path = freeName(files);
  if (made("write_file") === undefined && has("write_file")) {
    const empty = seen?.ok === true && files.length === 0 ? "There is no file here to read. " : "";
    return step(
      `${empty}Next I propose a new file. This stops at a **card** with the diff: approve it or deny it, the tour goes on either way. If you deny it, nothing is written.`,
      "write_file",
      { path, content: proposal(file, word) },
    );
  }
  const written = made("write_file");
  if (written?.ok === true && made("search_replace") === undefined && has("search_replace")) {
    return step(
      "And an edit of the same file. Should the file change while the card is up, your answer does not count for the new text: the card is made again with the diff that the file has then.",
      "search_replace",
      { path: String(written.args.path), old: "- [ ] read the diff", new: "- [x] read the diff" },
    );
  }
  if (made("run") === undefined && has("run")) {
    return step(
      "Every command stops at a card too, with each argument as it is. There is no shell in between. This one only prints git's version.",
      "run",
      { argv: ["git", "--version"] },
    );
  }
  if (made("ask") === undefined && has("ask")) {
    return step("A model can also ask you something, and then it waits.", "ask", {
      question: "What do you want to see next?",
      options: [OUTSIDE, FINISH],
    });
  }
  const outside = said.some(({ tool, args }) => tool === "read_file" && args.path === hosts(place));
  if (made("ask")?.text.includes(OUTSIDE) === true && !outside && has("read_file")) {
    return step(
      "A path outside the folder is never read in silence: the card names it in full, after every link.",
      "read_file",
      { path: hosts(place), line: 1 },
    );
  }
  const end = ending(said, place);
  if (made("finish") === undefined && has("finish"))
    return step("That was the tour.", "finish", { result: end });
  // A Stop hook has kept the turn open; a script cannot mend what it found.
  return { text: before + end, calls: [] };
}

/** One sentence about the last result. */
function remark({ tool, ok, text, args }: DemoCall): string {
  const first = (text.split("\n").find((line) => line.trim() !== "") ?? "").slice(0, 160);
  if (!ok) {
    const refusal = /den(y|ied)/i.test(text);
    if (tool === "finish") return `A Stop hook kept the turn open: ${first}`;
    return refusal
      ? "You denied that, and so nothing happened. A model would now read your answer, and the reason if you gave one."
      : `That did not work, and a model would read why: ${first}`;
  }
  switch (tool) {
    case "list_dir": {
      const count = filesIn(text).length;
      return count === 0
        ? "I see no files."
        : `I see ${count === 1 ? "one file" : `${count} files`}.`;
    }
    case "read_file":
      return "That is read.";
    case "grep":
      return /^no matches/i.test(text) ? "No matches." : "Found.";
    case "write_file":
      return `\`${String(args.path)}\` is written.`;
    case "search_replace":
      return "The edit is made.";
    case "run":
      return "The command ran, and its output is in the result.";
    case "ask":
      return `You answered: ${first}`;
    default:
      return "Done.";
  }
}

function ending(said: readonly DemoCall[], { pickModel }: DemoPlace): string {
  const written = said.find(({ tool, ok }) => tool === "write_file" && ok);
  const left =
    written === undefined
      ? "Nothing was changed in your folder."
      : `\`${String(written.args.path)}\` is left in your folder; delete it when you like.`;
  return `The demo is over. ${left} ${advised("To work with a real model, pick one", pickModel)}`;
}

function proposal(file: string | undefined, word: string | undefined): string {
  const read = file === undefined ? "- The folder had no file to read." : `- It read \`${file}\`.`;
  const grep = word === undefined ? "" : `\n- It searched for “${word}”.`;
  return `# Countersign demo\n\nThis file was proposed by the demo and written because you approved it.\n\n${read}${grep}\n- [ ] read the diff\n`;
}

const KNOWN =
  /^(.*?\.(?:md|markdown|txt|rst|json|jsonc|ya?ml|toml|ini|cfg|xml|html?|css|scss|[cm]?[jt]sx?|py|rb|go|rs|java|kt|cs|c|cc|cpp|h|hpp|php|swift|sh|sql|lua|vue|svelte)|README|LICENSE|Makefile|Dockerfile|\.gitignore|\.editorconfig)(?=\s|$)/;

/** Names of files with a known kind in a listing; links and directories are not. */
function filesIn(listing: string): string[] {
  return listing.split("\n").flatMap((line) => {
    const entry = line.trim().replace(/^[-*]\s+/, "");
    // A name with an escape in it is not the name on disk.
    if (entry.includes(" -> ") || entry.includes("\\")) return [];
    const sized = /^(.*) \(\d+ bytes?\)$/.exec(entry)?.[1];
    const name = KNOWN.exec(sized ?? entry)?.[1];
    const whole = sized === undefined || name === sized;
    return name === undefined || !whole || name.includes("/") ? [] : [name];
  });
}

function looksReadable(name: string): boolean {
  return /^readme/i.test(name) || name === "package.json";
}

/** A word of a file's text that is worth a search. */
function wordIn(read: DemoCall | undefined): string | undefined {
  if (read?.ok !== true) return undefined;
  const words = read.text.match(/[A-Za-z][A-Za-z_]{4,30}/g) ?? [];
  const common = /^(about|after|bytes|their|there|these|which|would|lines?|offset|https?|false)$/i;
  return words.find((word) => !common.test(word));
}

function freeName(files: readonly string[]): string {
  for (let at = 1; ; at++) {
    const name = at === 1 ? "countersign-demo.md" : `countersign-demo-${at}.md`;
    if (!files.includes(name)) return name;
  }
}

function hosts({ platform }: DemoPlace): string {
  return platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";
}
