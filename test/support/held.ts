/**
 * The longest that `work` kept the event loop to itself, in milliseconds of this process's own
 * processor time: what other programs take of the machine does not count.
 */
export async function longestHold(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let over = false;
  let since = process.cpuUsage();
  const turn = (): void => {
    const { user, system } = process.cpuUsage(since);
    longest = Math.max(longest, (user + system) / 1_000);
    since = process.cpuUsage();
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
  } finally {
    over = true;
  }
  return longest;
}
