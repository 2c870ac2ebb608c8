/** The last task on each key that has not ended yet. */
const last = new Map<string, Promise<unknown>>();

/**
 * Runs tasks on one key one after the other, in this process. Two sessions whose writes of one
 * file were both allowed cannot both find it unchanged and then both replace it.
 */
export async function exclusively<T>(key: string, task: () => Promise<T>): Promise<T> {
  const before = last.get(key) ?? Promise.resolve();
  const result = before.then(task);
  const over = result.catch(() => {});
  last.set(key, over);
  try {
    return await result;
  } finally {
    if (last.get(key) === over) last.delete(key);
  }
}
