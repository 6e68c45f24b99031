import { ApiError } from '../errors.ts';

/** Bounds work that would slow down requests for models. */
export interface Slots {
  /** @throws ApiError `too_many` if too much of it waits already */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** @param atOnce and `waiting`: the limits of each */
export function createSlots(atOnce: number, waiting: number): Slots {
  let running = 0;
  const queue: (() => void)[] = [];
  return {
    async run(work) {
      if (running >= atOnce) {
        if (queue.length >= waiting) {
          throw new ApiError('too_many', 'the console is busy, try again', { retryAfter: 1 });
        }
        await new Promise<void>((resolve) => queue.push(resolve));
      } else running += 1;
      try {
        return await work();
      } finally {
        // The next one takes over this place, so that a new arrival cannot take it too.
        const next = queue.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
