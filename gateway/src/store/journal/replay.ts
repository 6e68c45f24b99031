import type { OpenDatabase } from '#database/index.ts';
import { createBatchWriter } from './batch-writer.ts';
import { openJournalFile, type JournalFile } from './journal-file.repository.ts';
import { beginning, openMarkFile, type Place } from './mark.ts';
import { findPlaces } from './places.ts';
import { readOn } from './read-on.ts';

export interface Replayed {
  /** Records that the journal has. */
  readonly records: number;
  /** Those that the database lacked. */
  readonly restored: number;
}

/**
 * Writes everything that a journal has to the database once more, for a database that has lost its last moments. What is
 * there changes nothing. The gateway may be running on the folder.
 * @throws Error if the journal or the database cannot be used.
 */
export async function replayJournal(dataDir: string, database: OpenDatabase): Promise<Replayed> {
  const file = openJournalFile(dataDir);
  const marks = openMarkFile(dataDir);
  try {
    const { end } = findPlaces(file, marks.read());
    return await replayFile(file, end, database);
  } finally {
    file.close();
    marks.close();
  }
}

/** The same for a file that is open, up to this place. @throws the error of the database */
export async function replayFile(
  file: Pick<JournalFile, 'after' | 'one'>,
  end: Place,
  database: OpenDatabase,
): Promise<Replayed> {
  // What is damaged or missing is reported by the gateway, and refused records by its applier.
  const writer = createBatchWriter({ database, node: '', putAside: () => {} });
  let place: Place = beginning;
  let records = 0;
  let restored = 0;
  while (place.id < end.id) {
    const reading = readOn(file, place, end, { mostRecords: 1_500, mostLength: 8 * 2 ** 20 });
    // Rows that retention has removed must not come back.
    restored += await writer.write(reading.batches, [], { isLeftOver: true });
    records += reading.batches.reduce((sum, { count }) => sum + count, 0);
    if (reading.batches.length === 0) break;
    ({ place } = reading);
  }
  return { records, restored };
}
