import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Fills a database that the gateway has created and used once: copies its one key and its one usage row as often as
 * wanted. Copying whole rows stays correct when columns are added.
 */
export function seed(directory: string, keys: number, usageRows: number): void {
  const database = new DatabaseSync(path.join(directory, 'sluice.db'), {
    // Copies refer to what their original refers to.
    enableForeignKeyConstraints: false,
  });
  database.exec('pragma journal_mode = wal; pragma synchronous = off; begin');
  copyRow(database, 'keys', keys, {
    id: `'key_bench' || n`,
    name: `'bench ' || n`,
    hash: 'lower(hex(randomblob(32)))',
    // Not owned by the file, which would disable what it no longer names.
    owner: `'console'`,
    secret_owner: `'console'`,
  });
  copyRow(database, 'usage', usageRows, { id: `'req_bench' || n`, time: 'time - n * 1000' });
  database.exec('commit; pragma wal_checkpoint(truncate)');
  database.close();
}

/** `replaced`: the columns that differ from the original, as expressions of the copy's number `n`. */
export function copyRow(
  database: DatabaseSync,
  table: 'keys' | 'usage',
  count: number,
  replaced: Readonly<Record<string, string>>,
): void {
  const columns = database
    .prepare('select name from pragma_table_info(?)')
    .all(table)
    .map(({ name }) => String(name));
  const values = columns.map((name) => replaced[name] ?? `"${name}"`);
  const changes = database
    .prepare(
      `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?)
       insert into "${table}" (${columns.map((name) => `"${name}"`).join(', ')})
       select ${values.join(', ')} from numbers, (select * from "${table}" limit 1)`,
    )
    .run(count).changes;
  if (Number(changes) !== count) throw new Error(`${table}: no row to copy`);
}
