import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StoredLines } from '#usage/index.ts';

/**
 * Writes batches as the program did before records had numbers and checksums: with its tables, never with the code of
 * today.
 */
export function writeOlderJournal(dataDir: string, batches: readonly StoredLines[]): void {
  mkdirSync(dataDir, { recursive: true });
  const database = new DatabaseSync(join(dataDir, 'journal.db'));
  database.exec(`
    pragma page_size = 8192;
    pragma journal_mode = wal;
    create table if not exists batches (
      id integer primary key, version integer not null, count integer not null, lines text not null
    ) strict;
    create table if not exists rejected (id integer primary key, line text not null, reason text not null) strict;
    create table if not exists probe (id integer primary key, value integer not null) strict;
  `);
  const insert = database.prepare('insert into batches (version, count, lines) values (?, ?, ?)');
  for (const { version, lines } of batches) {
    insert.run(version, lines.match(/"req_/g)?.length ?? 1, lines);
  }
  database.close();
}
