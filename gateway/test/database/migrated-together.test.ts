import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { createMigrations } from '#database/migrations/index.ts';
import { createTestDatabase, dialects, isSkipped } from './databases.ts';

const program = new URL('migrate.program.ts', import.meta.url);

/** A process that migrates this database as soon as it is told to. */
async function startMigrator(url: string): Promise<ChildProcess> {
  const child = fork(program, [url], { execArgv: [] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

async function exitCode(child: ChildProcess): Promise<unknown> {
  const [code] = (await once(child, 'exit')) as unknown[];
  return code;
}

for (const dialect of dialects) {
  test.skipIf(isSkipped(dialect))(
    `a database (${dialect}) is migrated once by processes that start together`,
    { timeout: 60_000 },
    async () => {
      const { url, drop } = await createTestDatabase(dialect);
      onTestFinished(drop);
      const migrators = await Promise.all(Array.from({ length: 3 }, () => startMigrator(url)));
      const exits = migrators.map(exitCode);
      for (const child of migrators) child.send('go');
      expect(await Promise.all(exits)).toEqual([0, 0, 0]);
      const database = openDatabase({ url });
      onTestFinished(() => database.close());
      const { rows } = await sql`select name from kysely_migration`.execute(database.kysely);
      expect(rows).toHaveLength(Object.keys(createMigrations(dialect)).length);
      const revisions = await database.kysely.selectFrom('revisions').select('value').execute();
      expect(revisions).toEqual([{ value: 1 }]);
    },
  );
}
