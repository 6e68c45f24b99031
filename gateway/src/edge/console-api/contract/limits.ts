import { z } from 'zod';
import { defineRoute } from './route.ts';
import { moneyLimit } from './values.ts';

const limit = moneyLimit.extend({
  /** Whose it is: the person's, one of the person's keys, or a team of the person. */
  of: z.enum(['person', 'key', 'team']),
  /** Of the person, the key or the team. */
  name: z.string(),
  /** `balance`: all credits; `member`: the person's part of the money of the team. */
  kind: z.enum(['balance', 'quota', 'daily', 'monthly', 'total', 'member']),
  /** Of a limit that a team shares: how many people. */
  shared_by: z.int().optional(),
});

export const readMyLimits = defineRoute({
  method: 'GET',
  path: '/me/limits',
  summary: 'What the person has left: balance, quotas, and the budgets of the own teams',
  permission: 'own',
  callers: 'people',
  response: z.object({ data: z.array(limit) }),
  example: {
    data: [
      {
        of: 'team',
        name: 'research',
        kind: 'daily',
        limit: '80',
        spent: '60.96',
        held: '0.88',
        window: { from: '2026-11-24T23:00:00.000Z', to: '2026-11-25T23:00:00.000Z' },
        shared_by: 8,
      },
    ],
  },
});
