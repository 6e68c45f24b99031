import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { openVideoUpstream, videoConfig } from '../support/video-upstream.ts';
import { lookAt, submitted, synthesis } from '../behaviour/video-requests.ts';
import { secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

interface Page {
  readonly counts: { readonly open: number; readonly ended: number; readonly lost: number };
  readonly data: readonly { readonly id: string; readonly user: string }[];
  readonly next: string | null;
}

const upstream = await openVideoUpstream();
let gateway: TestGateway;
const people = new Map<string, Person>();
/** In the order of their submits. */
const ids: string[] = [];

beforeAll(async () => {
  gateway = await startWithPeople({
    config: videoConfig(
      upstream.url,
      `
users:
  - { email: admin@example.com, role: admin, balance: 100 }
  - { email: member@example.com, balance: 100 }
  - { email: owner@example.com }
  - { email: viewer@example.com, role: viewer }
teams:
  - { name: crew, balance: 100, members: [{ user: owner@example.com, role: owner }, { user: admin@example.com }] }
keys:
  - { name: admins, user: admin@example.com, team: crew, secret: ${secrets.admin} }
  - { name: members, user: member@example.com, secret: ${secrets.member} }
`,
    ),
  });
  for (const who of ['admin', 'member', 'owner', 'viewer']) {
    people.set(who, await signInAs(gateway, who));
  }
  const submit = async (key: string) => {
    const { id } = await submitted(
      gateway.url,
      synthesis,
      { resolution: '720P', seconds: 5 },
      { key },
    );
    ids.push(id);
    return id;
  };
  const ended = await submit(secrets.member);
  upstream.end({ status: 'succeeded', usage: 5 });
  for (let state: unknown; state !== synthesis.states.succeeded;) {
    const { json } = await lookAt(gateway.url, synthesis, ended, { key: secrets.member });
    state = synthesis.stateOf(json);
    await wait(100);
  }
  await submit(secrets.admin);
  await submit(secrets.member);
  await gateway.usage();
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const read = async (who: string, path: string): Promise<{ status: number; body: unknown }> => {
  const response = await people.get(who)!.get(path);
  return { status: response.status, body: await response.json() };
};
const list = async (who: string, query = '') => (await read(who, `/tasks${query}`)).body as Page;

test('everybody sees the tasks of whom they see the requests', async () => {
  const [ended, crews, open] = ids;
  const seen = async (who: string) => (await list(who)).data.map(({ id }) => id);
  expect(await seen('admin')).toEqual([open, crews, ended]);
  expect(await seen('viewer')).toEqual([open, crews, ended]);
  expect(await seen('member')).toEqual([open, ended]);
  expect(await seen('owner')).toEqual([crews]);
  expect((await read('owner', `/tasks/${open}`)).status).toBe(404);
  expect((await read('owner', `/tasks/${crews}`)).status).toBe(200);
});

test('tasks are counted by their kinds, filtered, and go from page to page', async () => {
  const [ended, crews, open] = ids;
  const all = await list('admin');
  expect(all.counts).toEqual({ open: 2, ended: 1, lost: 0 });
  expect((await list('admin', '?kind=open')).data.map(({ id }) => id)).toEqual([open, crews]);
  expect((await list('admin', '?kind=ended')).data.map(({ id }) => id)).toEqual([ended]);
  expect((await list('admin', '?kind=lost')).data).toEqual([]);
  const mine = await list('admin', '?user=member@example.com');
  expect(mine.counts).toEqual({ open: 1, ended: 1, lost: 0 });
  expect((await list('admin', '?model=nothing')).counts.open).toBe(0);
  const found: unknown[] = [];
  for (let cursor = ''; ;) {
    const page = await list('admin', `?limit=1${cursor}`);
    found.push(...page.data);
    if (page.next === null) break;
    cursor = `&cursor=${page.next}`;
  }
  expect(found).toEqual(all.data);
});

test('a task has its hold, its price and its course; the vendor’s id is for operators', async () => {
  const [ended, , open] = ids;
  expect((await read('admin', `/tasks/${open}`)).body).toMatchObject({
    state: expect.stringMatching(/queued|running/),
    user: 'member@example.com',
    key: 'members',
    payer: 'user',
    held: '0.5',
    cost: null,
    price: { price: '0.1' },
    demand: { resolution: '720P', seconds: 5, with_video: false },
    attempts: [{ result: 'completed' }],
    upstream_id: expect.any(String),
    ended: null,
  });
  const { body } = await read('member', `/tasks/${ended}`);
  expect(body).toMatchObject({
    state: 'succeeded',
    held: null,
    cost: '0.5',
    quantity: 5_000,
    upstream_id: null,
    failure: null,
  });
  const { request } = body as { readonly request: string };
  expect((await read('member', `/usage/${request}`)).body).toMatchObject({ cost: '0.5' });
});
