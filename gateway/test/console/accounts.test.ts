import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '#administration/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, config, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* The accounts of people and teams: what they were credited and charged. */

let gateway: TestGateway;
let billing: Person;
beforeAll(async () => {
  const more = `
teams: [{ name: red, balance: 5 }]
`;
  gateway = await startWithPeople({
    config:
      config.replace('users:', 'users:\n  - { email: billing@example.com, role: billing }') +
      more.slice(1),
  });
  billing = await signInAs(gateway, 'billing');
});
afterAll(() => gateway.close());

interface Entries {
  readonly balance: string;
  readonly data: readonly {
    readonly kind: string;
    readonly amount: string;
    readonly balance: string | null;
    readonly actor: string | null;
    readonly reason: string | null;
  }[];
  readonly next: string | null;
}

const entries = async (account: string, query = '') =>
  readEntries(await billing.get(`/accounts/${account}/entries${query}`));

async function readEntries(response: Response): Promise<Entries> {
  expect([response.status, await response.clone().text()]).toEqual([200, expect.any(String)]);
  return (await response.json()) as Entries;
}

async function credit(account: string, body: object, name?: string, by = billing) {
  const headers = name === undefined ? {} : { 'idempotency-key': name };
  const response = await by.send('POST', `/accounts/${account}/credits`, body, headers);
  const answer = (await response.json()) as {
    readonly balance: string;
    readonly repeated: boolean;
    readonly error: {
      readonly code: string;
      readonly fields?: readonly { readonly path: string }[];
    };
  };
  return { status: response.status, ...answer };
}

test('a credit is booked once, exactly, with who made it and why', async () => {
  const demo = { amount: '25.000000001', reason: ' conference demo ' };
  const first = await credit('user/member@example.com', demo, 'demo');
  expect(first).toMatchObject({ status: 201, balance: '125.000000001', repeated: false });
  const second = await credit('user/member@example.com', demo, 'demo');
  expect(second).toMatchObject({ status: 201, balance: '125.000000001', repeated: true });
  for (const change of [{ amount: '26' }, { reason: 'another demo' }]) {
    const other = await credit('user/member@example.com', { ...demo, ...change }, 'demo');
    expect([change, other.status, other.error.code]).toEqual([change, 409, 'idempotency_conflict']);
  }
  // The same word of another person.
  const admin = await signInAs(gateway, 'admin');
  const theirs = await credit(
    'user/member@example.com',
    { amount: '-0.000000001', reason: 'rounding' },
    'demo',
    admin,
  );
  expect(theirs).toMatchObject({ status: 201, balance: '125', repeated: false });
  expect((await entries('user/member@example.com')).data).toMatchObject([
    {
      kind: 'correction',
      amount: '-0.000000001',
      balance: '125',
      actor: 'admin@example.com',
      reason: 'rounding',
    },
    {
      kind: 'top-up',
      amount: '25.000000001',
      balance: '125.000000001',
      actor: 'billing@example.com',
      reason: 'conference demo',
    },
    { kind: 'opening', amount: '100', balance: '100', reason: null },
  ]);
  const lines = await listAudit(gateway.app.database.kysely, { action: 'user.credit', limit: 9 });
  // What was sent again changed nothing.
  expect(lines).toHaveLength(2);
  const [, line] = lines;
  expect(line).toMatchObject({
    actor: { name: 'billing@example.com' },
    reason: 'conference demo',
  });
});

test.each([
  ['user/member@example.com', { amount: '0', reason: 'x' }, 400, 'amount'],
  ['user/member@example.com', { amount: '1e3', reason: 'x' }, 400, 'amount'],
  ['user/member@example.com', { amount: '0.0000000001', reason: 'x' }, 400, 'amount'],
  ['user/member@example.com', { amount: 5, reason: 'x' }, 400, 'amount'],
  ['user/member@example.com', { amount: '5', reason: '  ' }, 400, 'reason'],
  ['user/member@example.com', { amount: '1000000001', reason: 'x' }, 400, 'amount'],
  ['user/nobody', { amount: '5', reason: 'x' }, 404, undefined],
  ['group/default', { amount: '5', reason: 'x' }, 404, undefined],
])('to %s of %j is refused', async (account, body, status, path) => {
  const refused = await credit(account, body, 'refused');
  expect([refused.status, refused.error.fields?.[0]?.path]).toEqual([status, path]);
});

test('a credit without a name is refused, since a lost response would double it', async () => {
  const refused = await credit('team/red', { amount: '5', reason: 'x' });
  expect([refused.status, refused.error.fields?.[0]?.path]).toEqual([400, 'idempotency-key']);
  expect((await entries('team/red')).balance).toBe('5');
});

test('entries come in pages, newest first, each with what the account had after it', async () => {
  for (let at = 1; at <= 4; at += 1) {
    await ask(gateway, secrets.admin);
    await gateway.usage();
    await credit(
      'user/admin@example.com',
      { amount: `${at}`, reason: `credit ${at}` },
      `page-${at}`,
    );
  }
  const all = await entries('user/admin@example.com', '?limit=200');
  expect(all.data.length).toBeGreaterThanOrEqual(9);
  expect(all.data[0]?.balance).toBe(all.balance);
  const nano = (text: string | null) => Math.round(Number(text) * 1e9);
  for (const [at, { amount, balance }] of all.data.entries()) {
    const before = all.data[at + 1]?.balance ?? '0';
    expect([at, nano(balance)]).toEqual([at, nano(before) + nano(amount)]);
  }
  const paged: Entries['data'][number][] = [];
  let next: string | null = '';
  while (next !== null) {
    const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page = await entries('user/admin@example.com', `?limit=2${cursor}`);
    paged.push(...page.data);
    next = page.next;
  }
  expect(paged).toEqual(all.data);
  const credits = await entries('user/admin@example.com', '?credits=only');
  expect(credits.data.map(({ amount, balance }) => [amount, balance])).toEqual(
    ['4', '3', '2', '1', '100'].map((amount) => [amount, null]),
  );
  expect((await billing.get('/accounts/team/red/entries?cursor=nothing')).status).toBe(400);
});
