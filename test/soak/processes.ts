import { readdirSync, readFileSync } from "node:fs";

/** Every process that has this text in its environment, by its number; none where there is no `/proc`. */
export function processesWith(tag: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").includes(tag);
      } catch {
        return false;
      }
    });
}

/** Ends them, and gives how many there were. */
export function end(pids: readonly number[]): number {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended on its own.
    }
  }
  return pids.length;
}
