import { open, readFile, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** Runs `body` while no other process holds `file`; a lock whose process is gone is taken over. */
export async function withLock<T>(file: string, body: () => Promise<T>): Promise<T> {
  let told = false;
  while (!(await take(file))) {
    if (!told) console.log(`Waiting for another process that holds ${file} …`);
    told = true;
    await delay(500);
  }
  try {
    return await body();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    const handle = await open(file, "wx");
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch {
    const holder = Number(await readFile(file, "utf8").catch(() => "0"));
    if (holder > 0 && !alive(holder)) await rm(file, { force: true });
    return false;
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
