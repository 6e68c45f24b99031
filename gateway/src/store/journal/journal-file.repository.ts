import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Records that were committed together. */
export interface Batch {
  readonly id: number;
  readonly version: number;
  readonly count: number;
  /** Lines (see `usage/record-line.ts`) joined by commas. */
  readonly lines: string;
}

export interface Pending {
  readonly count: number;
  readonly bytes: number;
}

/**
 * Makes this process the only writer of the journal in this folder. The lock belongs to the operating system, is on a
 * file of its own, and ends with the process in any case.
 * @throws Error if another process holds it.
 */
export function lockJournal(dataDir: string): DatabaseSync {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'journal.lock');
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(file, { timeout: 200 });
    lock.exec('begin exclusive');
    return lock;
  } catch (cause) {
    lock?.close();
    if ((cause as { errcode?: number }).errcode !== busy) throw unusable(file, cause);
    throw new Error(
      `${dataDir} is in use by another running gateway: stop it, or give this one its own storage.data_dir`,
      { cause },
    );
  }
}

/** SQLite's code for a file that another process has locked. */
const busy = 5;

function unusable(file: string, cause: unknown): Error {
  return new Error(`storage.data_dir: ${file} cannot be used: ${(cause as Error).message}`, {
    cause,
  });
}

/**
 * Opens the journal and creates it if missing. Each thread opens its own connection.
 * @throws Error with a message for the operator if the file is damaged, or the disk refuses it.
 */
export function openJournalFile(dataDir: string) {
  const file = join(dataDir, 'journal.db');
  try {
    return openFile(file);
  } catch (cause) {
    throw unusable(file, cause);
  }
}

function openFile(file: string) {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(`
    pragma page_size = 8192;
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma wal_autocheckpoint = 0;
    create table if not exists batches (
      id integer primary key, version integer not null, count integer not null, lines text not null
    ) strict;
    create table if not exists rejected (id integer primary key, line text not null, reason text not null) strict;
    create table if not exists probe (id integer primary key, value integer not null) strict;
  `);
  const insert = database.prepare(
    'insert into batches (id, version, count, lines) values (?, ?, ?, ?)',
  );
  const remove = database.prepare('delete from batches where id <= ?');
  const select = database.prepare(
    'select id, version, count, lines from batches where id > ? order by id limit ?',
  );
  const pending = database.prepare(
    'select coalesce(sum(count), 0) as count, coalesce(sum(length(lines)), 0) as bytes from batches where id > ?',
  );
  const reject = database.prepare('insert into rejected (line, reason) values (?, ?)');
  const last = database.prepare('select coalesce(max(id), 0) as id from batches');
  const first = database.prepare('select min(id) as id from batches');
  const newest = database.prepare('select coalesce(max(version), 0) as version from batches');
  const probe = database.prepare(
    'insert into probe (id, value) values (1, 1) on conflict (id) do update set value = value + 1',
  );
  const checkpoint = database.prepare('pragma wal_checkpoint(passive)');

  return {
    /** Returns when the batch is on disk. */
    insert: ({ id, version, count, lines }: Batch) => void insert.run(id, version, count, lines),
    /** Removes all batches up to and including this one. */
    removeUpTo: (id: number) => void remove.run(id),
    /** Batches after `id`, oldest first. */
    after: (id: number, limit: number) => select.all(id, limit) as unknown as Batch[],
    /** The records and bytes after `id`. */
    pendingAfter: (id: number) => pending.get(id) as unknown as Pending,
    /** The oldest batch; Infinity if there is none. */
    firstId: () => (first.get() as { id: number | null }).id ?? Infinity,
    lastId: () => (last.get() as { id: number }).id,
    /** The version of the newest lines; 0 if there are none. */
    newestVersion: () => (newest.get() as { version: number }).version,
    /** Sets aside a record that the database will never accept, for a person to inspect. */
    reject: (line: string, reason: string) => void reject.run(line, reason),
    /** An ordinary write that shows whether the disk accepts writes again. */
    probe: () => void probe.run(),
    /** Moves pages from the write-ahead log into the file without blocking anybody. */
    checkpoint: () => void checkpoint.all(),
    close: () => database.close(),
  };
}

export type JournalFile = ReturnType<typeof openJournalFile>;
