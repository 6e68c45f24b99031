import { z } from 'zod';
import { defineRoute } from './route.ts';
import { count, money, nothing, searchText, text, time } from './values.ts';

const account = z.object({
  kind: z.enum(['user', 'team']),
  id: z.string(),
  /** The e-mail address of the person, or the name of the team. */
  name: z.string(),
  credited: money,
  spent: money,
  balance: money,
});

const holders = z.object({ accounts: z.int(), balance: money });
const entries = z.object({ entries: z.int(), amount: money });

export const readBooks = defineRoute({
  method: 'GET',
  path: '/books',
  summary:
    'The sums of all accounts, and the accounts of people and teams, the highest balance first',
  permission: 'users.read',
  parameters: nothing,
  query: z.strictObject({
    q: searchText,
    limit: count(1, 200).optional(),
    cursor: text(400).optional(),
  }),
  body: nothing,
  response: z.object({
    /** What people and teams have together. */
    balances: money,
    people: holders,
    teams: holders,
    /** What requests have cost. */
    revenue: money,
    /** Money that came in; negative, as the other side of credits. */
    funding: entries,
    /** Money that was given or taken back to correct a mistake; negative where it was given. */
    operator_loss: entries,
    /** All accounts together: 0, as every entry has its other side. */
    total: money,
    data: z.array(account),
    next: z.string().nullable(),
  }),
  example: {
    balances: '59.9999556',
    people: { accounts: 1, balance: '59.9999556' },
    teams: { accounts: 0, balance: '0' },
    revenue: '0.0000444',
    funding: { entries: 1, amount: '-60' },
    operator_loss: { entries: 0, amount: '0' },
    total: '0',
    data: [
      {
        kind: 'user',
        id: 'usr_1f',
        name: 'admin@localhost',
        credited: '60',
        spent: '0.0000444',
        balance: '59.9999556',
      },
    ],
    next: null,
  },
});

const difference = z.object({
  /** What was compared, such as `receipt`. */
  check: z.string(),
  /** Of a request, a transaction, an account or another object. */
  subject: z.string(),
  /** By the requests. Amounts are in 10⁻⁹ USD. */
  expected: z.string(),
  /** In the books. */
  found: z.string(),
});

const reconciliation = z.object({
  time,
  by: z.string(),
  seconds: z.int(),
  /** How many of each kind were compared. */
  checked: z.record(z.string(), z.int()),
  differences: z.int(),
  /** The first fifty of them. */
  first: z.array(difference).readonly(),
  /** Requests that were charged without a lease, by which limits may be exceeded. */
  late: z.object({ rows: z.int(), usd: money }),
  /** Why it did not come to its end; null: it did. */
  failure: z.string().nullable(),
});

const response = z.object({
  /** The one that is under way on this node; null: none is. */
  running: z.object({ since: time, by: z.string(), differences: z.int() }).nullable(),
  /** The last one that was begun here, on any node; null: none was. */
  last: reconciliation.nullable(),
});

const example: z.input<typeof response> = {
  running: null,
  last: {
    time: '2026-11-25T04:00:41.000Z',
    by: 'admin@localhost',
    seconds: 41,
    checked: { rows: 96_444, transactions: 11_820, accounts: 46 },
    differences: 1,
    first: [
      {
        check: 'meter',
        subject: 'team:team_4c:monthly:2026-11',
        expected: '50000000000',
        found: '50020000000',
      },
    ],
    late: { rows: 0, usd: '0' },
    failure: null,
  },
};

export const readReconciliation = defineRoute({
  method: 'GET',
  path: '/reconcile',
  summary: 'What the last comparison of the books with the requests came to',
  permission: 'users.read',
  parameters: nothing,
  query: nothing,
  body: nothing,
  response,
  example,
});

export const startReconciliation = defineRoute({
  method: 'POST',
  path: '/reconcile',
  summary: 'Compares the books with the requests, one comparison at a time; it changes nothing',
  status: 202,
  permission: 'credits.write',
  parameters: nothing,
  query: nothing,
  body: nothing,
  response,
  example,
});
