/** The first line (from 0) of `after` that differs from `before`; never past its last line. */
export function firstChangedLine(before: string, after: string): number {
  const old = before.split("\n");
  const now = after.split("\n");
  let line = 0;
  while (line < now.length - 1 && line < old.length && old[line] === now[line]) line++;
  return line;
}
