import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/** A place in the journal: after a batch. */
export interface Place {
  /** The batch. */
  readonly id: number;
  /** The sequence number of its last record: as many records have been written up to here. */
  readonly last: number;
  /** The bytes written up to here. */
  readonly bytes: number;
}

export const beginning: Place = Object.freeze({ id: 0, last: 0, bytes: 0 });

/** What the journal contained, known without reading it. */
export interface Mark {
  /** Everything acknowledged so far. */
  readonly end: Place;
  /** Everything up to here is in the database. */
  readonly applied: Place;
}

/**
 * The mark is written twice, in turns, so that one of both is whole whenever a write is cut off. Each is within a sector
 * of its own.
 */
const slotSize = 512;

interface Slot {
  readonly turn: number;
  readonly mark: Mark;
}

/**
 * The file beside the journal that tells how far it went. It is written after each commit and not synced with it: it
 * survives the end of the process, and after a power cut it is at most older than the journal, never newer. So whatever
 * it names and the journal lacks has been lost.
 */
export function openMarkFile(dataDir: string) {
  const descriptor = openOrCreate(join(dataDir, 'journal.mark'));
  let turn = newest()?.turn ?? 0;

  function newest(): Slot | null {
    const [a, b] = [readSlot(0), readSlot(1)];
    return a === null || (b !== null && b.turn > a.turn) ? b : a;
  }

  function readSlot(number: number): Slot | null {
    const buffer = Buffer.alloc(slotSize);
    const length = readSync(descriptor, buffer, 0, slotSize, number * slotSize);
    const [text = '', sum = ''] = buffer.toString('latin1', 0, length).split('\n');
    if (text === '' || sum !== sumOf(text)) return null;
    return JSON.parse(text) as Slot;
  }

  return {
    /** Null if there is none, or neither of both is whole. */
    read: (): Mark | null => newest()?.mark ?? null,
    write(mark: Mark): void {
      turn += 1;
      const text = JSON.stringify({ turn, mark } satisfies Slot);
      const slot = `${text}\n${sumOf(text)}\n`.padEnd(slotSize);
      writeSync(descriptor, slot, (turn % 2) * slotSize, 'latin1');
    },
    sync: () => fsyncSync(descriptor),
    close: () => closeSync(descriptor),
  };
}

export type MarkFile = ReturnType<typeof openMarkFile>;

function openOrCreate(file: string): number {
  try {
    return openSync(file, 'r+', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return openSync(file, 'w+', 0o600);
  }
}

function sumOf(text: string): string {
  return crc32(text).toString(16);
}
