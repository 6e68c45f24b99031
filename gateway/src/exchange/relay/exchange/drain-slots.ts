/**
 * How many responses may be read on although nobody waits for them, only to learn what they cost: a small share of all
 * places, so that clients who leave cannot take the gateway from those who stay.
 */
export interface DrainSlots {
  /** False when all are taken. `release` gives one back, once. */
  take(): boolean;
  release(): void;
}

const share = 0.05;

/** @param inFlight how many exchanges may be under way at once */
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
