import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { createMigrations } from '#database/migrations/index.ts';
import { createTestDatabase, dialects, isSkipped } from './databases.ts';

const program = fileURLToPath(new URL('migrate.program.ts', import.meta.url));

for (const dialect of dialects) {
  test.skipIf(isSkipped(dialect))(
    `a database (${dialect}) is migrated once by processes that start together`,
    { timeout: 60_000 },
    async () => {
      const { url, drop } = await createTestDatabase(dialect);
      onTestFinished(drop);
      const migrateElsewhere = () => promisify(execFile)(process.execPath, [program, url]);
      await Promise.all(Array.from({ length: 3 }, migrateElsewhere));
      const database = openDatabase({ url });
      onTestFinished(() => database.close());
      const { rows } = await sql`select name from kysely_migration`.execute(database.kysely);
      expect(rows).toHaveLength(Object.keys(createMigrations(dialect)).length);
      const revisions = await database.kysely.selectFrom('revisions').select('value').execute();
      expect(revisions).toEqual([{ value: 1 }]);
    },
  );
}
