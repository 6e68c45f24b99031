import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { openJournal } from '#journal/index.ts';
import { leaseRules } from '#limits/index.ts';
import { canStartRedis } from '../limits/private-redis.ts';
import { setPassword, signInAs } from '../console/people.ts';
import { idsOf, watchLive } from '../console/watching.ts';
import { isSkipped } from '../database/databases.ts';
import { record } from '../journal/records.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { cannotTrace, failSyncs } from '../support/strace.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { askChat, createWorkplace, secret, workersOf, type Workplace } from './workplace.ts';

const lines = (gateway: GatewayProcess) =>
  gateway
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { msg: string; level: number; detail?: string });

async function usageIds({ databaseUrl }: Workplace): Promise<string[]> {
  const database = openDatabase({ url: databaseUrl });
  try {
    const rows = await database.kysely.selectFrom('usage').select('id').execute();
    return rows.map(({ id }) => id);
  } finally {
    await database.close();
  }
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text();
  const values = text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith('#'));
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const isLinux = process.platform === 'linux';

describe.skipIf(!canStartRedis || isSkipped('postgres') || !isLinux)('workers', () => {
  test(
    'whichever worker gets the next turn knows the items that the client names',
    { timeout: 60_000 },
    async () => {
      const place = await createWorkplace();
      const file = join(place.write({ server: ', workers: 2' }), 'sluice.yaml');
      // Only what is converted is remembered.
      const text = readFileSync(file, 'utf8').replace('[chat, responses, ', '[chat, ');
      writeFileSync(file, text);
      const gateway = place.start();
      const url = await gateway.url;
      const ask = async (input: readonly object[]) => {
        const response = await fetch(`${url}/v1/responses`, {
          method: 'POST',
          // A connection of its own, which may reach either worker.
          headers: {
            authorization: `Bearer ${secret}`,
            'content-type': 'application/json',
            connection: 'close',
          },
          body: JSON.stringify({ model: 'demo-chat', input }),
        });
        const { output = [] } = (await response.json()) as { output?: { id: string }[] };
        return { status: response.status, output };
      };
      const question = { role: 'user', content: 'Hello' };
      for (let turn = 0; turn < 12; turn += 1) {
        const { output } = await ask([question]);
        expect(output.length).toBeGreaterThan(0);
        const named = output.map(({ id }) => ({ type: 'item_reference', id }));
        await expect.poll(async () => (await ask([question, ...named, question])).status).toBe(200);
        const again = await Promise.all(
          Array.from({ length: 6 }, () => ask([question, ...named, question])),
        );
        expect(again.map(({ status }) => status)).toEqual(again.map(() => 200));
      }
    },
  );

  test(
    'whichever worker gets the next turn knows the thoughts that the client does not return',
    { timeout: 60_000 },
    async () => {
      const place = await createWorkplace();
      const file = join(place.write({ server: ', workers: 2' }), 'sluice.yaml');
      const text = readFileSync(file, 'utf8')
        .replace(/protocols: \[.*\]/, 'protocols: [generate-content]')
        .replace('models: [demo-chat,', 'models: [demo-reasoning, demo-chat,');
      writeFileSync(file, text);
      const url = await place.start().url;
      const parameters = { type: 'object', properties: { a: { type: 'string' } } };
      const tools = [{ type: 'function', function: { name: 'f', parameters } }];
      const ask = async (messages: readonly object[]) => {
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          // A connection of its own, which may reach either worker.
          headers: {
            authorization: `Bearer ${secret}`,
            'content-type': 'application/json',
            connection: 'close',
          },
          body: JSON.stringify({ model: 'demo-reasoning', messages, tools }),
        });
        const { choices } = (await response.json()) as {
          choices: { message: { tool_calls?: { id: string; function: object }[] } }[];
        };
        return choices[0]?.message.tool_calls ?? [];
      };
      const question = { role: 'user', content: 'call tools' };
      const [called] = await ask([question]);
      expect(called).toBeDefined();
      // Nothing but what every client returns.
      const bare = { id: called?.id, type: 'function', function: called?.function };
      const history = [
        question,
        { role: 'assistant', content: null, tool_calls: [bare] },
        { role: 'tool', tool_call_id: called?.id, content: 'fine' },
      ];
      const isSigned = async () => {
        await ask(history);
        return String(place.simulator.requests().at(-1)?.body).includes('c2ltdWxhdG9y');
      };
      await expect.poll(isSigned).toBe(true);
      for (let turn = 0; turn < 16; turn += 1) expect(await isSigned()).toBe(true);
    },
  );

  test(
    'several processes on one port: one greeting, one set of metrics, a dead one replaced, one end',
    { timeout: 90_000 },
    async () => {
      const place = await createWorkplace();
      const folder = place.write({ server: ', workers: 2' });
      const gateway = place.start();
      const url = await gateway.url;
      expect(gateway.stdout()).toMatch(/^sluice \S+ listening on \S+\n/);
      expect(workersOf(gateway)).toHaveLength(2);
      expect(readdirSync(join(folder, 'data'))).toEqual(
        expect.arrayContaining(['worker-1', 'worker-2']),
      );

      const responses = await Promise.all(Array.from({ length: 40 }, () => askChat(url)));
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
      // Whichever worker is asked tells of all of them.
      const counted = [];
      for (let turn = 0; turn < 4; turn += 1)
        counted.push(await metric(url, 'sluice_requests_total'));
      expect(counted).toEqual([40, 40, 40, 40]);
      expect(await metric(url, 'sluice_journal_usable')).toBe(1);

      const [victim, other] = workersOf(gateway);
      process.kill(victim!, 'SIGKILL');
      await expect
        .poll(() => workersOf(gateway).filter((pid) => pid !== victim), { timeout: 20_000 })
        .toHaveLength(2);
      expect(workersOf(gateway)).toContain(other);
      await expect.poll(async () => (await askChat(url)).status).toBe(200);
      expect(
        lines(gateway).filter(({ msg }) => msg === 'a worker died; starting its replacement'),
      ).toEqual([expect.objectContaining({ detail: 'worker 1, killed by a signal' })]);

      // The signal goes to the whole process group, as service managers send it; streams still end well.
      const streams = Array.from({ length: 6 }, () =>
        askChat(url, { stream: true, fault: 'events=12;gap=100' }),
      );
      await wait(500);
      for (const pid of [...workersOf(gateway), gateway.child.pid!]) process.kill(pid, 'SIGTERM');
      for (const { text } of await Promise.all(streams)) expect(text).toContain('data: [DONE]');
      expect(await gateway.exit).toBe(0);
      expect(gateway.stdout().match(/listening on/g)).toHaveLength(1);
      expect((await usageIds(place)).length).toBeGreaterThanOrEqual(46);
    },
  );

  test(
    'a killed worker leaves no connection open: neither a stream nor one that it had yet to take',
    { timeout: 60_000 },
    async () => {
      const place = await createWorkplace();
      place.write({ server: ', workers: 2' });
      const gateway = place.start();
      const url = await gateway.url;
      const statusOf = (asked: ReturnType<typeof askChat>) =>
        asked.then(
          ({ status }) => status,
          () => 'cut',
        );
      // Turns are taken, so that each of the two has one stream.
      const streams = [1, 2].map(() =>
        statusOf(askChat(url, { stream: true, fault: 'events=30;gap=100' })),
      );
      await expect.poll(() => metric(url, 'sluice_open_exchanges{kind="stream"')).toBe(2);
      const [victim] = workersOf(gateway);
      process.kill(victim!, 'SIGSTOP');
      const waiting = Array.from({ length: 4 }, () => statusOf(askChat(url)));
      // One of them is handed to the victim, which does not take it.
      let answered = 0;
      for (const each of waiting) void each.then(() => (answered += 1));
      await expect.poll(() => answered).toBe(3);
      process.kill(victim!, 'SIGKILL');
      const countCut = async (asked: readonly Promise<number | string>[]) =>
        (await Promise.all(asked)).filter((status) => status === 'cut').length;
      expect(await countCut(waiting)).toBe(1);
      expect(await countCut(streams)).toBe(1);
    },
  );

  test(
    'one reload reaches every worker at once, and so does the stop',
    { timeout: 60_000 },
    async () => {
      const place = await createWorkplace();
      // Longer than the streams last: what ends them is the second signal.
      const drainTimeout = '60s';
      place.write({ server: ', workers: 2', drainTimeout });
      const gateway = place.start();
      const url = await gateway.url;
      const changed = 'sk-changed-0123456789abcdefghijklmnopqrst';
      place.write({
        server: ', workers: 2',
        drainTimeout,
        more: `users: [{ email: tester@example.com, balance: 100 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${changed} }]`,
      });
      gateway.child.kill('SIGHUP');
      await expect
        .poll(() => lines(gateway).some(({ msg }) => msg === 'reloaded'), { timeout: 10_000 })
        .toBe(true);
      const statuses = await Promise.all(
        [changed, secret].flatMap((key) =>
          Array.from({ length: 6 }, async () => (await askChat(url, { key })).status),
        ),
      );
      expect(statuses).toEqual([...Array<number>(6).fill(200), ...Array<number>(6).fill(401)]);
      // Asked a second time, every worker ends what it has.
      const open = Array.from({ length: 4 }, () =>
        askChat(url, { key: changed, stream: true, fault: 'events=2000;gap=100' }),
      );
      await expect.poll(() => metric(url, 'sluice_open_exchanges{kind="stream"')).toBe(4);
      gateway.child.kill('SIGINT');
      await expect.poll(() => lines(gateway).some(({ msg }) => msg === 'stopping')).toBe(true);
      // Within a second it would be the same signal.
      await wait(1_100);
      gateway.child.kill('SIGINT');
      for (const { text } of await Promise.all(open)) {
        expect(text).toContain('service temporarily unavailable');
      }
      expect(await gateway.exit).toBe(0);
    },
  );

  test(
    'whichever worker gets the next turn serves a payer while the database is unreachable',
    { timeout: 60_000 },
    async () => {
      const place = await createWorkplace();
      const target = new URL(place.databaseUrl);
      const proxy = await startTcpProxy(target.hostname, Number(target.port || 5432));
      target.hostname = '127.0.0.1';
      target.port = String(proxy.port);
      place.write({ server: ', workers: 2', through: target.href });
      const gateway = place.start();
      const url = await gateway.url;
      const ask = async () => (await askChat(url, { model: 'priced' })).status;
      const database = openDatabase({ url: place.databaseUrl });
      onTestFinished(() => database.close());
      const leases = () => database.kysely.selectFrom('leases').selectAll().execute();
      expect(await ask()).toBe(200);
      await expect.poll(async () => (await leases()).length).toBe(2);
      // Each worker has looked the key up, and has what it leased.
      const unserved = () => askChat(url, { model: 'no-such-model' });
      const unknown = await Promise.all(Array.from({ length: 4 }, unserved));
      expect(unknown.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
      proxy.cut();
      const askedAt = performance.now();
      const statuses = await Promise.all(Array.from({ length: 4 }, ask));
      expect(statuses).toEqual([200, 200, 200, 200]);
      // None of them waited for the database, which may only be restarting.
      expect(performance.now() - askedAt).toBeLessThan(leaseRules.restartMs);
      proxy.restore();
      gateway.child.kill('SIGINT');
      expect(await gateway.exit).toBe(0);
      const rows = await database.kysely
        .selectFrom('usage')
        .select('late')
        .where('status', '=', 200)
        .execute();
      expect(rows.map(({ late }) => late)).toEqual(Array(5).fill(null));
    },
  );

  test.skipIf(cannotTrace !== null)(
    `whichever worker is asked names the journal of a sick one ${cannotTrace ?? ''}`,
    { timeout: 60_000 },
    async () => {
      const place = await createWorkplace();
      const data = join(place.write({ server: ', workers: 2' }), 'data');
      const gateway = place.start();
      const url = await gateway.url;
      const ready = async () => {
        const response = await fetch(`${url}/ready`, { headers: { connection: 'close' } });
        const { degraded } = (await response.json()) as { degraded: string[] };
        return { status: response.status, degraded };
      };
      /** As many as there are workers, which take turns, and one more. */
      const readyThrice = async () => [await ready(), await ready(), await ready()];
      const files = ['worker-1', 'worker-2'].flatMap((worker) =>
        ['', '-wal'].map((end) => join(data, worker, `journal.db${end}`)),
      );
      const [pid = 0] = workersOf(gateway);
      const mend = await failSyncs({ pid, threads: 'sluice-journal-', files });
      onTestFinished(mend);
      // A request that is lost with its worker's journal makes it notice.
      const ask = () => Promise.all([askChat(url), askChat(url)]);
      await expect
        .poll(async () => (await ask()) && (await readyThrice()).map(({ status }) => status))
        .toContain(503);
      await expect
        .poll(async () => (await readyThrice()).map(({ degraded }) => degraded))
        .toEqual([['journal'], ['journal'], ['journal']]);
      // The other worker serves.
      expect((await readyThrice()).map(({ status }) => status)).toContain(200);
      await mend();
      const well = { status: 200, degraded: [] };
      await expect.poll(readyThrice).toEqual([well, well, well]);
      gateway.child.kill('SIGINT');
      expect(await gateway.exit).toBe(0);
    },
  );

  test(
    'orphaned journals are adopted: of fewer workers, of none, of a named folder',
    { timeout: 90_000 },
    async () => {
      const place = await createWorkplace();
      const nowhere = 'postgres://nobody@127.0.0.1:1/nothing';
      const leave = async (folder: string, id: string) => {
        const journal = await openJournal({
          dataDir: folder,
          maxSize: 2 ** 30,
          databaseUrl: nowhere,
        });
        await journal.append(record(id, { time: Date.now() }));
        await journal.close(50);
      };
      const dataDir = join(place.write({ server: ', workers: 2' }), 'data');
      await leave(dataDir, 'req_single');
      await leave(join(dataDir, 'worker-2'), 'req_second');
      await leave(join(dataDir, 'worker-5'), 'req_fifth');
      await leave(join(place.folder, 'elsewhere'), 'req_elsewhere');
      const several = place.start('', ['--adopt', './elsewhere']);
      await several.url;
      expect((await usageIds(place)).toSorted()).toEqual([
        'req_elsewhere',
        'req_fifth',
        'req_second',
        'req_single',
      ]);
      several.child.kill('SIGINT');
      expect(await several.exit).toBe(0);

      await leave(join(dataDir, 'worker-1'), 'req_first');
      place.write({});
      const single = place.start('', ['--adopt', './not-there']);
      const url = await single.url;
      await expect
        .poll(async () => (await usageIds(place)).includes('req_first'), { timeout: 10_000 })
        .toBe(true);
      await expect
        .poll(async () => (await fetch(`${url}/ready`)).json())
        .toEqual({
          status: 'ok',
          degraded: ['could not adopt the journal in ./not-there'],
          redis: { eviction: 'noeviction', persistence: 'none' },
        });
      single.child.kill('SIGINT');
      expect(await single.exit).toBe(0);
    },
  );

  test('a second gateway on the data folder and a port in use are refused', async () => {
    const place = await createWorkplace();
    place.write({ server: ', workers: 2' });
    const first = place.start();
    const url = await first.url;
    const second = place.start();
    expect(await second.exit).toBe(1);
    expect(second.stderr()).toContain('is in use by another running gateway');

    place.write({ node: 'other', server: `, workers: 2`, more: '' });
    const other = place.start('other', []);
    await other.url;
    place.write({ node: 'third' });
    const file = join(place.folder, 'third', 'sluice.yaml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('port: 0', `port: ${new URL(url).port}, workers: 2`));
    const third = place.start('third');
    expect(await third.exit).toBe(1);
    const { host } = new URL(url);
    expect(third.stderr()).toBe(`sluice: server.port: ${host} is in use by another program\n`);
  }, 60_000);

  test('a page shows the requests and the states of all workers', { timeout: 60_000 }, async () => {
    const place = await createWorkplace();
    place.write({ server: ', workers: 2' });
    const url = await place.start().url;
    const database = openDatabase({ url: place.databaseUrl });
    onTestFinished(() => database.close());
    await setPassword({ app: { database } }, 'administrator@example.com');
    const admin = await signInAs({ url }, 'administrator');
    const live = await watchLive(url, admin);
    onTestFinished(live.close);
    await expect.poll(() => live.events.at(-1)?.data).toEqual({ all: true });
    // Each reaches the next worker.
    const responses = await Promise.all(Array.from({ length: 6 }, () => askChat(url)));
    const ids = responses.map(({ id }) => id);
    await expect.poll(() => new Set(idsOf(live.events))).toEqual(new Set(ids));
    const workers = async () => {
      const { nodes } = (await (await admin.get('/health')).json()) as {
        nodes: { state: { worker: { of: string; number: number } } | null }[];
      };
      return new Set(nodes.map(({ state }) => state?.worker.number));
    };
    await expect.poll(workers).toEqual(new Set([1, 2]));
  });
});
