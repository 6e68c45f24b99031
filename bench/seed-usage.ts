import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { copyRow } from './seed.ts';

const keys = 100_000;
const users = 10_000;
const teams = 500;
const models = 50;
const channels = 20;

/**
 * Fills a database that the gateway has created and used once with a year of usage: its one row, copied with the names
 * of many keys, users, teams, models and channels, equally distributed. The gateway's own key is one of them and has
 * half of everything. For the filters see `usageNames`.
 */
export function seedUsage(directory: string, count: number): void {
  const database = new DatabaseSync(path.join(directory, 'sluice.db'));
  database.exec('pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -500000');
  // Built once at the end, an index costs a tenth of what it costs row by row.
  const indexes = database
    .prepare(
      `select name, sql from sqlite_schema where tbl_name = 'usage' and sql like 'create index%'`,
    )
    .all();
  database.exec('begin');
  for (const { name } of indexes) database.exec(`drop index "${String(name)}"`);
  const year = 365 * 86_400_000;
  copyRow(database, 'usage', count, {
    id: `printf('req_%08d', n)`,
    time: `time - cast((n * 1.0 / ${count}) * ${year} as integer)`,
    key_id: `case when n % 2 = 0 then key_id else 'key_' || (n * 7919 % ${keys}) end`,
    user_id: `case when n % 2 = 0 then user_id else 'usr_' || (n * 7919 % ${users}) end`,
    team_id: `case when n % 3 = 0 then 'team_' || (n * 31 % ${teams}) end`,
    model: `'model-' || (n * 17 % ${models})`,
    channel: `'channel-' || (n * 13 % ${channels})`,
  });
  // A name that was used long ago, and rarely: it is found at the end of everything.
  for (const [column, name] of Object.entries(rare)) {
    database.exec(`update usage set ${column} = '${name}' where rowid between 1000 and 1010`);
  }
  for (const { sql } of indexes) database.exec(String(sql));
  database.exec('commit; pragma wal_checkpoint(truncate)');
  database.close();
}

const rare = {
  key_id: 'key_rare',
  user_id: 'usr_rare',
  team_id: 'team_rare',
  model: 'rare',
  channel: 'rare',
} as const;
