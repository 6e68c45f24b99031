import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '#app/index.ts';
import { parseConfig } from '#config/index.ts';
import { acknowledgeLosses, reconcile, type Difference } from '#ledger/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { leaveKilledJournal } from './killed-journal.ts';

const count = 12;

describe.each(dialects)('%s', (dialect) => {
  it.skipIf(isSkipped(dialect))(
    'names records that a journal has lost in the log, in /ready and in reconcile, until they are acknowledged',
    { timeout: 60_000 },
    async () => {
      const { database, url, close } = await openTestDatabase(dialect);
      const folder = leaveKilledJournal(count, 'log');
      const log = readFileSync(join(folder, 'journal.db-wal'));
      writeFileSync(join(folder, 'journal.db-wal'), log.subarray(0, log.length / 2));
      const config = parseConfig(
        `server: { port: 0 }\nstorage: { url: "${url}", data_dir: "${folder}" }`,
        { file: 'test.yaml', environment: {}, bundledModels: [] },
      );
      const warnings: string[] = [];
      const app = await startApp({
        config,
        logger: {
          info: () => {},
          warn: (message, fields) =>
            void warnings.push(`${message} ${String((fields as { detail?: unknown })?.detail)}`),
          error: (message, error) => expect.fail(`${message}: ${String(error)}`),
          request: () => {},
          droppedLines: 0,
        },
      });
      onTestFinished(async () => {
        await app.close();
        await close();
        rmSync(folder, { recursive: true });
      });
      const degraded = async () => {
        const response = await fetch(`${app.url}/ready`);
        const { degraded: parts = [] } = (await response.json()) as { degraded?: string[] };
        // A busy machine may be degraded in other ways.
        return parts.filter((text) => text.includes('has lost'));
      };
      const differences = async () => {
        const found: Difference[] = [];
        await reconcile(database, {}, (difference) => found.push(difference));
        return found.filter(({ check }) => check === 'journal');
      };
      const node = readFileSync(join(folder, 'node.id'), 'utf8').trim();

      await expect.poll(degraded, { timeout: 15_000 }).toHaveLength(1);
      const rows = await database.kysely.selectFrom('usage').select('id').execute();
      const missing = count - rows.length;
      expect(missing).toBeGreaterThan(1);
      expect(await degraded()).toEqual([
        `node ${node} has lost ${missing} usage records of its journal`,
      ]);
      expect(warnings).toEqual([
        `journal: records-missing ${missing} at the end of the journal`,
        `journal: records-missing ${missing} not in the journal: numbers ${rows.length + 1} to ${count}`,
      ]);
      expect(await differences()).toEqual([
        {
          check: 'journal',
          subject: node,
          expected: `${missing} usage records from number ${rows.length + 1} on`,
          found: 'none',
        },
      ]);

      expect(await acknowledgeLosses(database.kysely, Date.now())).toBe(missing);
      expect(await differences()).toEqual([]);
      await expect.poll(degraded, { timeout: 15_000 }).toEqual([]);
    },
  );
});
