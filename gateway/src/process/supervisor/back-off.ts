/** Milliseconds. */
const shortest = 500;
const longest = 30_000;
/** Whoever lived as long did not die of how it was started. */
const goodLife = 60_000;

/** How long to wait before a worker that died is started again: longer each time that it died young. */
export function createBackOff(): (livedFor: number) => number {
  let deaths = 0;
  return (livedFor) => {
    deaths = livedFor >= goodLife ? 1 : deaths + 1;
    return Math.min(shortest * 2 ** (deaths - 1), longest);
  };
}
