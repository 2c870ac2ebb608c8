/*
 * Words of a model, a repository or a server where VS Code would make more of them than text. On its
 * own it draws these as what they pretend to be, and a link in a notification may run any command.
 */

/** For a notification: `[label](command:…)` in it is not a link, which would run the command. */
export function notice(text: string): string {
  return text.replaceAll("](", "] (");
}

/** What VS Code draws as an icon; one that it does not know it draws as nothing. */
const ICON = /\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g;

/** For a row of a list: `$(reboot)` in an argument is those nine characters, and no icon. */
export function label(text: string): string {
  return text.replace(ICON, "\\$&");
}
