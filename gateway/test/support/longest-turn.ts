/**
 * Milliseconds of CPU time of this thread that the event loop was held for at a stretch, at most, until the work was over.
 * No neighbour's work counts.
 */
export async function longestTurn(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  const state = { isOver: false };
  const cpu = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const turns = async () => {
    let before = cpu();
    while (!state.isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = cpu();
      longest = Math.max(longest, now - before);
      before = now;
    }
  };
  const watching = turns();
  await work();
  state.isOver = true;
  await watching;
  return longest;
}
