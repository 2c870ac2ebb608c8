import { mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NAME = /^countersign-run-(\d+)$/;

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Gives `work` the environment of a temporary directory of this run's own, and takes the directory
 * away after it, with those of runs that were killed. A run that is going on has a process.
 */
export async function withTemporary<T>(work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> {
  const base = tmpdir();
  for (const name of await readdir(base)) {
    const pid = NAME.exec(name)?.[1];
    // What cannot be removed (another user's, a disk that is still mounted) is left.
    if (pid !== undefined && !runs(Number(pid))) {
      await rm(join(base, name), { recursive: true, force: true }).catch(() => {});
    }
  }
  const own = join(base, `countersign-run-${process.pid}`);
  await mkdir(own, { recursive: true });
  try {
    return await work({ TMPDIR: own, TEMP: own, TMP: own });
  } finally {
    await rm(own, { recursive: true, force: true }).catch(() => {});
  }
}
