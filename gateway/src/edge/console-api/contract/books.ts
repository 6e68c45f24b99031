import { z } from 'zod';
import { entryKinds } from '#ledger/index.ts';
import { defineRoute } from './route.ts';
import { count, money, ranged, searchText, text, time } from './values.ts';

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
  query: z.strictObject({
    q: searchText,
    limit: count(1, 200).optional(),
    cursor: text(400).optional(),
  }),
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

const entryFilters = {
  /**
   * The id, the e-mail address or the name of whose account it is: a person, or else a team; or a part of the names of at
   * most fifty.
   */
  account: text(300).optional(),
  kind: z.enum(entryKinds, { error: 'expected opening, top-up, correction or usage' }).optional(),
  /** What accounts got, or what was taken from them. */
  amount: z.enum(['positive', 'negative'], { error: 'expected positive or negative' }).optional(),
  /** What the reason, or the name of who made the entry, contains, in capitals or not. */
  q: searchText,
};

export const listBookEntries = defineRoute({
  method: 'GET',
  path: '/books/entries',
  summary: 'The entries of all people and teams, newest first',
  permission: 'users.read',
  query: ranged({
    ...entryFilters,
    limit: count(1, 200).optional(),
    cursor: text(400).optional(),
  }),
  response: z.object({
    data: z.array(
      z.object({
        /** Of its transaction. */
        id: z.string(),
        time,
        account: z.object({
          kind: z.enum(['user', 'team']),
          id: z.string(),
          /** The e-mail address of the person, or the name of the team. */
          name: z.string(),
        }),
        /** `opening`, `top-up`, `correction` or `usage`. */
        kind: z.string(),
        /** Added to the account, or with a sign taken from it. */
        amount: money,
        /** Who made it; null: the gateway, for usage. */
        actor: z.string().nullable(),
        reason: z.string().nullable(),
        /** What was charged, as far as it is kept: how many requests, the id of one, and when the first and the last began. */
        requests: z.object({ count: z.int(), id: z.string(), from: time, to: time }).nullable(),
      }),
    ),
    next: z.string().nullable(),
  }),
  example: {
    data: [
      {
        id: 'tx_019ab1c2d3e4f5061728394a5b6c',
        time: '2026-11-25T10:00:00.000Z',
        account: { kind: 'team', id: 'team_4c', name: 'research' },
        kind: 'usage',
        amount: '-0.4127',
        actor: null,
        reason: null,
        requests: {
          count: 38,
          id: 'req_9d0mUwX2p0H6cYd3Wc4bT7aA',
          from: '2026-11-25T09:59:58.120Z',
          to: '2026-11-25T09:59:59.870Z',
        },
      },
    ],
    next: null,
  },
});

export const exportBookEntries = defineRoute({
  method: 'GET',
  path: '/books/entries/export',
  summary: 'The same as a file of CSV',
  permission: 'users.read',
  query: ranged(entryFilters),
  response: z.string(),
  example: 'id,time,account_kind,account_id,account,kind,amount,actor,reason',
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
  response,
  example,
});

export const startReconciliation = defineRoute({
  method: 'POST',
  path: '/reconcile',
  summary: 'Compares the books with the requests, one comparison at a time; it changes nothing',
  status: 202,
  permission: 'credits.write',
  response,
  example,
});
