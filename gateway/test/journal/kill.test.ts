import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openJournal } from '#journal/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const program = fileURLToPath(new URL('append.program.ts', import.meta.url));
const rounds = 5;

describe.each(dialects)('%s', (dialect) => {
  it.skipIf(isSkipped(dialect))(
    'has every acknowledged record exactly once after kills at random moments',
    { timeout: 60_000 },
    async () => {
      const { database, url, close } = await openTestDatabase(dialect);
      const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
      const acknowledged: string[] = [];
      // The same folder and database each time: a start also applies what the killed process left.
      for (let round = 0; round < rounds; round++) {
        acknowledged.push(...(await runAndKill([dataDir, url, `round${round}`])));
      }
      const journal = await openJournal({ dataDir, databaseUrl: url, maxSize: 2 ** 30 });
      await journal.close(20_000);
      expect(journal.depth).toBe(0);

      const rows = await database.kysely.selectFrom('usage').select('id').execute();
      const ids = new Set(rows.map((row) => row.id));
      expect(rows.length).toBe(ids.size);
      expect(acknowledged.length).toBeGreaterThan(rounds * 10);
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
      await close();
      rmSync(dataDir, { recursive: true });
    },
  );
});

async function runAndKill(parameters: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, [program, ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8');
  const started = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: string) => {
      text += chunk;
      resolve();
    });
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  await started;
  await wait(random() * 1_000);
  child.kill('SIGKILL');
  await ended;
  return text.split('\n').slice(0, -1);
}
