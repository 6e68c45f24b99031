import { isNumbered, isSound, type Batch } from './batch.ts';
import type { JournalFile } from './journal-file.repository.ts';
import type { Place } from './mark.ts';

/** Records that were acknowledged and are not in the journal any more, or not as they were written. */
export interface Loss {
  /** The sequence number of the first one. */
  readonly first: number;
  readonly missing: number;
  /** `damaged`: something is there, but not what was written. `missing`: nothing is there. */
  readonly reason: 'damaged' | 'missing';
}

/** What comes next in a journal. */
export interface Reading {
  readonly batches: readonly Batch[];
  readonly losses: readonly Loss[];
  /** Batches that are not as they were written. */
  readonly damaged: readonly Batch[];
  /** Behind all of this. */
  readonly place: Place;
}

type Readable = Pick<JournalFile, 'after' | 'one'>;

export interface ReadOptions {
  /** Nothing is read beyond so many records and characters, but at least one batch. */
  readonly mostRecords: number;
  readonly mostLength: number;
}

/**
 * Reads on from a place. The sequence numbers tell what is missing in between.
 * @param end everything up to here must be in the file
 */
export function readOn(
  file: Readable,
  from: Place,
  end: Place,
  { mostRecords, mostLength }: ReadOptions,
): Reading {
  const batches: Batch[] = [];
  const losses: Loss[] = [];
  const damaged: Batch[] = [];
  /** Damaged batches after the last sound one: what was lost with them is known only behind them. */
  let passed: Batch[] = [];
  let place = from;
  let count = 0;
  let length = 0;

  function lose(upTo: number): void {
    if (upTo > place.last) {
      const reason = passed.length > 0 ? 'damaged' : 'missing';
      losses.push({ first: place.last + 1, missing: upTo - place.last, reason });
      place = { ...place, last: upTo };
    }
    damaged.push(...passed);
    passed = [];
  }

  for (const batch of readable(file, from.id, end.id)) {
    if (!isSound(batch)) {
      passed.push(batch);
      continue;
    }
    // Found again, because the number of another one is damaged.
    if (batch.id <= from.id) continue;
    lose(isNumbered(batch) ? batch.last - batch.count : place.last + sumOf(passed));
    place = placeAfter(batch, place);
    // A batch of intents alone has nothing for the database.
    if (batch.count > 0 || batch.lines !== '') batches.push(batch);
    count += batch.count;
    length += batch.lines.length;
    if (count >= mostRecords || length >= mostLength) break;
  }
  if (place === from && end.last > place.last) {
    lose(end.last);
    place = end;
  }
  return { batches, losses, damaged, place };
}

/** The records of damaged batches, whose own numbers are all that is known. */
function sumOf(damagedBatches: readonly Batch[]): number {
  return damagedBatches.reduce(
    (sum, { count }) => sum + (Number.isSafeInteger(count) ? count : 1),
    0,
  );
}

function placeAfter(batch: Batch, { last, bytes }: Place): Place {
  if (isNumbered(batch)) {
    // The same records again: a commit that was taken for failed.
    return { id: batch.id, last: Math.max(batch.last, last), bytes: Math.max(batch.bytes, bytes) };
  }
  return {
    id: batch.id,
    last: last + batch.count,
    bytes: bytes + Buffer.byteLength(batch.lines),
  };
}

/** SQLite's codes for a page that is not what it should be, and for a file that is not a database. */
const corrupt = new Set([11, 26]);

function isCorrupt(error: unknown): boolean {
  const { code, errcode = 0 } = error as { code?: unknown; errcode?: number };
  // A damaged number may be larger than any that was written.
  return corrupt.has(errcode & 0xff) || code === 'ERR_OUT_OF_RANGE';
}

/** Batches after `id`; those that cannot be read are left out. */
export function* readable(file: Readable, id: number, lastId: number): Generator<Batch> {
  let at = id;
  try {
    for (const batch of file.after(id)) {
      yield batch;
      at = batch.id;
    }
    return;
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
  // A page is broken: those behind it can still be found by their number.
  while (++at <= lastId) {
    const batch = oneIfReadable(file, at);
    if (batch !== undefined) yield batch;
  }
}

function oneIfReadable(file: Readable, id: number): Batch | undefined {
  try {
    return file.one(id);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return undefined;
  }
}
