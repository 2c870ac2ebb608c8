import { visible } from "../core/gate/visible.js";

/** An argv in one line, its arguments quoted where that could mislead. */
export function commandLine(argv: readonly string[]): string {
  return argv.map((argument) => quote(argument)).join(" ");
}

function quote(argument: string): string {
  const shown = visible(argument);
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(shown) ? shown : JSON.stringify(shown);
}
