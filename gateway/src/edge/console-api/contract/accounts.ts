import { z } from 'zod';
import { defineRoute } from './route.ts';
import { count, money, text, time } from './values.ts';

/** The id or the name of the person or team whose account it is. */
const parameters = z.strictObject({
  kind: z.enum(['user', 'team']),
  id: text(300),
});

const entry = z.object({
  /** Of its transaction. */
  id: z.string(),
  time,
  /** `opening`, `top-up`, `correction` or `usage`. */
  kind: z.string(),
  /** Added to the account, or with a sign taken from it. */
  amount: money,
  /** What the account had after it; null with `credits`. */
  balance: money.nullable(),
  /** Who made it; null: the gateway, for usage. */
  actor: z.string().nullable(),
  reason: z.string().nullable(),
});

export const listEntries = defineRoute({
  method: 'GET',
  path: '/accounts/:kind/:id/entries',
  summary: 'The entries of an account, newest first',
  permission: 'users.read',
  parameters,
  query: z.strictObject({
    limit: count(1, 200).optional(),
    cursor: text(400).optional(),
    /** Without those of usage. */
    credits: z.literal('only', 'expected only').optional(),
  }),
  response: z.object({
    /** What the account has now. */
    balance: money,
    data: z.array(entry),
    next: z.string().nullable(),
  }),
  example: {
    balance: '37.4',
    data: [
      {
        id: 'tx_019a',
        time: '2026-11-25T10:00:00.000Z',
        kind: 'top-up',
        amount: '25',
        balance: '37.4',
        actor: 'cleo@example.com',
        reason: 'conference demo',
      },
    ],
    next: null,
  },
});

export const credit = defineRoute({
  method: 'POST',
  path: '/accounts/:kind/:id/credits',
  status: 201,
  summary:
    'Add to an account, or with a negative amount take from it. Needs `idempotency-key`; repeated, it books nothing',
  permission: 'credits.write',
  parameters,
  body: z.strictObject({
    /** In USD, other than 0. */
    amount: text(40, 'an amount in USD'),
    reason: text(1_000, 'a reason'),
  }),
  response: z.object({
    /** The id of the transaction. */
    id: z.string(),
    /** It was booked before by the same call. */
    repeated: z.boolean(),
    /** What the account has now. */
    balance: money,
  }),
  example: { id: 'tx_019a', repeated: false, balance: '37.4' },
});
