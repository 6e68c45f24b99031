import { isSound, type End, type NumberedBatch } from './batch.ts';
import type { JournalFile } from './journal-file.repository.ts';
import { beginning, type Mark, type Place } from './mark.ts';

export interface Places {
  /** Where the next batch goes. */
  readonly end: End;
  readonly applied: Place;
  /** How many records are missing at the end of the file. */
  readonly missing: number;
}

/** Finds out where a journal begins and ends, by its batches and by the mark beside it. */
export function findPlaces(file: JournalFile, writtenMark: Mark | null): Places {
  const mark = writtenMark === null || isForeign(file, writtenMark) ? null : writtenMark;
  const newest = file.newest().find(isSound) ?? null;
  const lastPlace = further(newest, mark?.end ?? null) ?? beginning;
  // Batches of an earlier version are numbered by their place.
  const older = file.olderAfter(lastPlace.id);
  const lastId = file.lastId();
  const end = {
    id: Math.max(lastPlace.id, lastId),
    last: lastPlace.last + older.count,
    bytes: lastPlace.bytes + older.bytes,
    checksum: newest !== null && newest.id === lastId ? newest.checksum : 0,
  };
  const appliedPlace = mark?.applied ?? startOf(file);
  return {
    end,
    applied: appliedPlace,
    missing: end.last - lastFound(newest, lastId, { end, applied: appliedPlace }),
  };
}

function lastFound(
  newest: NumberedBatch | null,
  lastId: number,
  { end, applied }: Pick<Mark, 'end' | 'applied'>,
): number {
  if (newest !== null && newest.id === lastId) return newest.last;
  return lastId === 0 ? applied.last : end.last;
}

/**
 * Whether a program that writes no mark has used the journal since, beginning with the first number again: then the mark
 * says nothing.
 */
function isForeign(file: JournalFile, { end }: Mark): boolean {
  return file.lastId() < end.id && file.olderAfter(0).count > 0;
}

/** Without a mark, everything in the file is applied again, which changes nothing. */
function startOf(file: JournalFile): Place {
  const first = file.oldest().find(isSound);
  if (first === undefined) return beginning;
  const older = file.olderAfter(0);
  return {
    id: 0,
    last: Math.max(first.last - first.count - older.count, 0),
    bytes: Math.max(first.bytes - bytesOf(first) - older.bytes, 0),
  };
}

function further(a: Place | null, b: Place | null): Place | null {
  if (a === null || b === null) return a ?? b;
  return a.last >= b.last ? a : b;
}

/** The bytes before the oldest batch. */
export function bytesBefore(file: JournalFile, applied: Place): number {
  const first = file.oldest().find(isSound);
  return first === undefined
    ? applied.bytes
    : Math.min(first.bytes - bytesOf(first), applied.bytes);
}

function bytesOf({ lines, intents }: NumberedBatch): number {
  return lines.length + (intents?.length ?? 0);
}
