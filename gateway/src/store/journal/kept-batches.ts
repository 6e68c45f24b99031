import type { Place } from './mark.ts';

/** How long batches stay in the journal after they are in the database. */
export interface KeepRules {
  /** Milliseconds. */
  readonly time: number;
  /** Bytes of all of them. */
  readonly bytes: number;
}

/** Milliseconds; places that were reached within them are one, up to this number of bytes. */
const grain = 1_000;
const grainBytes = 2 ** 18;

/**
 * The applied batches that are still in the journal, so that a database that loses its last seconds can get them again.
 * All times are milliseconds of a monotonic clock.
 * @param bytesRemoved those before the oldest batch of the journal
 */
export function createKeptBatches(rules: KeepRules, bytesRemoved: number) {
  let appliedPlaces: { place: Place; at: number }[] = [];
  let removedBytes = bytesRemoved;

  return {
    applied(place: Place, now: number): void {
      const last = appliedPlaces.at(-1);
      const before = appliedPlaces.at(-2)?.place.bytes ?? removedBytes;
      if (last !== undefined && now - last.at < grain && place.bytes - before < grainBytes) {
        last.place = place;
      } else appliedPlaces.push({ place, at: now });
    },
    /** The last batch of which nothing is needed any more; null: all are. */
    removable(now: number): Place | null {
      const end = appliedPlaces.at(-1)?.place.bytes ?? removedBytes;
      const firstNeeded = appliedPlaces.findIndex(
        ({ at }, index) =>
          now - at < rules.time &&
          end - (appliedPlaces[index - 1]?.place.bytes ?? removedBytes) <= rules.bytes,
      );
      const count = firstNeeded === -1 ? appliedPlaces.length : firstNeeded;
      const place = appliedPlaces[count - 1]?.place ?? null;
      appliedPlaces = appliedPlaces.slice(count);
      removedBytes = place?.bytes ?? removedBytes;
      return place;
    },
  };
}
