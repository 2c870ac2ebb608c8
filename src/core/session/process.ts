import { readFile, readlink } from "node:fs/promises";

/** Runs a program of the system's and gives what it prints, empty where it fails. */
export type AskSystem = (argv: readonly string[]) => Promise<string>;

/** What tells a process from every other one that had, or will have, its number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the platform's own terms; empty where that cannot be known. */
  readonly started: string;
  /** The running of the machine and the set of processes that `pid` is a number in. */
  readonly realm: string;
}

async function startedOnLinux(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name in parentheses may itself hold spaces and parentheses: the last ")" ends it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const dead = fields[0] === "Z" || fields[0] === "X";
  return dead ? undefined : fields[19];
}

async function startedElsewhere(pid: number, ask: AskSystem): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return undefined;
  }
  const windows = ["powershell", "-NoProfile", "-Command"];
  const argv =
    process.platform === "win32"
      ? [...windows, `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`]
      : ["ps", "-o", "lstart=", "-p", String(pid)];
  return (await ask(argv)).trim().replace(/\s+/g, " ");
}

/** When a living process started; empty where that cannot be known; undefined where there is none. */
export async function processStarted(pid: number, ask: AskSystem): Promise<string | undefined> {
  return process.platform === "linux" ? startedOnLinux(pid) : startedElsewhere(pid, ask);
}

async function realm(): Promise<string> {
  if (process.platform !== "linux") return "";
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "latin1").catch(() => "");
  const processes = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${boot.trim()} ${processes}`;
}

let own: Promise<ProcessIdentity> | undefined;

/** This process. */
export function ownIdentity(ask: AskSystem): Promise<ProcessIdentity> {
  own ??= (async () => ({
    pid: process.pid,
    started: (await processStarted(process.pid, ask)) ?? "",
    realm: await realm(),
  }))();
  return own;
}
