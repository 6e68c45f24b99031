import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, config, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';
import { idsOf, watchLive } from './watching.ts';

const teamSecret = 'sk-team-0123456789abcdefghijklmnopqrstuv';

let gateway: TestGateway;
let admin: Person;
let member: Person;

beforeAll(async () => {
  gateway = await startWithPeople({
    config: `${config}  - { name: teams, user: admin@example.com, team: red, secret: ${teamSecret} }
teams:
  - name: red
    balance: 100
    members: [{ user: member@example.com, role: owner }, { user: admin@example.com }]
`,
  });
  admin = await signInAs(gateway, 'admin');
  member = await signInAs(gateway, 'member');
});
afterAll(() => gateway.close());

const watch = (person: Person, query?: string, headers?: Record<string, string>) =>
  watchLive(gateway.url, person, query, headers);

test('a request is reported when it starts, and with its row when it ends', async () => {
  const live = await watch(admin);
  expect(live.response.headers.get('content-type')).toBe('text/event-stream');
  const id = await ask(gateway, secrets.member);
  await live.has(id);
  const row = (await gateway.usage()).find((each) => each.id === id);
  const finished = live.events.find(({ event }) => event === 'finished');
  const listed = await (await admin.get(`/usage/${id}`)).json();
  const { data } = finished ?? {};
  expect(listed).toMatchObject(data as object);
  expect(data?.cost).toBe(row?.cost);
  expect(idsOf(live.events, 'started')).toEqual([id]);
  expect(JSON.stringify(live.events)).not.toMatch(/ProbeClient|user_agent|receipt/);
  live.close();
});

test('people hear of their own requests only, and of those that their filter leaves', async () => {
  const own = await watch(member);
  const refused = await watch(admin, '?status=4xx');
  const named = await watch(admin, '?key=mem*&model=demo-chat');
  const ofAdmin = await ask(gateway, secrets.admin);
  const unknown = await ask(gateway, secrets.admin, 'nothing-like-it');
  const ofMember = await ask(gateway, secrets.member);
  await own.has(ofMember);
  await named.has(ofMember);
  await refused.has(unknown);
  expect(idsOf(own.events)).toEqual([ofMember]);
  expect(idsOf(own.events, 'started')).toEqual([ofMember]);
  expect(idsOf(named.events)).toEqual([ofMember]);
  expect(idsOf(refused.events)).toEqual([unknown]);
  // It ran there for as long as its status was unknown.
  expect(idsOf(refused.events, 'ended')).toContain(ofMember);
  for (const id of [ofAdmin, unknown]) expect(JSON.stringify(own.events)).not.toContain(id);
  for (const live of [own, refused, named]) live.close();
});

test('the owner of a team hears of its requests, whoever sends them', async () => {
  const owner = await watch(member);
  const other = await ask(gateway, secrets.admin);
  const ofTeam = await ask(gateway, teamSecret);
  await owner.has(ofTeam);
  expect(idsOf(owner.events)).toEqual([ofTeam]);
  expect(JSON.stringify(owner.events)).not.toContain(other);
  owner.close();
});

test('after a lost connection comes what was missed', async () => {
  const live = await watch(admin);
  const first = await ask(gateway, secrets.member);
  await live.has(first);
  const id = live.events.find(({ event, data }) => event === 'finished' && data.id === first)?.id;
  live.close();
  await live.ended;
  // More than a turn has room for.
  const missed: string[] = [];
  for (let count = 0; count < 30; count += 1) missed.push(await ask(gateway, secrets.admin));
  await gateway.usage();
  const again = await watch(admin, '', { 'last-event-id': id ?? '' });
  await again.has(missed.at(-1) ?? '');
  expect(idsOf(again.events)).toEqual(missed);
  expect(again.events.filter(({ event }) => event === 'dropped')).toEqual([]);
  again.close();
});

test('a connection that is lost before anything has ended misses nothing either', async () => {
  const live = await watch(admin);
  await expect.poll(() => live.events.at(0)?.id).toMatch(/^\d+-\d+-\d+$/);
  live.close();
  await live.ended;
  const missed = await ask(gateway, secrets.admin);
  await gateway.usage();
  const again = await watch(admin, '', { 'last-event-id': live.events[0]?.id ?? '' });
  await again.has(missed);
  again.close();
});

test('more requests than can be shown are counted, and none of them waits', async () => {
  const live = await watch(admin);
  const sent = await Promise.all(Array.from({ length: 60 }, () => ask(gateway, secrets.admin)));
  const told = () =>
    live.events.reduce(
      (sum, { event, data }) =>
        sum + (event === 'dropped' ? (data.count ?? 0) : data.id === undefined ? 0 : 1),
      0,
    );
  await expect.poll(told, { timeout: 20_000 }).toBe(2 * sent.length);
  expect(live.events.some(({ event }) => event === 'dropped')).toBe(true);
  live.close();
});

test('a twenty-first watcher is refused, and a session that ends takes its watchers along', async () => {
  const person = await signInAs(gateway, 'viewer');
  const watchers = await Promise.all(Array.from({ length: 20 }, () => watch(person)));
  const one = await watch(person);
  expect(one.response.status).toBe(429);
  expect(one.response.headers.get('retry-after')).toBe('30');
  await person.send('POST', '/auth/logout', {});
  await Promise.all(watchers.map(({ ended }) => ended));
  const next = await watch(admin);
  expect(next.response.status).toBe(200);
  next.close();
});

test('whoever closes the page leaves room at once', async () => {
  const watchers = await Promise.all(Array.from({ length: 20 }, () => watch(admin)));
  for (const { close } of watchers) close();
  await expect
    .poll(async () => {
      const { response, close } = await watch(admin);
      close();
      return response.status;
    })
    .toBe(200);
});

test.each(['?from=2026-01-01T00:00:00Z', '?limit=3', '?status=9xx'])(
  'live%s is refused',
  async (query) => {
    expect((await admin.get(`/usage/live${query}`)).status).toBe(400);
  },
);
