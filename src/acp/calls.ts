import { resolve } from "node:path";
import type { ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { EventOf } from "../core/session/events.js";
import { commandLine, oneLine } from "./show.js";

/** Characters of a title; the whole of what it names is in the call's content or `rawInput`. */
const TITLE_CHARS = 400;

/** What a client shows of a call. */
export interface CallFace {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  list_dir: "read",
  grep: "search",
  search_replace: "edit",
  write_file: "edit",
  run: "execute",
  use_skill: "read",
};

/** A call as the model made it; `root` is the workspace, for the places of relative paths. */
export function callFace(call: EventOf<"model_answered">["calls"][number], root: string): CallFace {
  const args = call.args ?? {};
  const text = (name: string): string | undefined => {
    const value = args[name];
    return typeof value === "string" ? value : undefined;
  };
  const path = text("path");
  const kind = KINDS[call.tool] ?? "other";
  const line = typeof args.line === "number" ? args.line : undefined;
  return {
    title: oneLine(callTitle(call.tool, text, args.argv), TITLE_CHARS),
    kind,
    locations: path === undefined || kind === "other" ? [] : [place(resolve(root, path), line)],
  };
}

/** A card's call by what would really be touched: the path after every symlink, the whole argv. */
export function cardFace(card: EventOf<"card_raised">): CallFace {
  const path = card.path;
  const kind = KINDS[card.tool] ?? "other";
  const shown = card.relative ?? path ?? "";
  let title: string;
  switch (card.kind) {
    case "write":
      title = `${card.tool === "search_replace" ? "Edit" : "Write"} ${shown}`;
      break;
    case "read":
      title = `${verbOf(card.tool)} ${path ?? ""} (outside the workspace)`;
      break;
    case "run":
      title = `Run ${commandLine(card.argv ?? [])}`;
      break;
  }
  return {
    title: oneLine(title, TITLE_CHARS),
    kind,
    locations: path === undefined ? [] : [place(path, undefined)],
  };
}

function verbOf(tool: string): string {
  if (tool === "grep") return "Search in";
  if (tool === "list_dir") return "List";
  return "Read";
}

function callTitle(
  tool: string,
  text: (name: string) => string | undefined,
  argv: unknown,
): string {
  const path = text("path");
  switch (tool) {
    case "read_file":
      return `Read ${path ?? ""}`;
    case "list_dir":
      return `List ${path ?? "."}`;
    case "grep":
      return `Search for ${JSON.stringify(text("pattern") ?? "")}${path ? ` in ${path}` : ""}`;
    case "search_replace":
      return `Edit ${path ?? ""}`;
    case "write_file":
      return `Write ${path ?? ""}`;
    case "run":
      return `Run ${commandLine(Array.isArray(argv) ? argv.map(String) : [])}`;
    case "ask":
      return `Ask: ${text("question") ?? ""}`;
    case "finish":
      return "Finish";
    case "use_skill":
      return `Use the skill ${text("name") ?? ""}`;
    default:
      return tool;
  }
}

function place(path: string, line: number | undefined): ToolCallLocation {
  const good = line !== undefined && Number.isInteger(line) && line >= 1 && line <= 0xffff_ffff;
  return good ? { path, line } : { path };
}
