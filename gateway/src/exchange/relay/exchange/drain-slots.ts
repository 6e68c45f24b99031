/**
 * How many responses may be drained at once to learn what they cost. Only a small share of all places, so that clients
 * that leave cannot keep out clients that stay.
 */
export interface DrainSlots {
  /** Returns false when all are taken. `release` returns one, and is called once. */
  take(): boolean;
  release(): void;
}

const share = 0.05;

/** @param inFlight how many exchanges may run at once */
export function createDrainSlots(inFlight: number): DrainSlots {
  const limit = Math.max(1, Math.floor(inFlight * share));
  let taken = 0;
  return {
    take() {
      if (taken >= limit) return false;
      taken += 1;
      return true;
    },
    release() {
      taken -= 1;
    },
  };
}
