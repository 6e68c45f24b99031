/** Releases the turn. Idempotent. */
export type Release = () => void;

/** First come, first served: `take` resolves when everybody before has released. */
export function createQueue(): { take(): Promise<Release> } {
  let last: Promise<void> = Promise.resolve();
  return {
    async take() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = last;
      last = promise;
      await before;
      return resolve;
    },
  };
}
