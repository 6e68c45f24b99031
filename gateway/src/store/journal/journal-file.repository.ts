import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isSound, type Batch, type NumberedBatch } from './batch.ts';

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
      id integer primary key, last integer, bytes integer, before integer, checksum integer,
      version integer not null, count integer not null, intents text, lines text not null
    ) strict;
    create table if not exists rejected (id integer primary key, line text not null, reason text not null) strict;
    create table if not exists probe (id integer primary key, value integer not null) strict;
  `);
  addMissingColumns(database);
  const insert = database.prepare(
    'insert into batches (id, version, count, lines, intents, last, bytes, before, checksum) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const remove = database.prepare(
    'delete from batches where id in (select id from batches where id <= ? order by id limit ?)',
  );
  const select = database.prepare(
    'select id, version, count, lines, intents, last, bytes, before, checksum from batches where id > ? order by id',
  );
  const selectOne = database.prepare(
    'select id, version, count, lines, intents, last, bytes, before, checksum from batches where id = ?',
  );
  const reverse = database.prepare(
    'select id, version, count, lines, intents, last, bytes, before, checksum from batches order by id desc',
  );
  const oldest = database.prepare(
    'select id, version, count, lines, intents, last, bytes, before, checksum from batches where checksum is not null order by id',
  );
  const newest = database.prepare(
    'select id, version, count, lines, intents, last, bytes, before, checksum from batches where checksum is not null order by id desc',
  );
  // Reads the beginning of each row only, not its lines.
  const older = database.prepare(`
    select coalesce(max(id), 0) as id, coalesce(sum(count), 0) as count, coalesce(sum(octet_length(lines)), 0) as bytes
    from batches where id > ? and checksum is null`);
  const withIntents = database.prepare(
    'select 1 from batches where id <= ? and intents is not null limit 1',
  );
  const reject = database.prepare(
    'insert into rejected (line, reason) select ?1, ?2 where not exists (select 1 from rejected where line = ?1)',
  );
  const last = database.prepare('select coalesce(max(id), 0) as id from batches');
  const probe = database.prepare(
    'insert into probe (id, value) values (1, 1) on conflict (id) do update set value = value + 1',
  );
  const checkpoint = database.prepare('pragma wal_checkpoint(passive)');

  return {
    /** Returns when the batch is on disk. */
    insert(batch: NumberedBatch): void {
      const { id, version, count, lines, intents, last: end, bytes, before, checksum } = batch;
      insert.run(id, version, count, lines, intents, end, bytes, before, checksum);
    },
    /** Returns before the batch is on disk: it survives the end of the process, and is synced with the next one. */
    insertUnsynced(batch: NumberedBatch): void {
      database.exec('pragma synchronous = normal');
      try {
        this.insert(batch);
      } finally {
        database.exec('pragma synchronous = full');
      }
    },
    /** Removes batches up to and including this one, the oldest first, so many at most. @returns how many */
    removeUpTo: (id: number, most: number) => Number(remove.run(id, most).changes),
    /** Batches after `id`, oldest first; read one by one, as far as the caller goes. */
    after: (id: number) => select.iterate(id) as unknown as IteratorObject<Batch>,
    one: (id: number) => selectOne.get(id) as unknown as Batch | undefined,
    /** Numbered batches, oldest first. */
    oldest: () => oldest.iterate() as unknown as IteratorObject<NumberedBatch>,
    /** The same, newest first. */
    newest: () => newest.iterate() as unknown as IteratorObject<NumberedBatch>,
    /** The batches after `id` that have no numbers. */
    olderAfter: (id: number) => older.get(id) as unknown as Pending & { readonly id: number },
    /** The version of the newest lines; 0 if there are none. */
    newestVersion: () =>
      (reverse.iterate() as unknown as IteratorObject<Batch>).find(isSound)?.version ?? 0,
    /** Whether any batch up to this one has intents. */
    hasIntents: (upTo: number) => withIntents.get(upTo) !== undefined,
    lastId: () => (last.get() as { id: number }).id,
    /**
     * Sets aside a record that the database will never accept, once, for a person to inspect.
     * @returns false if it was there.
     */
    reject: (line: string, reason: string) => reject.run(line, reason).changes > 0,
    /** An ordinary write that shows whether the disk accepts writes again. */
    probe: () => void probe.run(),
    /** Moves pages from the write-ahead log into the file without blocking anybody. */
    checkpoint: () => void checkpoint.all(),
    close: () => database.close(),
  };
}

export type JournalFile = ReturnType<typeof openJournalFile>;

const addedColumns = {
  last: 'alter table batches add column last integer',
  bytes: 'alter table batches add column bytes integer',
  before: 'alter table batches add column before integer',
  checksum: 'alter table batches add column checksum integer',
  intents: 'alter table batches add column intents text',
};

/** Adds what journals of earlier versions lack. Their batches stay as they are. */
function addMissingColumns(database: DatabaseSync): void {
  const tableColumns = database.prepare('pragma table_info(batches)').all();
  for (const [name, statement] of Object.entries(addedColumns)) {
    if (!tableColumns.some((column) => column['name'] === name)) database.exec(statement);
  }
}

/**
 * Reports at once that a folder is in use, before anything of its configuration takes effect. The journal takes the
 * lock permanently when it opens; two simultaneous starts meet there.
 * @throws Error with a message for the operator if another gateway runs on the folder.
 */
export function assertDataFolderFree(dataDir: string): void {
  lockJournal(dataDir).close();
}
