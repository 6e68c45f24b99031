import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { lockJournal, openJournalFile, type JournalFile } from './journal-file.repository.ts';
import type { FromWriter, ToWriter, WriterSettings } from './messages.ts';

const { dataDir, appliedUpTo, lineVersion } = workerData as WriterSettings;

/** Null after a failed write: a failed fsync leaves untrustworthy data in memory, so the file is opened again. */
let file: JournalFile | null = null;
/**
 * Never written through, and open while the thread lives. While a connection is open, nobody reads the write-ahead log
 * anew. It may contain failed commits, which their clients know to have failed.
 */
let anchor: JournalFile | null = null;
/** Never reused within a process, so that `remove` can never meet a newer batch of the same number. */
let lastId = 0;

try {
  const lock = lockJournal(dataDir);
  anchor = openJournalFile(dataDir);
  file = openJournalFile(dataDir);
  assertReadable(file.newestVersion());
  // The previous writer may have died before it removed these.
  file.removeUpTo(appliedUpTo);
  // The applier has seen everything up to there and only looks beyond.
  lastId = Math.max(file.lastId(), appliedUpTo);
  reply({ kind: 'opened', ...file.pendingAfter(0) });
  parentPort?.on('message', (message: ToWriter) => {
    if (message.kind === 'close') {
      file?.close();
      anchor?.close();
      lock.close();
      parentPort?.close();
    } else {
      receive(message);
    }
  });
} catch (error) {
  reply({ kind: 'refused', message: (error as Error).message });
}

/** Nothing is served meanwhile: until such records are in the database, total spending is unknown. */
function assertReadable(version: number): void {
  if (version <= lineVersion) return;
  throw new Error(
    `storage.data_dir: ${join(dataDir, 'journal.db')} is newer than this version (records of version ${version}): run the newer version of sluice, which writes them to the database`,
  );
}

function receive(message: Exclude<ToWriter, { kind: 'close' }>): void {
  try {
    file ??= openJournalFile(dataDir);
    if (message.kind === 'remove') {
      file.removeUpTo(message.upTo);
      return;
    }
    if (message.kind === 'probe') file.probe();
    else commit(file, message);
    reply({ kind: 'done' });
  } catch (error) {
    closeQuietly();
    // A failed removal needs no reply: the rows are removed with the next ones.
    if (message.kind !== 'remove') reply({ kind: 'failed', message: (error as Error).message });
  }
}

function commit(open: JournalFile, { lines, count }: ToWriter & { kind: 'commit' }): void {
  open.insert({ id: ++lastId, version: lineVersion, count, lines });
}

function closeQuietly(): void {
  try {
    file?.close();
  } catch {
    // The file is given up in any case.
  }
  file = null;
}

function reply(message: FromWriter): void {
  parentPort?.postMessage(message);
}
