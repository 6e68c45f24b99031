import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startApp } from '#app/index.ts';
import { parseConfig } from '#config/index.ts';
import { openTestDatabase } from '../database/databases.ts';

it('/ready and the log name nodes that left records or fell silent with money, and a second node on SQLite', async () => {
  const { database, url, close } = await openTestDatabase('sqlite');
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ready-'));
  const warnings: unknown[] = [];
  await database.kysely
    .insertInto('nodes')
    .values([
      { id: 'node_gone', started_at: 1, seen_at: Date.now() - 60_000, journal_depth: 4 },
      { id: 'node_empty', started_at: 1, seen_at: Date.now() - 60_000, journal_depth: 0 },
      { id: 'node_other', started_at: 1, seen_at: Date.now(), journal_depth: 9 },
    ])
    .execute();
  const life = { number: 1, generation: 0, seen_at: 1, closed: 1, age: 600_000 };
  await database.kysely
    .insertInto('lives')
    .values([
      { ...life, id: 'life_1', node: 'node_slow', freed: 2_500_000_000n, freed_at: Date.now() },
      { ...life, id: 'life_2', node: 'node_back', freed: null, freed_at: Date.now() },
      { ...life, id: 'life_3', node: 'node_old', freed: 1n, freed_at: Date.now() - 8 * 86_400_000 },
    ])
    .execute();
  const config = parseConfig(
    `server: { port: 0 }\nstorage: { url: "${url}", data_dir: "${folder}" }`,
    { file: 'test.yaml', environment: {}, bundledModels: [] },
  );
  const app = await startApp({
    config,
    logger: {
      info: () => {},
      warn: (_message, fields) => void warnings.push(fields),
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
  const response = await fetch(`${app.url}/ready`);
  expect([response.status, await response.json()]).toEqual([
    200,
    {
      status: 'ok',
      degraded: [
        'node node_gone is unreachable with 4 usage records in its journal',
        'node node_slow was silent for billing.lease_age: up to 2.5 USD may be spent twice',
        '2 nodes on sqlite: money is not shared',
      ],
    },
  ]);
  expect(warnings).toContainEqual({ component: 'nodes', detail: 'node_gone', count: 4 });
  const scraped = await (await fetch(`${app.url}/metrics`)).text();
  expect(scraped).toContain('\nsluice_live_nodes 2\n');
  expect(scraped).toContain('\nsluice_degraded{component="other"} 3\n');
  expect(scraped).toContain('\nsluice_freed_leases_usd 2.5\n');
});
