import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openJournal } from '#journal/index.ts';
import { isSkipped, openTestDatabase } from '../database/databases.ts';
import { record } from './records.ts';

test.skipIf(isSkipped('postgres')).each(['off', 'local', 'remote_apply'])(
  'a database with synchronous_commit = %s has rows on disk when they leave the journal',
  async (setting) => {
    const { database, url, close } = await openTestDatabase('postgres');
    const { kysely } = database;
    const name = sql.id(new URL(url).pathname.slice(1));
    await sql`alter database ${name} set synchronous_commit = ${sql.lit(setting)}`.execute(kysely);
    await sql`create table seen (setting text)`.execute(kysely);
    await sql`create function see() returns trigger language plpgsql as $$
      begin insert into seen values (current_setting('synchronous_commit')); return null; end $$`.execute(
      kysely,
    );
    await sql`create trigger see after insert on usage execute function see()`.execute(kysely);
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
    const journal = await openJournal({ dataDir, databaseUrl: url, maxSize: 2 ** 30 });
    await journal.append(record('req_1'));
    await journal.close(30_000);
    const { rows } = await sql<{ setting: string }>`select setting from seen`.execute(kysely);
    expect(rows).toEqual([{ setting: setting === 'remote_apply' ? 'remote_apply' : 'on' }]);
    await close();
    rmSync(dataDir, { recursive: true });
  },
);
