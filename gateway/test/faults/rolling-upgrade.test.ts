import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { startSimulator } from 'simulator';
import { expect, onTestFinished, test } from 'vitest';
import { migrate, openDatabase, type OpenDatabase } from '#database/index.ts';
import { createMigrations } from '#database/migrations/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { canStartRedis, startPrivateRedis } from '../limits/private-redis.ts';
import { freePort } from '../support/free-port.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';
import { isWithoutHaproxy, startHaproxy } from '../support/haproxy.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { noonZone } from '../support/time-zones.ts';
import { runClients } from './load.ts';
import { key } from './nodes.ts';

/**
 * The version before, which has to keep serving beside this one. With each release it becomes the last commit of the
 * release before.
 */
const earlier = 'e77e25136f8e08c047631ece67b36da53cb03372';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const clients = 6;

test.skipIf(isWithoutHaproxy || isSkipped('postgres') || !canStartRedis)(
  'R-25 R-31 nodes of the version before serve beside new ones, and are replaced one by one: nothing is refused, lost or charged twice',
  { timeout: 240_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-upgrade-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const earlierProgram = checkOutEarlier(folder);
    const simulator = await startSimulator();
    onTestFinished(() => simulator.close());
    const redis = await startPrivateRedis();
    onTestFinished(() => redis.stop());
    const { url: databaseUrl, drop } = await createTestDatabase('postgres');
    onTestFinished(drop);

    const ports = [await freePort(), await freePort(), await freePort()];
    const masterKey = randomBytes(32).toString('base64');
    const nodes: GatewayProcess[] = [];
    const startNode = async (index: number, program?: string): Promise<void> => {
      const own = join(folder, `node-${index}`);
      mkdirSync(own, { recursive: true });
      writeFileSync(
        join(own, 'sluice.yaml'),
        `
server: { port: ${ports[index]}, drain_timeout: 20s }
storage: { url: ${JSON.stringify(databaseUrl)}, data_dir: ./data }
redis: { url: ${redis.url} }
secrets: { master_key: ${masterKey} }
console: { enabled: false }
${configuration(simulator.url)}`,
      );
      const node = startGatewayProcess({ folder: own, ...(program !== undefined && { program }) });
      onTestFinished(async () => {
        node.child.kill('SIGKILL');
        await node.exit;
      });
      nodes[index] = node;
      await node.url;
    };
    await Promise.all([startNode(0, earlierProgram), startNode(1, earlierProgram)]);
    const database = openDatabase({ url: databaseUrl });
    onTestFinished(() => database.close());
    const front = await startHaproxy({ folder, ports });
    onTestFinished(() => front.close());

    let wanted = true;
    let completed = 0;
    const random = seededRandom();
    const load = ['alone', 'member'].map((name) =>
      runClients(
        {
          url: front.url,
          key: key(name),
          random,
          onCompleted: () => void (completed += 1),
          faults: ['', 'gap=5', 'gap=40', 'delay=300', 'events=40;gap=80'],
          leaving: 0.1,
          wanted: () => wanted,
        },
        clients,
      ),
    );
    /** Resolves when so many more have come whole. */
    const more = (count: number) => {
      const from = completed;
      return expect.poll(() => completed - from, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
    };
    /** What the nodes serve is booked, and none of them complains. */
    const allBook = async () => {
      const from = Date.now();
      const booking = async () => {
        const rows = await database.kysely
          .selectFrom('usage')
          .select('id')
          .where('time', '>', from)
          .where('outcome', '=', 'completed')
          .execute();
        return rows.length;
      };
      await expect.poll(booking, { timeout: 60_000 }).toBeGreaterThan(20);
      for (const port of ports) {
        const ready = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null);
        if (ready !== null)
          expect(await ready.json()).toMatchObject({ status: 'ok', degraded: [] });
      }
    };
    await more(50);

    await startNode(2);
    await addStepOfNextVersion(database);
    await expect.poll(() => front.sendsTo(2), { timeout: 20_000 }).toBe(true);
    await more(50);
    await allBook();
    for (const index of [0, 1]) {
      const node = nodes[index]!;
      node.child.kill('SIGTERM');
      expect(await node.exit).toBe(0);
      expect(node.stderr()).not.toMatch(/"level":(50|60)/);
      expect(node.stderr()).not.toContain('database-away');
      await startNode(index);
      await expect.poll(() => front.sendsTo(index), { timeout: 20_000 }).toBe(true);
      await more(50);
    }
    wanted = false;
    const responses = (await Promise.all(load)).flat();
    for (const { child } of nodes) child.kill('SIGINT');
    for (const { exit } of nodes) expect(await exit).toBe(0);

    const shown = responses.filter(({ left }) => !left);
    expect(shown.filter((response) => !response.completed)).toEqual([]);
    const rows = await database.kysely
      .selectFrom('usage')
      .select(['id', 'outcome', 'cost', 'posting'])
      .execute();
    const rowsById = new Map(rows.map((row) => [row.id, row]));
    expect(rowsById.size).toBe(rows.length);
    expect(
      shown.filter(({ id }) => rowsById.get(id ?? '')?.outcome !== 'completed').map(({ id }) => id),
    ).toEqual([]);
    expect(rows.filter(({ cost, outcome }) => outcome === 'completed' && cost === null)).toEqual(
      [],
    );
    const differences: Difference[] = [];
    await reconcile(database, {}, (difference) => void differences.push(difference));
    expect(differences).toEqual([]);
    // What all rows cost is what the limits have counted, each of them once.
    expect(await sumOf(database, 'select sum(cost) as cost from usage')).toBe(
      await sumOf(
        database,
        `select sum(spent) as spent from spent_totals where meter like '%:balance'`,
      ),
    );
  },
);

/** @returns the gateway's program, in a folder of its own @throws Error if the commit is not there */
function checkOutEarlier(folder: string): string {
  const place = join(folder, 'earlier');
  const git = (...parameters: readonly string[]) =>
    execFileSync('git', ['-C', root, ...parameters], { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    git('cat-file', '-e', `${earlier}^{commit}`);
  } catch (cause) {
    const reason = existsSync(join(root, '.git'))
      ? `this clone lacks the commit ${earlier}: run 'git fetch --unshallow'`
      : 'this folder is not a git checkout';
    throw new Error(`the version before cannot be tried: ${reason}`, { cause });
  }
  git('worktree', 'add', '--quiet', '--detach', place, earlier);
  onTestFinished(() => void git('worktree', 'remove', '--force', place));
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  return join(place, 'gateway/src/main.js');
}

/** A step that only adds, under load, so that this version too is the one before for a moment. */
async function addStepOfNextVersion(database: OpenDatabase): Promise<void> {
  await migrate(database, {
    ...createMigrations('postgres'),
    '9999-later': {
      async up(db) {
        await sql`alter table usage add column later text`.execute(db);
        await sql`alter table usage_hourly add column later integer not null default 0`.execute(db);
        await sql`create table later (id text primary key)`.execute(db);
      },
    },
  });
}

async function sumOf({ kysely }: OpenDatabase, statement: string): Promise<bigint | undefined> {
  const { rows } = await sql.raw<Record<string, bigint>>(statement).execute(kysely);
  return Object.values(rows[0] ?? {})[0];
}

function configuration(simulator: string): string {
  return `
channels:
  - name: sim
    provider: simulator
    base_url: ${simulator}
    protocols: [chat, responses, messages, generate-content]
    models: [demo-chat]
models:
  - { id: demo-chat, type: chat, max_output_tokens: 1000, price: { input: 10, output: 20 } }
users:
  - { email: alone@example.com, balance: 1000, quota: 900 }
  - { email: member@example.com }
  - { email: administrator@example.com, role: admin }
teams:
  - name: pairs
    time_zone: ${noonZone}
    balance: 1000
    budget: { daily: 500, monthly: 600, total: 700 }
    members: [{ user: member@example.com, role: member, budget: 400 }]
keys:
  - { name: alone, user: alone@example.com, secret: ${key('alone')}, quota: 800, rpm: 100000 }
  - { name: member, user: member@example.com, team: pairs, secret: ${key('member')}, max_concurrency: 1000 }
`;
}
