import { setTimeout as delay } from "node:timers/promises";

const TRIES = 10;
const WAIT_MS = 50;
const BUSY = ["EPERM", "EACCES", "EBUSY"];

/**
 * Does `work`, and does it again for up to half a second while Windows refuses it: there a file
 * cannot be replaced or removed while another program has it open (virus scanners, indexers: for a
 * moment). Rejects with the last error; elsewhere, and for any other reason, with the first.
 */
export async function whileBusy<T>(
  work: () => Promise<T>,
  platform: string = process.platform,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const busy = BUSY.includes((error as NodeJS.ErrnoException).code ?? "");
      if (platform !== "win32" || !busy || tries === TRIES) throw error;
      await delay(WAIT_MS);
    }
  }
}
