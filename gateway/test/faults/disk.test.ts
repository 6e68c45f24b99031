import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { balances, reconcile, type Difference } from '#ledger/index.ts';
import { until } from '../behaviour/support.ts';
import { scrape, valueOf } from '../observability/support.ts';
import { startGatewayPlace, type GatewayPlaceOptions } from '../support/gateway-place.ts';
import { cannotTrace, failSyncs } from '../support/strace.ts';
import { runClients } from './load.ts';
import { allRows, reconcileLogs, type ClientLog } from './reconcile.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const secretOf = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;

const balance = 1_000;
const config = `
groups: [{ name: guests, price_multiplier: 0 }]
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    groups: [default, guests]
    protocols: [chat, responses, messages, generate-content]
    models: [demo-chat, { name: free, upstream: demo-chat }]
models:
  - { id: demo-chat, type: chat, price: { input: 1, output: 2 } }
  - { id: free, type: chat, price: { input: 0, output: 0 } }
users: [{ email: tester@example.com, balance: ${balance} }]
keys:
  - { name: test, user: tester@example.com, secret: ${secretOf('test')} }
  - { name: guest, user: tester@example.com, group: guests, secret: ${secretOf('guest')} }
`;

/** A gateway in its own process, with clients that send requests until they are stopped. */
async function startUnderLoad(folder: string, options: Partial<GatewayPlaceOptions> = {}) {
  const place = await startGatewayPlace({ config, folder, ...options });
  let wanted = true;
  const clients = runClients(
    {
      url: place.url,
      key: secretOf('test'),
      random,
      onCompleted: () => {},
      faults: ['', 'gap=3', 'delay=60'],
      leaving: 0.05,
      wanted: () => wanted,
    },
    6,
  );
  const { url } = place;
  let asked = 0;
  const own: ClientLog[] = [];
  return {
    ...place,
    usable: async () => valueOf(await scrape(url), 'sluice_journal_usable'),
    lost: async () => valueOf(await scrape(url), 'sluice_usage_records_lost_total'),
    /** A chat, to its end. */
    async chat(model: string, key = 'test', fault = '', stream = false): Promise<ClientLog> {
      const mark = `own-${(asked += 1)}`;
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secretOf(key)}`,
          'content-type': 'application/json',
          'x-simulator-fault': fault,
        },
        body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: `${mark}.` }] }),
      });
      const text = await response.text();
      const completed = stream ? text.includes('data: [DONE]\n\n') : response.status === 200;
      const id = response.headers.get('x-request-id');
      const log = { mark, id, status: response.status, completed, left: false };
      own.push(log);
      return log;
    },
    statusOf: async (path: string) =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${secretOf('test')}` } }))
        .status,
    async stopAsking(): Promise<ClientLog[]> {
      wanted = false;
      return [...(await clients), ...own];
    },
  };
}
type UnderLoad = Awaited<ReturnType<typeof startUnderLoad>>;

/** Checks what is refused and what continues while the journal accepts nothing, and the state afterwards. */
async function liveThrough(
  gateway: UnderLoad,
  breakDisk: () => void | Promise<void>,
  mendDisk: () => void | Promise<void>,
): Promise<void> {
  const { chat, usable, statusOf, simulator } = gateway;
  expect((await chat('demo-chat')).status).toBe(200);
  // Begins before and ends afterwards.
  const slow = 'gap=300;events=25';
  const running = chat('demo-chat', 'test', slow, true);
  await until(() => simulator.requests().some(({ fault }) => fault === slow), 'it runs');

  await breakDisk();
  await expect.poll(usable, { timeout: 10_000 }).toBe(0);
  expect((await chat('demo-chat')).status).toBe(503);
  expect((await chat('demo-chat', 'test', '', true)).status).toBe(503);
  expect((await chat('free')).completed).toBe(true);
  expect((await chat('free', 'test', '', true)).completed).toBe(true);
  expect((await chat('demo-chat', 'guest')).completed).toBe(true);
  for (const path of ['/v1/models', '/v1/usage', '/metrics']) {
    expect([path, await statusOf(path)]).toEqual([path, 200]);
  }
  for (const path of ['/health', '/ready']) expect(await statusOf(path)).toBe(503);
  await mendDisk();
  await expect.poll(usable, { timeout: 10_000 }).toBe(1);
  expect((await chat('demo-chat')).completed).toBe(true);
  expect((await running).completed).toBe(true);
}

/** Nothing lost that a client got whole, nothing twice, and books that say the same as the rows. */
async function assertSameStory(gateway: UnderLoad): Promise<readonly ClientLog[]> {
  const clients = await gateway.stopAsking();
  const lost = await gateway.lost();
  gateway.gateway.child.kill('SIGINT');
  expect(await gateway.gateway.exit).toBe(0);
  const database = openDatabase({ url: gateway.databaseUrl });
  try {
    const rows = await allRows(database);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    const recorded = new Set(rows.map(({ id }) => id));
    const without = clients.filter(({ id }) => id !== null && !recorded.has(id));
    expect(without.filter(({ completed }) => completed)).toEqual([]);
    // A missing row was counted as missing, or is an identical refusal that shares a row.
    const shared = rows.reduce((sum, { count }) => sum + count - 1, 0);
    expect(without).toHaveLength((lost ?? 0) + shared);
    const withRow = clients.filter((client) => !without.includes(client));
    expect(reconcileLogs(withRow, rows, gateway.simulator.requests())).toEqual([]);

    const { id: user } = await database.kysely
      .selectFrom('users')
      .select('id')
      .where('email', '=', 'tester@example.com')
      .executeTakeFirstOrThrow();
    const costs = await database.kysely.selectFrom('usage').select('cost').execute();
    const spent = costs.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
    expect(spent).toBeGreaterThan(0n);
    const account = `user:${user}` as const;
    const left = await balances(database.kysely, [account]);
    expect(left.get(account)).toBe(BigInt(balance) * 10n ** 9n - spent);
    const differences: Difference[] = [];
    await reconcile(database, {}, (difference) => void differences.push(difference));
    expect(differences).toEqual([]);
  } finally {
    await database.close();
  }
  return clients;
}

const journalOf = (folder: string) =>
  ['journal.db', 'journal.db-wal'].map((file) => join(folder, 'data', file));

const newFolder = () => mkdtempSync(join(tmpdir(), 'sluice-disk-'));

test.skipIf(cannotTrace !== null)(
  `R-31 two syncs fail with EIO: unacknowledged records are written again, and nobody notices ${cannotTrace ?? ''}`,
  { timeout: 60_000 },
  async () => {
    const folder = newFolder();
    const gateway = await startUnderLoad(folder);
    const { pid = 0 } = gateway.gateway.child;
    const mend = await failSyncs({
      pid,
      threads: 'sluice-journal-',
      files: journalOf(folder),
      when: '1..2',
    });
    onTestFinished(mend);
    await expect
      .poll(() => gateway.gateway.stderr(), { timeout: 10_000 })
      .toContain('write-failed');
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => gateway.chat('demo-chat')),
    );
    expect(responses.filter(({ completed }) => !completed)).toEqual([]);
    await mend();
    expect(await gateway.lost()).toBe(0);
    const clients = await assertSameStory(gateway);
    expect(clients.filter(({ completed, left }) => !completed && !left)).toEqual([]);
  },
);

test.skipIf(cannotTrace !== null)(
  `R-31 every sync fails with EIO: billable requests are refused, the rest continues, nothing is lost or doubled ${cannotTrace ?? ''}`,
  { timeout: 60_000 },
  async () => {
    const folder = newFolder();
    const gateway = await startUnderLoad(folder);
    const { pid = 0 } = gateway.gateway.child;
    let mend = async (): Promise<void> => {};
    onTestFinished(() => mend());
    await liveThrough(
      gateway,
      async () =>
        void (mend = await failSyncs({
          pid,
          threads: 'sluice-journal-',
          files: journalOf(folder),
        })),
      () => mend(),
    );
    await assertSameStory(gateway);
  },
);

const mounted = mkdtempSync(join(tmpdir(), 'sluice-tmpfs-'));
const trial = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'sluice', mounted], {
  encoding: 'utf8',
});
/** Why no disk can be made to be full; null where one can. */
const cannotMount = trial.status === 0 ? null : trial.stderr.trim();
afterAll(() => {
  if (cannotMount === null) spawnSync('umount', ['--lazy', mounted]);
  rmSync(mounted, { recursive: true, force: true });
});

test.skipIf(cannotMount !== null)(
  `R-31 a full disk (ENOSPC): no answered request is lost, and everything continues once there is room ${cannotMount ?? ''}`,
  { timeout: 60_000 },
  async () => {
    const gateway = await startUnderLoad(newFolder(), { dataDir: mounted });
    expect((await gateway.chat('demo-chat')).completed).toBe(true);
    const filler = join(mounted, 'filler');
    const { bsize, bavail } = statfsSync(mounted);
    // The gateway writes as well: there may be less room than there was a moment ago.
    expect(() => writeFileSync(filler, Buffer.alloc(bsize * (bavail + 1)))).toThrow('ENOSPC');
    await expect.poll(gateway.lost, { timeout: 15_000 }).toBeGreaterThan(0);
    expect(gateway.gateway.stderr()).toContain('database or disk is full');
    expect((await gateway.chat('free')).completed).toBe(true);
    expect(await gateway.statusOf('/health')).toBe(503);
    rmSync(filler);
    await expect.poll(gateway.usable, { timeout: 10_000 }).toBe(1);
    expect((await gateway.chat('demo-chat')).completed).toBe(true);
    await assertSameStory(gateway);
  },
);
