import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { seal, type End } from './batch.ts';
import { lockJournal, openJournalFile, type JournalFile } from './journal-file.repository.ts';
import { createKeptBatches } from './kept-batches.ts';
import { openMarkFile, type Place } from './mark.ts';
import type { FromWriter, ToWriter, WriterSettings } from './messages.ts';
import { bytesBefore, findPlaces } from './places.ts';

const { dataDir, applied: knownPlace, lineVersion, keep } = workerData as WriterSettings;

/** Applied batches leave in steps, which commits have to wait for. */
const removeEvery = 250;
const mostRemoved = 2_000;

try {
  const lock = lockJournal(dataDir);
  const writer = openWriter();
  parentPort?.on('message', (message: ToWriter) => {
    if (message.kind === 'close') {
      writer.close();
      lock.close();
      parentPort?.close();
    } else {
      writer.receive(message);
    }
  });
} catch (error) {
  reply({ kind: 'refused', message: (error as Error).message });
}

/** @throws Error with a message for the operator */
function openWriter() {
  /**
   * Never written through, and open while the thread lives. While a connection is open, nobody reads the write-ahead log
   * anew. It may contain failed commits, which their clients know to have failed.
   */
  const anchor = openJournalFile(dataDir);
  const marks = openMarkFile(dataDir);
  /** Null after a failed write: a failed fsync leaves untrustworthy data in memory, so the file is opened again. */
  let file: JournalFile | null = openJournalFile(dataDir);
  makeReadable(file, findPlaces(file, marks.read()).applied);
  const places = findPlaces(file, marks.read());
  let end: End = places.end;
  let appliedPlace: Place = knownPlace ?? places.applied;
  marks.write({ end, applied: appliedPlace });
  marks.sync();

  const keptBatches = createKeptBatches(keep, bytesBefore(file, appliedPlace));
  // It is unknown since when these have been in the database.
  keptBatches.applied(appliedPlace, performance.now());
  let removeUpTo = 0;
  const removal = setInterval(remove, removeEvery);

  if (places.missing > 0) reply({ kind: 'shortened', missing: places.missing });
  reply({
    kind: 'opened',
    count: end.last - appliedPlace.last,
    bytes: end.bytes - appliedPlace.bytes,
    lastId: end.id,
  });

  function receive(message: Exclude<ToWriter, { kind: 'close' }>): void {
    if (message.kind === 'applied') {
      appliedPlace = message.place;
      keptBatches.applied(appliedPlace, performance.now());
      note();
      return;
    }
    if (message.kind === 'intents') {
      keepIntents(message.intents);
      return;
    }
    try {
      const into = reopen();
      if (message.kind === 'probe') into.probe();
      else commit(into, message);
      reply({ kind: 'done' });
    } catch (error) {
      closeQuietly();
      reply({ kind: 'failed', message: (error as Error).message });
    }
  }

  function reopen(): JournalFile {
    if (file !== null) return file;
    file = openJournalFile(dataDir);
    // The failed commit may be there in spite of it.
    ({ end } = findPlaces(file, marks.read()));
    return file;
  }

  function commit(into: JournalFile, message: ToWriter & { kind: 'commit' }): void {
    const { lines, count, intents } = message;
    const batch = seal({ version: lineVersion, count, lines, intents }, end);
    into.insert(batch);
    end = batch;
    marks.write({ end: placeOf(end), applied: appliedPlace });
  }

  /** Nobody waits for them, and requests are served without them. */
  function keepIntents(intents: string): void {
    try {
      const batch = seal({ version: lineVersion, count: 0, lines: '', intents }, end);
      reopen().insertUnsynced(batch);
      end = batch;
      note();
    } catch {
      closeQuietly();
    }
  }

  /** What could not be noted now is noted with the next commit. */
  function note(): void {
    try {
      marks.write({ end: placeOf(end), applied: appliedPlace });
    } catch {
      // Until then, what is applied would be applied again, which changes nothing.
    }
  }

  function remove(): void {
    const place = keptBatches.removable(performance.now());
    if (place !== null) removeUpTo = place.id;
    if (removeUpTo === 0) return;
    try {
      if (reopen().removeUpTo(removeUpTo, mostRemoved) < mostRemoved) removeUpTo = 0;
    } catch {
      // Tried again.
      closeQuietly();
    }
  }

  function closeQuietly(): void {
    try {
      file?.close();
    } catch {
      // The file is given up in any case.
    }
    file = null;
  }

  return {
    receive,
    close() {
      clearInterval(removal);
      file?.close();
      anchor.close();
      marks.close();
    },
  };
}

/**
 * After a step back to an earlier version, removes what a newer one has written and the database has.
 * @throws Error if the database lacks some of it: nothing may be served meanwhile, because total spending is unknown.
 */
function makeReadable(file: JournalFile, applied: Place): void {
  const version = file.newestVersion();
  if (version <= lineVersion) return;
  if (applied.id >= file.lastId()) {
    file.removeUpTo(applied.id, Number.MAX_SAFE_INTEGER);
    return;
  }
  throw new Error(
    `storage.data_dir: ${join(dataDir, 'journal.db')} is newer than this version (records of version ${version}): run the newer version of sluice, which writes them to the database`,
  );
}

function placeOf({ id, last, bytes }: Place): Place {
  return { id, last, bytes };
}

function reply(message: FromWriter): void {
  parentPort?.postMessage(message);
}
