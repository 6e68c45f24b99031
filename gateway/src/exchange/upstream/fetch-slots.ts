/** A few slots for each key; more of its fetches wait, in their order. Keys do not wait for each other. */
export interface FetchSlots {
  /** Rejects with the signal's reason if it is aborted first. */
  take(key: string, signal: AbortSignal): Promise<void>;
  give(key: string): void;
}

interface KeySlots {
  takenSlots: number;
  readonly waiting: Set<() => void>;
}

/** @param most for each key */
export function createFetchSlots(most: number): FetchSlots {
  /** Keys with a fetch under way. */
  const keys = new Map<string, KeySlots>();
  return {
    async take(key, signal) {
      signal.throwIfAborted();
      let own = keys.get(key);
      if (own === undefined) keys.set(key, (own = { takenSlots: 0, waiting: new Set() }));
      if (own.takenSlots < most) {
        own.takenSlots += 1;
        return;
      }
      const { waiting } = own;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const giveUp = (): void => {
        waiting.delete(resolve);
        reject(signal.reason);
      };
      waiting.add(resolve);
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', giveUp);
      }
    },
    give(key) {
      const own = keys.get(key);
      if (own === undefined) return;
      const [next] = own.waiting;
      if (next !== undefined) {
        // The slot passes on.
        own.waiting.delete(next);
        next();
        return;
      }
      own.takenSlots -= 1;
      if (own.takenSlots === 0) keys.delete(key);
    },
  };
}
