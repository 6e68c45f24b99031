import { once } from 'node:events';
import { sql } from 'kysely';
import { migrate, openDatabase } from '#database/index.ts';

/* Migrates the database of the given URL as soon as it is told to: by then it is connected. */

const database = openDatabase({ url: process.argv[2] ?? '', statementTimeout: 0 });
await sql`select 1`.execute(database.kysely);
const told = once(process, 'message');
process.send?.('ready');
await told;
try {
  await migrate(database);
} finally {
  await database.close();
  process.disconnect?.();
}
