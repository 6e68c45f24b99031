import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AuditLine,
  auditPage,
  listAudit,
  recordAudit,
  removeOldAudit,
} from '#administration/index.ts';
import { createFailedSignIns } from '#console-api/sessions/failed-sign-ins.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { signInAs, startWithPeople } from './people.ts';
import { logIn } from './person.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startWithPeople();
});
afterAll(() => gateway.close());

const lines = () => listAudit(gateway.app.database.kysely, { limit: 100 });

test('sign-ins and what a person does are on record with address and request', async () => {
  const member = await signInAs(gateway, 'member');
  const response = await member.send('POST', '/keys', { name: 'laptop' });
  const { id, key } = (await response.json()) as { readonly id: string; readonly key: string };
  await member.send('POST', `/keys/${id}/revoke`, {});

  const [revoked, created, started] = await lines();
  const actor = { kind: 'person', name: 'member@example.com', address: '127.0.0.1' };
  expect(revoked).toMatchObject({ actor, action: 'key.revoke', object: { id, name: 'laptop' } });
  expect(created).toMatchObject({ actor, action: 'key.create', object: { id, name: 'laptop' } });
  expect(created?.request_id).toBe(response.headers.get('x-request-id'));
  expect(started).toMatchObject({ actor, action: 'session.create' });
  expect(JSON.stringify(await lines())).not.toContain(key);
});

test('a change that cannot be put on record does not happen', async () => {
  const { kysely } = gateway.app.database;
  const member = await signInAs(gateway, 'member');
  await sql`
    create trigger no_record before insert on audit_log
    begin select raise(abort, 'the disk is full'); end`.execute(kysely);
  const refused = await member.send('POST', '/keys', { name: 'unrecorded' });
  await sql`drop trigger no_record`.execute(kysely);
  expect(refused.status).toBeGreaterThanOrEqual(500);
  const names = async () => {
    const { data } = (await (await member.get('/keys')).json()) as { data: { name: string }[] };
    return data.map(({ name }) => name);
  };
  expect(await names()).not.toContain('unrecorded');
  expect((await member.send('POST', '/keys', { name: 'unrecorded' })).status).toBe(201);
  expect(await names()).toContain('unrecorded');
});

test('an export is on record with its filter', async () => {
  const viewer = await signInAs(gateway, 'viewer');
  const response = await viewer.get('/usage/export?format=jsonl&model=demo-chat');
  await response.text();
  const [line] = await lines();
  expect(line).toMatchObject({
    actor: { name: 'viewer@example.com' },
    action: 'usage.export',
    changes: [{ field: 'filter', after: { format: 'jsonl', model: 'demo-chat' } }],
  });
});

interface Page {
  readonly data: readonly { readonly id: number; readonly action: string }[];
  readonly next: string | null;
}

test('the list goes from page to page, and a file has the same lines', async () => {
  const viewer = await signInAs(gateway, 'viewer');
  const read = async (query: string) => (await (await viewer.get(`/audit${query}`)).json()) as Page;
  const all = await read('?limit=200');
  expect(all.next).toBeNull();
  expect(all.data.length).toBeGreaterThan(4);
  const pages: Page[] = [];
  for (let cursor = ''; ; cursor = `&cursor=${pages.at(-1)!.next}`) {
    pages.push(await read(`?limit=2${cursor}`));
    if (pages.at(-1)!.next === null) break;
  }
  expect(pages.flatMap(({ data }) => data)).toEqual(all.data);
  const file = await (await viewer.get('/audit/export?format=jsonl')).text();
  const lines = file.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(all.data);
  const csv = await (await viewer.get('/audit/export?format=csv&action=session.create')).text();
  expect(csv).toMatch(/^id,time,actor_kind,actor,.*\r\n\d+,[^,]+,person,viewer@example.com,/);
  const [exported] = (await read('?limit=1')).data;
  expect(exported).toMatchObject({
    action: 'audit.export',
    object: { name: 'audit.csv' },
    changes: [{ field: 'filter', after: { action: 'session.create' } }],
  });
});

test.each([
  ['actor=member@example.com', (line: AuditLine) => line.actor.name === 'member@example.com'],
  ['actor_kind=file', (line: AuditLine) => line.actor.kind === 'file'],
  ['action=key', (line: AuditLine) => line.object.kind === 'key'],
  ['action=key.create', (line: AuditLine) => line.action === 'key.create'],
  ['actor=MEMBER@', (line: AuditLine) => line.actor.name === 'member@example.com'],
  ['object=members', (line: AuditLine) => line.object.name === 'members'],
  ['object=ECORD', (line: AuditLine) => line.object.name === 'unrecorded'],
  ['object=%25', () => false],
  ['to=2026-01-01T00:00:00Z', (line: AuditLine) => line.time < '2026-01-01'],
])('%s leaves lines of it only', async (query, isMeant) => {
  const viewer = await signInAs(gateway, 'viewer');
  const { data } = (await (await viewer.get(`/audit?limit=200&${query}`)).json()) as {
    readonly data: readonly AuditLine[];
  };
  const every = await lines();
  expect(data).toEqual(every.filter(isMeant));
  expect(data.length).toBeLessThan(every.length);
});

test('failed sign-ins are counted by address, and written as one line', async () => {
  const { database } = gateway.app;
  const failures = createFailedSignIns({ database, kind: 'session', now: () => 1_000 });
  for (let n = 0; n < 3; n += 1) failures.count('192.0.2.1');
  failures.count(null);
  await failures.close();
  const written = (await lines()).filter(({ action }) => action === 'session.refuse');
  expect(written.map(({ object, changes }) => [object.name, changes])).toEqual([
    ['unknown address', [{ field: 'count', before: null, after: 1 }]],
    ['192.0.2.1', [{ field: 'count', before: null, after: 3 }]],
  ]);
});

test.each([
  ['password', 'session', (url: string) => logIn(url, 'member@example.com', 'not the right one')],
  [
    'admin key',
    'admin_key',
    (url: string) =>
      fetch(`${url}/admin/v1/users`, { headers: { authorization: 'Bearer sa-not-the-right-one' } }),
  ],
])('a wrong %s is on record once the gateway has stopped', async (_name, kind, attempt) => {
  const other = await startWithPeople();
  const response = await attempt(other.url);
  expect(response.status).toBe(401);
  const { database } = other.app;
  const found: unknown[] = [];
  const close = database.close.bind(database);
  database.close = async () => {
    found.push(...(await listAudit(database.kysely, { action: `${kind}.refuse`, limit: 10 })));
    await close();
  };
  await other.close();
  expect(found).toMatchObject([{ object: { name: '127.0.0.1' }, changes: [{ after: 1 }] }]);
  expect(JSON.stringify(found)).not.toContain('not-the-right-one');
});

test.each(dialects.filter((dialect) => !isSkipped(dialect)))(
  'on %s a part of a name is looked for in some lines at a time, within the range',
  async (dialect) => {
    const { database, close } = await openTestDatabase(dialect);
    const { kysely } = database;
    // The ids are far apart, as after many lines.
    const idOf = [1, 2, 150_000, 260_000];
    for (const [at, id] of idOf.entries()) {
      await kysely
        .insertInto('audit_log')
        .values({
          id,
          time: at * 1_000,
          actor_kind: 'person',
          actor_id: null,
          actor_name: 'ada',
          address: null,
          action: 'key.create',
          object_kind: 'key',
          object_id: null,
          object_name: at === 1 ? 'rare' : 'laptop',
          changes: '[]',
          reason: null,
          request_id: null,
        })
        .execute();
    }
    const find = async (filter: object) => {
      const found: number[][] = [];
      for (let before: number | null = Infinity; before !== null;) {
        const page = await auditPage(kysely, { limit: 10, ...filter, before });
        found.push(page.data.map(({ id }) => id));
        before = page.next;
      }
      return found;
    };
    expect(await find({ object: 'RAR' })).toEqual([[], [], [2]]);
    expect(await find({ object: 'lap' })).toEqual([[260_000], [150_000], [1]]);
    expect(await find({ object: 'lap', from: 3_000 })).toEqual([[260_000]]);
    expect(await find({ object: 'rare', to: 2_000 })).toEqual([[], [2]]);
    expect(await find({ limit: 1, from: 2_000 })).toEqual([[260_000], [150_000]]);
    expect(await find({ actor: 'nobody', from: 9_000 })).toEqual([[]]);
    await close();
  },
);

test.each(dialects.filter((dialect) => !isSkipped(dialect)))(
  'on %s no line changes, and old ones go',
  async (dialect) => {
    const { database, close } = await openTestDatabase(dialect);
    const { kysely } = database;
    const day = 86_400_000;
    const now = Date.now();
    for (const time of [now - 20 * day, now - 11 * day, now - 9 * day]) {
      await kysely
        .transaction()
        .execute((trx) =>
          recordAudit(
            { trx, now: time },
            { kind: 'command', name: 'test' },
            { action: 'create', subject: { kind: 'key', name: `${time}` }, fields: [] },
          ),
        );
    }
    await expect(
      kysely.updateTable('audit_log').set({ actor_name: 'somebody else' }).execute(),
    ).rejects.toThrow('append-only');
    expect(await removeOldAudit(kysely, now - 10 * day, 1)).toBe(1);
    expect(await removeOldAudit(kysely, now - 10 * day, 10)).toBe(1);
    expect(await removeOldAudit(kysely, now - 10 * day, 10)).toBe(0);
    const left = await listAudit(kysely, { limit: 10 });
    expect(left.map(({ object }) => object.name)).toEqual([`${now - 9 * day}`]);
    await close();
  },
);
