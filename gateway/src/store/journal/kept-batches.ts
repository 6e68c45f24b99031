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
  let kept: { place: Place; at: number }[] = [];
  let removed = bytesRemoved;

  return {
    applied(place: Place, now: number): void {
      const last = kept.at(-1);
      const before = kept.at(-2)?.place.bytes ?? removed;
      if (last !== undefined && now - last.at < grain && place.bytes - before < grainBytes) {
        last.place = place;
      } else kept.push({ place, at: now });
    },
    /** The last batch of which nothing is needed any more; null: all are. */
    removable(now: number): Place | null {
      const end = kept.at(-1)?.place.bytes ?? removed;
      const needed = kept.findIndex(
        ({ at }, index) =>
          now - at < rules.time && end - (kept[index - 1]?.place.bytes ?? removed) <= rules.bytes,
      );
      const count = needed === -1 ? kept.length : needed;
      const place = kept[count - 1]?.place ?? null;
      kept = kept.slice(count);
      removed = place?.bytes ?? removed;
      return place;
    },
  };
}
