/** Counts requests by fault text, so that `times=K` can let later requests pass. */
export interface FaultCounter {
  /** Whether the fault still applies to the next request with it. */
  applies(text: string, times: number | undefined): boolean;
  clear(): void;
}

export function createFaultCounter(): FaultCounter {
  const seen = new Map<string, number>();
  return {
    applies(text, times) {
      if (times === undefined) return true;
      const count = (seen.get(text) ?? 0) + 1;
      seen.set(text, count);
      return count <= times;
    },
    clear: () => seen.clear(),
  };
}
