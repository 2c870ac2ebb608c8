import { DIFF_BYTES, DIFF_LINES } from "../limits.js";
import { renderHunks } from "./hunks.js";
import { compareLines } from "./lineDiff.js";
import { type Lines, LineTable, splitBytes } from "./lines.js";
import { Pace } from "./pace.js";

export interface DiffOptions {
  /** Bytes up to which the text is whole; `DIFF_BYTES` unless a test says otherwise. */
  readonly maxBytes?: number;
  /** Lines kept of a longer one; `DIFF_LINES` unless a test says otherwise. */
  readonly maxLines?: number;
}

/** A unified diff, made to be read: hidden characters escaped, bytes that are no text in hex. */
export interface DiffOfBytes {
  /**
   * Hunks with three lines of context and no file headers. Lines that start with `\` are notes:
   * a new or emptied file, CRLF throughout, no newline at the end.
   */
  readonly text: string;
  /** True where `text` holds only its first lines. */
  readonly cut: boolean;
  /** Lines in all, whatever was cut. */
  readonly added: number;
  readonly removed: number;
}

/** What a person should know before the first hunk. */
function notes(before: Lines | null, after: Lines): string[] {
  const found: string[] = [];
  if (before === null) found.push(after.ids.length === 0 ? "\\ New file, empty" : "\\ New file");
  else if (after.ids.length === 0 && before.ids.length > 0) found.push("\\ Nothing is left in it");
  else if (before.ids.length === 0 && after.ids.length > 0) found.push("\\ The file was empty");
  const [was, is] = [before?.wide, after.wide];
  if (is !== undefined && was === is) found.push(`\\ ${is}, as before`);
  else if (is !== undefined)
    found.push(`\\ It will be ${is}${was === undefined ? "" : `, and was ${was}`}`);
  else if (was !== undefined) found.push(`\\ It was ${was}, and will not be`);
  if (before?.crlf === true && after.crlf) found.push("\\ Every line ends in CRLF, as before");
  return found;
}

/**
 * The unified diff of two files' bytes; `before: null` means that there was no file. Never holds
 * the event loop for more than some 45 ms at a stretch; a diff that would take longer than
 * `DIFF_TIMEOUT_MS` gives way to a coarser one that is right as well.
 */
export async function unifiedDiff(
  before: Uint8Array | null,
  after: Uint8Array,
  options: DiffOptions = {},
): Promise<DiffOfBytes> {
  const pace = new Pace();
  const table = new LineTable();
  const old = before === null ? null : await splitBytes(before, table, pace);
  const now = await splitBytes(after, table, pace);
  const changes = await compareLines(old?.ids ?? new Uint32Array(0), now.ids, table.size, pace);
  let added = 0;
  let removed = 0;
  for (const change of changes) {
    added += change.added;
    removed += change.removed;
  }
  const { text, cut } = await renderHunks({
    notes: notes(old, now),
    changes,
    old: old?.ids ?? new Uint32Array(0),
    now: now.ids,
    // CRs are hidden only where there is nothing to see: every line has one, before and after.
    line: table.lines(old?.crlf === true && now.crlf),
    maxBytes: options.maxBytes ?? DIFF_BYTES,
    maxLines: options.maxLines ?? DIFF_LINES,
    pace,
  });
  return { text, cut, added, removed };
}
