/** Milliseconds. */
const shortest = 500;
const longest = 30_000;
/** A worker that lived this long did not die of its start. */
const goodLife = 60_000;

/** How long to wait before a dead worker is restarted: longer each time it died young. */
export function createBackOff(): (livedFor: number) => number {
  let deaths = 0;
  return (livedFor) => {
    deaths = livedFor >= goodLife ? 1 : deaths + 1;
    return Math.min(shortest * 2 ** (deaths - 1), longest);
  };
}
