import { crc32 } from 'node:zlib';
import type { Place } from './mark.ts';

/** Records that were committed together, as the file has them. */
export interface Batch {
  readonly id: number;
  /** The version of its lines. */
  readonly version: number;
  readonly count: number;
  /** Lines (see `usage/record-line.ts`) joined by commas. */
  readonly lines: string;
  /** Intents (see `intents.ts`) joined by commas; null if there are none. */
  readonly intents: string | null;
  /** Null in batches of versions that did not number their records; so are the following. */
  readonly last: number | null;
  /** A running total, with this batch. */
  readonly bytes: number | null;
  /** The checksum of the batch before; 0 if there was none. */
  readonly before: number | null;
  readonly checksum: number | null;
}

/** A batch with its place in the journal. */
export interface NumberedBatch extends Batch {
  readonly last: number;
  readonly bytes: number;
  readonly before: number;
  readonly checksum: number;
}

/** Where a batch goes. */
export interface End extends Place {
  /** Of the last batch; 0 if there is none. */
  readonly checksum: number;
}

/** Numbers the records of a batch, and seals it with a checksum that includes the one of the batch before. */
export function seal(
  { version, count, lines, intents }: Pick<Batch, 'version' | 'count' | 'lines' | 'intents'>,
  end: End,
): NumberedBatch {
  const batch = {
    id: end.id + 1,
    version,
    count,
    lines,
    intents,
    last: end.last + count,
    bytes: end.bytes + lines.length + (intents?.length ?? 0),
    before: end.checksum,
  };
  return { ...batch, checksum: checksumOf(batch) };
}

export function isNumbered(batch: Batch): batch is NumberedBatch {
  return batch.checksum !== null;
}

/** The last version of lines that was written into batches without numbers. */
const lastWithout = 5;

/**
 * Whether a batch is as it was written. Nobody can tell for one of an earlier version, which has no checksum. In a
 * damaged file any column may have any type.
 */
export function isSound(batch: Batch): boolean {
  const { last, bytes, before, lines, intents } = batch;
  if (typeof lines !== 'string' || (intents !== null && typeof intents !== 'string')) return false;
  if (isNumbered(batch)) return batch.checksum === checksumOf(batch);
  return last === null && bytes === null && before === null && batch.version <= lastWithout;
}

function checksumOf(batch: Omit<NumberedBatch, 'checksum'>): number {
  const { id, version, count, last, bytes, before, lines, intents } = batch;
  const sum = crc32(lines, crc32(`${id} ${version} ${count} ${last} ${bytes} ${before}`));
  return intents === null ? sum : crc32(intents, sum);
}
