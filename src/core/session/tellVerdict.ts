import type { LogVerdict } from "./chainCheck.js";

/** A verdict in plain words, a line each. */
export function tellVerdict(verdict: LogVerdict): string {
  const { lines, faults, more, notes, chainFrom, headLine, lastHash } = verdict;
  const out: string[] = [];
  if (faults.length === 0) out.push(`${lines} lines: none was changed, removed, put in or moved.`);
  else out.push(`${lines} lines, and not as they were written:`);
  out.push(...faults.map(({ text }) => `- ${text}`));
  if (more > 0) out.push(`- … and ${more} more.`);
  out.push(...notes.map((note) => `- ${note}`));
  if (chainFrom === undefined) {
    out.push("No line has the hash of the one before it: only the numbers could be compared.");
  } else if (chainFrom > 2) {
    out.push(`Lines 1 to ${chainFrom - 2} are older than the hashes: only their numbers count.`);
  }
  if (headLine === undefined) {
    if (!faults.some(({ kind }) => kind === "end")) {
      out.push("meta.json does not say how far the log went: what was cut from its end is unseen.");
    }
  } else if (headLine < lines) {
    out.push(`What came after line ${headLine} could be cut off unseen until the turn ends.`);
  }
  if (lastHash !== undefined) out.push(`The last line's hash is ${lastHash}.`);
  out.push(
    "Whoever can write to the session's folder can make all hashes anew; to be sure of a log later, note the last hash elsewhere.",
  );
  return out.join("\n");
}
