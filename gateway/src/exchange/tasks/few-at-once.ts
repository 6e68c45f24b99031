/** Runs a piece of work in its turn. Rejects with what the work throws. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Limits how many pieces of work run at once; the others wait in order. */
export function createFewAtOnce(most: number): InTurn {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < most) running += 1;
    // Work that ends hands its place to the next.
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
