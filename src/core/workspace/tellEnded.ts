import { LISTED_PROCESSES } from "../limits.js";
import type { Relative } from "./family.js";
import type { Ended } from "./terminate.js";

function list(title: string, processes: readonly Relative[]): string {
  const lines = processes
    .slice(0, LISTED_PROCESSES)
    .map(({ pid, command }) => `  ${pid} ${command}\n`);
  const more = processes.length - lines.length;
  return `${title}\n${lines.join("")}${more > 0 ? `  and ${more} more\n` : ""}`;
}

/**
 * What became of a command's processes, for the model: where it was cut short, who was signalled
 * and who is alive; else only who is alive for all that. Empty where there is nothing to tell.
 */
export function tellEnded(ended: Ended, cutShort: boolean): string {
  const { asked, forced, left, gone } = ended;
  let text = "";
  if (cutShort) {
    if (asked.length > 0) text += list("SIGTERM was sent to:", asked);
    if (forced.length > 0) text += list("SIGKILL was sent, two seconds later, to:", forced);
  }
  if (left === undefined) {
    if (cutShort) text += "Whether a process that left it is still running cannot be seen here.\n";
  } else if (left.length > 0) {
    const why = gone
      ? "it left the command's group, and was not ended"
      : "it left the command's group or could not be ended";
    const [first] = left;
    text += list(`Still running (${why}):`, left);
    text += `To end one: ["kill", "${first?.pid}"]. It may have children.\n`;
  } else if (cutShort && asked.length > 0) {
    text += "No process of it that can be seen is left.\n";
  }
  if (!gone && (left === undefined || left.length === 0)) {
    text += "Some of its processes could not be ended.\n";
  }
  return text === "" ? "" : `\n[processes]\n${text}`;
}
