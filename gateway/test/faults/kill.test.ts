import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from 'simulator';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { balances, reconcile, type Difference } from '#ledger/index.ts';
import { createTestDatabase, isSkipped, type Dialect } from '../database/databases.ts';
import { scrape, valueOf } from '../observability/support.ts';
import { startGatewayProcess, unexpectedLines } from '../support/gateway-process.ts';
import { runClients } from './load.ts';
import type { ClientLog } from './reconcile.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

/** Random enough: the log shall hold no warning. */
const key = 'sk-kill-mT7vQe2XbL9wRz4KpN6hYd3JcF8sGa5UtV1oWi0E';
const clients = 8;

/** `npm run test:sieges` and `npm run test:kills` ask for many more. */
const asked = Number(process.env['SLUICE_KILLS'] ?? process.env['SLUICE_FAULT_LOOPS'] ?? '0');
const loops: Record<Dialect, number> =
  asked > 0 ? { sqlite: asked, postgres: asked } : { sqlite: 2, postgres: 1 };

interface Row {
  readonly id: string;
  readonly outcome: string;
  readonly status: number;
  readonly output_tokens: number;
  readonly cost: bigint | null;
}

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  test.skipIf(isSkipped(dialect))(
    `R-26 after ${loops[dialect]} kills under load every finished request has exactly one row and one charge`,
    { timeout: 60_000 + loops[dialect] * 10_000 },
    async () => {
      const simulator = await startSimulator();
      const { url: databaseUrl, drop } = await createTestDatabase(dialect);
      const folder = mkdtempSync(join(tmpdir(), 'sluice-kill-'));
      writeFileSync(join(folder, 'sluice.yaml'), configuration(simulator.url, databaseUrl));
      const seen: ClientLog[] = [];
      try {
        for (let loop = 0; loop < loops[dialect]; loop += 1) {
          seen.push(...(await loadAndKill(folder, loop)));
        }
        await startAndSettle(folder);
        const rows = await readRows(databaseUrl);
        assertExactRows(seen, rows, loops[dialect]);
        await assertExactBooks(databaseUrl, rows);
      } finally {
        await simulator.close();
        await drop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});

function configuration(simulator: string, databaseUrl: string): string {
  return `
server: { port: 0, drain_timeout: 2s }
storage: { url: ${JSON.stringify(databaseUrl)}, data_dir: ./data }
channels:
  - name: sim
    provider: simulator
    base_url: ${simulator}
    protocols: [chat, responses, messages, generate-content]
    models: [demo-chat]
users: [{ email: tester@example.com, balance: 1000 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${key} }]
`;
}

/**
 * Every start applies what the killed process before it left behind, while new load comes in. Most kills
 * come in the moment in which some client sees its response complete, when a row that is late would be lost.
 */
async function loadAndKill(folder: string, loop: number): Promise<ClientLog[]> {
  const gateway = startGatewayProcess({ folder });
  const url = await gateway.url;
  const kill = () => void gateway.child.kill('SIGKILL');
  const fatal = loop % 4 < 3 ? 20 + Math.floor(random() * 100) : Number.POSITIVE_INFINITY;
  let completed = 0;
  const onCompleted = () => {
    completed += 1;
    if (completed === fatal) kill();
  };
  const load = runClients({ url, key, random, onCompleted }, clients);
  if (fatal === Number.POSITIVE_INFINITY) setTimeout(kill, 100 + random() * 1_500);
  await gateway.exit;
  return load;
}

async function startAndSettle(folder: string): Promise<void> {
  const gateway = startGatewayProcess({ folder });
  const url = await gateway.url;
  await expect.poll(async () => valueOf(await scrape(url), 'sluice_journal_depth')).toBe(0);
  gateway.child.kill('SIGINT');
  expect(await gateway.exit).toBe(0);
  expect(unexpectedLines(gateway.stderr())).toEqual([]);
}

async function readRows(url: string): Promise<Row[]> {
  const database = openDatabase({ url });
  try {
    return await database.kysely
      .selectFrom('usage')
      .select(['id', 'outcome', 'status', 'output_tokens', 'cost'])
      .execute();
  } finally {
    await database.close();
  }
}

/** Nothing lost and nothing doubled in the books either, whatever was killed between a row and its posting. */
async function assertExactBooks(url: string, rows: readonly Row[]): Promise<void> {
  const spent = rows.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
  expect(spent).toBeGreaterThan(0n);
  const free = rows.filter(({ outcome }) => outcome === 'failed' || outcome === 'refused');
  expect(free.filter(({ cost }) => cost !== null)).toEqual([]);
  const unpaid = rows.filter(({ outcome, cost }) => outcome === 'completed' && !cost);
  expect(unpaid).toEqual([]);
  const database = openDatabase({ url });
  try {
    const user = await database.kysely
      .selectFrom('users')
      .select('id')
      .where('email', '=', 'tester@example.com')
      .executeTakeFirstOrThrow();
    const account = `user:${user.id}` as const;
    const left = await balances(database.kysely, [account]);
    expect(left.get(account)).toBe(1_000n * 10n ** 9n - spent);
    const differences: Difference[] = [];
    await reconcile(database, {}, (difference) => void differences.push(difference));
    expect(differences).toEqual([]);
  } finally {
    await database.close();
  }
}

function assertExactRows(seen: readonly ClientLog[], rows: readonly Row[], kills: number): void {
  const byId = new Map(rows.map((row) => [row.id, row]));
  expect(byId.size).toBe(rows.length);

  const completed = seen.filter((response) => response.completed);
  expect(completed.length).toBeGreaterThan(kills * 5);
  const wrong = completed.filter(({ id }) => {
    const row = byId.get(id ?? '');
    return row === undefined || row.outcome !== 'completed' || row.output_tokens === 0;
  });
  expect(wrong).toEqual([]);

  // A row that says completed although the client saw no end: only where the kill or the client itself cut it.
  const seenById = new Map(seen.map((response) => [response.id, response]));
  const unseen = rows.filter(
    (row) => row.outcome === 'completed' && seenById.get(row.id)?.completed !== true,
  );
  const unexplained = unseen.filter((row) => seenById.get(row.id)?.left !== true);
  expect(unexplained.length).toBeLessThanOrEqual(kills * clients);

  // The load was a mixed one, as far as so few rounds can show.
  if (kills < 4) return;
  for (const outcome of ['completed', 'failed', 'client-left']) {
    expect(rows.some((row) => row.outcome === outcome)).toBe(true);
  }
}
