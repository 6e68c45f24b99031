import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReconciler, lastReconciliation, Refusal } from '#administration/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import {
  createTestDatabase,
  dialects,
  isSkipped,
  type TestDatabase,
} from '../database/databases.ts';
import { ask, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

interface Books {
  readonly people: { readonly accounts: number; readonly balance: string };
  readonly revenue: string;
  readonly funding: { readonly entries: number; readonly amount: string };
  readonly total: string;
  readonly data: readonly { readonly name: string; readonly balance: string }[];
  readonly next: string | null;
}

interface Entry {
  readonly id: string;
  readonly time: string;
  readonly account: { readonly kind: string; readonly id: string; readonly name: string };
  readonly kind: string;
  readonly amount: string;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly requests: { readonly count: number; readonly id: string } | null;
}

interface Reconciliation {
  readonly running: object | null;
  readonly last: {
    readonly by: string;
    readonly checked: Readonly<Record<string, number>>;
    readonly differences: number;
    readonly first: readonly { readonly check: string; readonly subject: string }[];
    readonly failure: string | null;
  } | null;
}

describe.each(dialects.filter((dialect) => !isSkipped(dialect)))('the books on %s', (dialect) => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let admin: Person;
  beforeAll(async () => {
    database = await createTestDatabase(dialect);
    gateway = await startWithPeople({ databaseUrl: database.url });
    admin = await signInAs(gateway, 'admin');
    await ask(gateway, secrets.member);
    await gateway.usage();
  });
  afterAll(async () => {
    await gateway.close();
    await database.drop();
  });

  const books = async (query = '') => (await (await admin.get(`/books${query}`)).json()) as Books;

  async function reconciled() {
    expect((await admin.send('POST', '/reconcile', {})).status).toBe(202);
    let state: Reconciliation;
    do {
      state = (await (await admin.get('/reconcile')).json()) as Reconciliation;
    } while (state.running !== null);
    return state.last;
  }

  test('all accounts together are nothing, and what requests cost is on the accounts', async () => {
    const [row] = await gateway.usage();
    const all = await books();
    expect(all).toMatchObject({
      people: { accounts: 4 },
      revenue: row?.cost,
      funding: { entries: 2, amount: '-200' },
      operator_loss: { entries: 0, amount: '0' },
      total: '0',
    });
    expect(all.data.slice(0, 2).map(({ name }) => name)).toEqual([
      'admin@example.com',
      'member@example.com',
    ]);
    expect(Number(all.data[1]?.balance)).toBe(100 - Number(row?.cost));
  });

  test('accounts go from page to page, and are found by a part of their names', async () => {
    const { data } = await books();
    const found: unknown[] = [];
    for (let cursor = ''; ;) {
      const page = await books(`?limit=1${cursor}`);
      found.push(...page.data);
      if (page.next === null) break;
      cursor = `&cursor=${page.next}`;
    }
    expect(found).toEqual(data);
    expect((await books('?q=MEMBER')).data).toEqual([data[1]]);
    expect((await admin.get('/books?cursor=1_user_x%00')).status).toBe(400);
    expect((await admin.get('/books?cursor=nothing')).status).toBe(400);
  });

  const entries = async (query = '') =>
    (await (await admin.get(`/books/entries${query}`)).json()) as {
      readonly data: readonly Entry[];
      readonly next: string | null;
    };

  test('entries of everybody are listed with what they charged, page by page and as a file', async () => {
    await ask(gateway, secrets.member);
    await ask(gateway, secrets.admin);
    const rows = await gateway.usage(3);
    await admin.send(
      'POST',
      '/accounts/user/member@example.com/credits',
      { amount: '-2.5', reason: '=charged twice' },
      { 'idempotency-key': 'correction' },
    );
    const { data: all } = await entries();
    const kinds = all.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind !== 'usage')).toEqual(['correction', 'opening', 'opening']);
    expect(all[0]).toMatchObject({
      kind: 'correction',
      account: { kind: 'user', name: 'member@example.com' },
      amount: '-2.5',
      actor: 'admin@example.com',
      requests: null,
    });
    const charges = all.filter(({ kind }) => kind === 'usage');
    const count = charges.reduce((sum, { requests }) => sum + (requests?.count ?? 0), 0);
    expect(count).toBe(3);
    expect(rows.map(({ id }) => id)).toEqual(
      expect.arrayContaining(charges.map(({ requests }) => requests?.id)),
    );
    // The requests of an entry are found by its transaction.
    for (const { id, account, requests } of charges) {
      const found = await admin.get(`/usage?filter=transaction:${id}%20user:${account.id}`);
      const { data } = (await found.json()) as { readonly data: readonly object[] };
      expect(data).toHaveLength(requests!.count);
    }
    const pages: Entry[] = [];
    for (let cursor = ''; ;) {
      const { data, next } = await entries(`?limit=1${cursor}`);
      pages.push(...data);
      if (next === null) break;
      cursor = `&cursor=${encodeURIComponent(next)}`;
    }
    expect(pages).toEqual(all);
    const file = await (await admin.get('/books/entries/export?kind=correction')).text();
    const [heading, line] = file.split('\r\n');
    expect(heading).toBe('id,time,account_kind,account_id,account,kind,amount,actor,reason');
    expect(line).toMatch(
      /,member@example\.com,correction,-2\.5,admin@example\.com,'=charged twice$/,
    );
  });

  test.each<[query: string, isMeant: (entry: Entry) => boolean]>([
    ['account=member@example.com', ({ account }) => account.name === 'member@example.com'],
    ['account=nobody@example.com', () => false],
    ['account=EMBER@exa', ({ account }) => account.name === 'member@example.com'],
    ['account=example', () => true],
    ['account=example&kind=usage', ({ kind }) => kind === 'usage'],
    ['kind=usage', ({ kind }) => kind === 'usage'],
    ['kind=opening', ({ kind }) => kind === 'opening'],
    ['kind=top-up', () => false],
    ['amount=positive', ({ amount }) => !amount.startsWith('-')],
    ['amount=negative', ({ amount }) => amount.startsWith('-')],
    ['q=TWICE', ({ reason }) => reason === '=charged twice'],
    ['q=admin@', ({ actor }) => actor === 'admin@example.com'],
    ['to=2026-01-01T00:00:00Z', ({ time }) => time < '2026-01-01'],
    ['from=1900-01-01T00:00:00Z', () => true],
    [
      'account=member@example.com&kind=usage',
      ({ account, kind }) => kind === 'usage' && account.name === 'member@example.com',
    ],
  ])('of the entries, %s leaves those of it only', async (query, isMeant) => {
    const { data } = await entries(`?limit=200&${query}`);
    expect(data).toEqual((await entries('?limit=200')).data.filter(isMeant));
  });

  test('of several accounts, entries go from page to page, and too many accounts are refused', async () => {
    const all = (await entries('?limit=200&account=example')).data;
    const { data, next } = await entries('?limit=2&account=example');
    const rest = await entries(`?account=example&cursor=${encodeURIComponent(next ?? '')}`);
    expect([...data, ...rest.data]).toEqual(all);
    const { kysely } = gateway.app.database;
    const user = await kysely.selectFrom('users').selectAll().executeTakeFirstOrThrow();
    const many = Array.from({ length: 50 }, (_, at) => `many-${at}@example.com`);
    const values = many.map((email) => ({ ...user, id: `usr_${email}`, email }));
    await kysely.insertInto('users').values(values).execute();
    try {
      expect((await admin.get('/books/entries?account=many-')).status).toBe(200);
      const refused = await admin.get('/books/entries?account=example');
      const { error } = (await refused.json()) as { readonly error: { readonly fields: unknown } };
      expect([refused.status, error.fields]).toMatchObject([400, [{ path: 'account' }]]);
    } finally {
      await kysely.deleteFrom('users').where('email', 'in', many).execute();
    }
  });

  test.each(['cursor=nothing', 'kind=all', 'amount=1', 'cursor=1,x,y'])(
    'of the entries, %s is refused',
    async (query) => expect((await admin.get(`/books/entries?${query}`)).status).toBe(400),
  );

  test('a comparison finds nothing, and then what was changed behind the books', async () => {
    expect(await reconciled()).toMatchObject({
      by: 'admin@example.com',
      checked: { rows: 3, transactions: expect.any(Number), accounts: expect.any(Number) },
      differences: 0,
      first: [],
      failure: null,
    });
    const { kysely } = gateway.app.database;
    await kysely
      .updateTable('spent_totals')
      .set(({ eb }) => ({ credited: eb('credited', '+', 5_000_000_000n) }))
      .where('meter', 'like', 'user:%:balance')
      .where('credited', '>', 0n)
      .execute();
    const after = await reconciled();
    expect(after).toMatchObject({ differences: 2, failure: null });
    expect(after?.first.map(({ check }) => check)).toEqual(['credit', 'credit']);
    expect((await books()).total).toBe('10');
  });
});

test('one comparison is under way at a time, and one that is stopped says so', async () => {
  const gateway = await startWithPeople();
  const { database } = gateway.app;
  const held = Promise.withResolvers<void>();
  const actor = { kind: 'command', name: 'test' } as const;
  const reconciler = createReconciler({
    database,
    open: () => ({ ...database, close: () => held.promise }),
    now: () => 1_000,
  });
  reconciler.start(actor);
  expect(reconciler.running).toMatchObject({ by: 'test', differences: 0 });
  expect(() => reconciler.start(actor)).toThrow(Refusal);
  held.resolve();
  await reconciler.close();
  expect(reconciler.running).toBeNull();
  expect(await lastReconciliation(database.kysely)).toMatchObject({ by: 'test', failure: null });

  const failing = createReconciler({
    database,
    open: () => ({
      ...database,
      get kysely(): never {
        throw new Error('the database is closed');
      },
      close: () => Promise.resolve(),
    }),
    now: () => 2_000,
  });
  failing.start(actor);
  await failing.close();
  const last = await lastReconciliation(database.kysely);
  expect(last).toMatchObject({ failure: 'the database is closed', differences: 0 });
  await gateway.close();
});
