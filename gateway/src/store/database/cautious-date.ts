/** A clock that was set forward is believed when it has stayed there for so many milliseconds. */
const believedAfter = 86_400_000;
/** Milliseconds. Clocks that are kept right by small corrections are believed at once. */
const smallStep = 60_000;

export interface Clocks {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that does not step. */
  readonly monotonic: () => number;
}

/**
 * The date for whoever removes or forgets what is old: what a wrong date removes is gone when the date is right again,
 * and what belongs to somebody must not become everybody's meanwhile.
 * Never ahead of the wall clock, and for a day not ahead of what it was before it was set forward.
 * @returns Unix milliseconds
 */
export function createCautiousDate({ now, monotonic }: Clocks): () => number {
  let believed = now() - monotonic();
  let forwardSince: number | null = null;
  return () => {
    const time = monotonic();
    const offset = now() - time;
    if (offset <= believed + smallStep) forwardSince = null;
    else forwardSince ??= time;
    const isBelieved = forwardSince === null || time - forwardSince >= believedAfter;
    if (isBelieved) believed = offset;
    return believed + time;
  };
}
