import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReconciler, lastReconciliation, Refusal } from '#administration/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import {
  createTestDatabase,
  dialects,
  isSkipped,
  type TestDatabase,
} from '../database/databases.ts';
import { ask, password, secrets, startWithPeople } from './people.ts';
import { signIn, type Person } from './person.ts';

interface Books {
  readonly people: { readonly accounts: number; readonly balance: string };
  readonly revenue: string;
  readonly funding: { readonly entries: number; readonly amount: string };
  readonly total: string;
  readonly data: readonly { readonly name: string; readonly balance: string }[];
  readonly next: string | null;
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
    admin = await signIn(gateway.url, 'admin@example.com', password);
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

  test('a comparison finds nothing, and then what was changed behind the books', async () => {
    expect(await reconciled()).toMatchObject({
      by: 'admin@example.com',
      checked: { rows: 1, transactions: expect.any(Number), accounts: expect.any(Number) },
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
