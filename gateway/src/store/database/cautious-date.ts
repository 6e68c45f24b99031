/** A clock that was set forward is trusted after it has stayed there for this many milliseconds. */
const believedAfter = 86_400_000;
/** Milliseconds. Corrections this small are accepted at once. */
const smallStep = 60_000;

export interface Clocks {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
}

/**
 * The date for code that removes or forgets old data. Data removed under a wrong date does not come back, and a
 * resource must not lose its owner meanwhile. The date never runs ahead of the wall clock; after the wall clock is set
 * forward, it follows only a day later.
 * @returns Unix milliseconds
 */
export function createCautiousDate({ now, monotonic }: Clocks): () => number {
  let believedOffset = now() - monotonic();
  let forwardSince: number | null = null;
  return () => {
    const time = monotonic();
    const offset = now() - time;
    if (offset <= believedOffset + smallStep) forwardSince = null;
    else forwardSince ??= time;
    const isBelieved = forwardSince === null || time - forwardSince >= believedAfter;
    if (isBelieved) believedOffset = offset;
    return believedOffset + time;
  };
}
