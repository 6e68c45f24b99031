import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';
import { createTestDatabase, isSkipped, type TestDatabase } from '../database/databases.ts';
import { ask, config, secrets, setPassword, setPasswords, signInAs } from './people.ts';
import { idsOf, watchLive } from './watching.ts';

/* Two nodes on one database: what an administrator ends on one has ended on the other. */

describe.skipIf(isSkipped('postgres'))('on another node', () => {
  let database: TestDatabase;
  let nodes: readonly [TestGateway, TestGateway];

  beforeAll(async () => {
    database = await createTestDatabase('postgres');
    const masterKey = `secrets: { master_key: '${randomBytes(32).toString('base64')}' }\n`;
    const console = `
teams: [{ name: red, budget: { daily: 5 }, members: [{ user: member@example.com, budget: 3 }] }]
`;
    const refusing = `  - name: refusing
    provider: simulator
    base_url: SIMULATOR
    api_key: invalid-one
    protocols: [chat]
    models: [demo-reasoning]
`;
    const options = {
      databaseUrl: database.url,
      config: config.replace('users:', `${refusing}users:`) + console.slice(1) + masterKey,
      beatEvery: 100,
    };
    nodes = [await startTestGateway(options), await startTestGateway(options)];
    await setPasswords(nodes[0]);
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    await database.drop();
  });

  interface User {
    readonly id: string;
    readonly revision: number;
  }

  test('a disabled person is out within a second: the session, the live page and the key', async () => {
    const [here, there] = nodes;
    const admin = await signInAs(here, 'admin');
    const make = await admin.send('POST', '/users', { email: 'leaver@example.com', balance: '5' });
    const leaver = (await make.json()) as User;
    await setPassword(here, 'leaver@example.com');
    const made = await admin.send('POST', '/keys', { name: 'leavers', user: 'leaver@example.com' });
    const { key } = (await made.json()) as { readonly key: string };
    const status = async () => {
      const response = await fetch(`${there.url}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await response.body?.cancel();
      return response.status;
    };
    await expect.poll(status).toBe(200);
    const person = await signInAs(there, 'leaver');
    const live = await person.get('/usage/live');
    expect(live.status).toBe(200);
    const ended = live.text().then(() => performance.now());

    const { revision } = (await (await admin.get(`/users/${leaver.id}`)).json()) as User;
    const headers = { 'if-match': `"${revision}"` };
    const change = await admin.send('PATCH', `/users/${leaver.id}`, { enabled: false }, headers);
    const at = performance.now();
    expect(change.status).toBe(200);
    expect((await person.get('/session')).status).toBe(401);
    await expect.poll(status, { interval: 20, timeout: 1_000 }).toBe(401);
    // The second, and the turn of a busy machine.
    expect((await ended) - at).toBeLessThan(1_500);
  });

  test('people, teams and accounts are read, with what requests hold', async () => {
    const [, there] = nodes;
    await ask(there, secrets.admin);
    await there.usage();
    const admin = await signInAs(there, 'admin');
    const read = async (path: string) => {
      const response = await admin.get(path);
      expect([path, response.status]).toEqual([path, 200]);
      return (await response.json()) as {
        readonly data: readonly unknown[];
        readonly limits: readonly unknown[];
      };
    };
    expect((await read('/users?q=ADMIN%40')).data).toMatchObject([
      { keys: 1, sessions: 2, usage: { requests: 1 } },
    ]);
    expect((await read('/teams/red')).limits).toMatchObject([{ name: 'daily', held: '0' }]);
    expect((await read('/accounts/user/admin@example.com/entries')).data).toMatchObject([
      { kind: 'usage' },
      { kind: 'opening', balance: '100' },
    ]);
    const credit = { amount: '1', reason: 'try' };
    const name = { 'idempotency-key': 'try' };
    const booked = await admin.send('POST', '/accounts/team/red/credits', credit, name);
    expect(await booked.json()).toMatchObject({ balance: '1', repeated: false });

    // As a node says what its requests hold.
    const { kysely } = there.app.database;
    const { id } = await kysely.selectFrom('teams').select('id').executeTakeFirstOrThrow();
    const { limits } = await read('/teams/red');
    const { from } = (limits[0] as { readonly window: { readonly from: string } }).window;
    const holds = JSON.stringify({ [`team:${id}:daily:${from.slice(0, 10)}`]: '250000000' });
    const [life] = await kysely.selectFrom('lives').select('id').where('closed', '=', 0).execute();
    await kysely
      .insertInto('lives')
      .columns(['id', 'node', 'number', 'generation', 'seen_at', 'closed', 'age', 'holds'])
      .expression((from) =>
        from
          .selectFrom('lives')
          .select((column) => [
            column.val('life_test').as('id'),
            column.val('node_test').as('node'),
            'number',
            'generation',
            'seen_at',
            'closed',
            'age',
            column.val(holds).as('holds'),
          ])
          .where('id', '=', life?.id ?? ''),
      )
      .execute();
    expect((await read('/teams/red')).limits).toMatchObject([{ name: 'daily', held: '0.25' }]);
  });

  test('a disabled team is out within a second', async () => {
    const [here, there] = nodes;
    const admin = await signInAs(here, 'admin');
    const send = async (path: string, body: object) =>
      (await (await admin.send('POST', path, body)).json()) as User & { readonly key: string };
    const { id, revision } = await send('/teams', { name: 'leaving' });
    const { key } = await send('/keys', {
      name: 'leavings',
      user: 'member@example.com',
      team: 'leaving',
    });
    const status = async () => {
      const response = await fetch(`${there.url}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await response.body?.cancel();
      return response.status;
    };
    await expect.poll(status).toBe(200);
    const headers = { 'if-match': `"${revision}"` };
    const change = await admin.send('PATCH', `/teams/${id}`, { enabled: false }, headers);
    expect(change.status).toBe(200);
    await expect.poll(status, { interval: 20, timeout: 1_000 }).toBe(403);
  });

  test('each node says how it is, and a channel that rests on one of them is named on the other', async () => {
    const [here, there] = nodes;
    const person = await signInAs(here, 'viewer');
    interface Health {
      readonly resting: readonly object[];
      readonly nodes: readonly {
        readonly id: string;
        readonly current: boolean;
        readonly silent_ms: number;
        readonly state: { readonly version: string; readonly degraded: string[] } | null;
      }[];
    }
    const health = async () => (await (await person.get('/health')).json()) as Health;
    const other = async () => (await health()).nodes.find(({ current }) => !current);
    await expect.poll(async () => (await other())?.state).toMatchObject({ under_way: 0 });

    await ask(there, secrets.admin, 'demo-reasoning');
    const resting = [{ channel: 'refusing', nodes: 1, of: 2 }];
    await expect.poll(async () => (await health()).resting).toEqual(resting);

    const { kysely } = here.app.database;
    const state = (await other())?.state;
    const now = { ...state, version: '0.0.1', degraded: [], more: 'unknown here' };
    const addNode = () =>
      kysely
        .insertInto('nodes')
        .values({ id: 'node_third', started_at: 1, seen_at: Date.now(), journal_depth: 0 })
        .execute();
    const setState = (state: string) =>
      kysely.updateTable('nodes').set({ state }).where('id', '=', 'node_third').execute();
    const third = async () => (await health()).nodes.find(({ id }) => id === 'node_third');
    // A node of a version that reports no state, then of others.
    await addNode();
    expect((await third())?.state).toBeNull();
    await setState('{"of another form":1}');
    expect((await third())?.state).toBeNull();
    await setState(JSON.stringify(now));
    expect((await third())?.state).toMatchObject({ version: '0.0.1' });
    const after = (await (await person.get('/overview')).json()) as { attention: object[] };
    expect(after.attention).toContainEqual(
      expect.objectContaining({ kind: 'node_version', versions: ['0.0.1', expect.any(String)] }),
    );
    await kysely.deleteFrom('nodes').where('id', '=', 'node_third').execute();
  });

  describe('a page that watches', () => {
    test('gets what the other node does within a second, and a member their own', async () => {
      const [here, there] = nodes;
      const admin = await signInAs(here, 'admin');
      const member = await signInAs(here, 'member');
      const all = await watchLive(here.url, admin);
      const own = await watchLive(here.url, member);
      const scopes = () => all.events.filter(({ event }) => event === 'scope');
      await expect.poll(() => scopes().at(-1)?.data).toEqual({ all: true });

      const ofAdmin = await ask(there, secrets.admin);
      const at = performance.now();
      await all.has(ofAdmin);
      // The second, and the turn of a busy machine.
      expect(performance.now() - at).toBeLessThan(1_500);
      const ofMember = await ask(there, secrets.member);
      await Promise.all([all.has(ofMember), own.has(ofMember)]);
      expect(idsOf(all.events, 'started')).toEqual([ofAdmin, ofMember]);
      expect(idsOf(own.events)).toEqual([ofMember]);
      const rows = await there.usage();
      const shown = all.events.find(({ data }) => data.id === ofMember && data.cost !== undefined);
      expect(shown?.data.cost).toBe(rows.find(({ id }) => id === ofMember)?.cost);

      // What comes while its connection is lost.
      const last = all.events.findLast(({ id }) => id !== undefined)?.id ?? '';
      all.close();
      await all.ended;
      const missed = await ask(there, secrets.admin);
      await own.has(await ask(there, secrets.member));
      const again = await watchLive(here.url, admin, '', { 'last-event-id': last });
      await again.has(missed);
      expect(idsOf(again.events).filter((id) => id === missed)).toEqual([missed]);
      for (const live of [own, again]) live.close();
    });

    test('keeps nobody busy: without one, no node sends anything', async () => {
      const own = await createTestDatabase('postgres');
      const quiet = await startTestGateway({ databaseUrl: own.url, config });
      const heard: string[] = [];
      const client = new pg.Client({ connectionString: own.url });
      await client.connect();
      client.on('notification', ({ channel }) => heard.push(channel));
      for (const channel of ['sluice_watching', 'sluice_requests']) {
        await client.query(`listen ${channel}`);
      }
      await setPasswords(quiet);
      await ask(quiet, secrets.admin);
      await ask(quiet, secrets.admin, 'nothing-like-it');
      await quiet.usage();
      await client.query('select 1');
      expect(heard).toEqual([]);
      const live = await watchLive(quiet.url, await signInAs(quiet, 'admin'));
      await expect.poll(() => heard).toEqual(['sluice_watching']);
      live.close();
      await client.end();
      await quiet.close();
      await own.drop();
    });
  });

  test('a disabled group refuses its keys within a second', async () => {
    const [here, there] = nodes;
    const admin = await signInAs(here, 'admin');
    const group = await admin.send('POST', '/groups', { name: 'paused' });
    const made = await admin.send('POST', '/keys', { name: 'of-paused', group: 'paused' });
    const { key } = (await made.json()) as { readonly key: string };
    const status = async () => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${there.url}/v1/models`, { headers });
      await response.body?.cancel();
      return response.status;
    };
    await expect.poll(status).toBe(200);
    const headers = { 'if-match': group.headers.get('etag') ?? '' };
    await admin.send('PATCH', '/groups/paused', { enabled: false }, headers);
    await expect.poll(status, { interval: 20, timeout: 1_000 }).toBe(403);
  });
});
