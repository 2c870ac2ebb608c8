/** 1234567 → "1,234,567", in the reader's own way of writing numbers. */
export function number(value: number): string {
  return value.toLocaleString();
}

/** 1234 → "1.2k": for counts that only need a size. */
export function short(value: number): string {
  if (value < 1_000) return String(value);
  if (value < 1_000_000) return `${trim(value / 1_000)}k`;
  return `${trim(value / 1_000_000)}M`;
}

function trim(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}

/** Milliseconds as "0.3 s", "12 s", "2:05 min". */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min`;
}

/** Made once: it is what takes the time, and every row shows one. */
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

/** An ISO time as the clock shows it. */
export function clock(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : CLOCK.format(date);
}

/** Whether an argv reads the same with blanks between: nothing in it that quoting could hide. */
export function isPlainArgv(argv: readonly string[]): boolean {
  return (
    argv.every((argument) => /^[A-Za-z0-9_@%+=:,./-]+$/.test(argument)) &&
    argv.join(" ").length <= 200
  );
}

/**
 * The lines of a card's diff, every one of them: a card's diff has no file headers, so a line
 * that starts with `--- ` or `+++ ` is a change and must never be hidden.
 */
export function diffLines(diff: string): string[] {
  return diff.replace(/\n$/, "").split("\n");
}
