import { describe, expect, test } from 'vitest';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { testKey } from '../support/gateway.ts';
import { openPricedGateway } from './billed-gateway.ts';

/* B-10, B-11: room for exactly one, whatever the number of requests that come at once. */

const key = (more: string) =>
  `keys: [{ name: k, user: u@example.com, secret: ${testKey}, ${more} }]`;
const user = (more: string) => `users: [{ email: u@example.com, ${more} }]`;
const team = (more: string, member = '') =>
  `teams: [{ name: t, time_zone: Asia/Shanghai, members: [{ user: u@example.com, role: member${member} }], ${more} }]`;

interface Limit {
  readonly name: string;
  readonly accounts: string;
  readonly status: number;
  readonly message: RegExp;
}

/** Each allows 0.02 USD. One request may cost far more, and does cost more: whenever it ends, nothing is left. */
const limits: readonly Limit[] = [
  {
    name: 'balance',
    accounts: `${user('balance: 0.02')}\n${key('group: default')}`,
    status: 402,
    message: /^insufficient balance/,
  },
  {
    name: 'user quota',
    accounts: `${user('balance: 100, quota: 0.02')}\n${key('group: default')}`,
    status: 402,
    message: /^quota limit exceeded/,
  },
  {
    name: 'key quota',
    accounts: `${user('balance: 100')}\n${key('quota: 0.02')}`,
    status: 402,
    message: /^key quota limit exceeded/,
  },
  {
    name: 'team balance',
    accounts: `${user('balance: 100')}\n${team('balance: 0.02')}\n${key('team: t')}`,
    status: 402,
    message: /^insufficient balance/,
  },
  {
    name: 'team daily budget',
    accounts: `${user('balance: 0')}\n${team('balance: 100, budget: { daily: 0.02 }')}\n${key('team: t')}`,
    status: 429,
    message: /^team daily budget exceeded/,
  },
  {
    name: 'team monthly budget',
    accounts: `${user('balance: 0')}\n${team('balance: 100, budget: { monthly: 0.02 }')}\n${key('team: t')}`,
    status: 429,
    message: /^team monthly budget exceeded/,
  },
  {
    name: 'team total budget',
    accounts: `${user('balance: 0')}\n${team('balance: 100, budget: { total: 0.02 }')}\n${key('team: t')}`,
    status: 429,
    message: /^team total budget exceeded/,
  },
  {
    name: 'member budget',
    accounts: `${user('balance: 0')}\n${team('balance: 100', ', budget: 0.02')}\n${key('team: t')}`,
    status: 429,
    message: /^member budget exceeded/,
  },
];

describe.each(limits)('$name', ({ accounts, status, message }) => {
  test.each([2, 10, 200])('%i at once: one is admitted', async (count) => {
    const gateway = await openPricedGateway(accounts);
    const answers = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const protocol = textProtocols[index % textProtocols.length]!;
        const stream = index % 3 === 0;
        const response = await gateway.post(
          protocol.path('priced', stream),
          protocol.body('priced', stream),
          // Long enough that all have come before the first is settled.
          { 'x-simulator-fault': 'delay=700' },
        );
        const text = await response.text();
        return {
          protocol,
          status: response.status,
          text,
          again: response.headers.get('x-should-retry'),
        };
      }),
    );
    const admitted = answers.filter((answer) => answer.status === 200);
    const refused = answers.filter((answer) => answer.status !== 200);
    expect(admitted).toHaveLength(1);
    expect(new Set(refused.map((answer) => answer.status))).toEqual(new Set([status]));
    for (const { protocol, text, again } of refused) {
      expect(protocol.errorMessage(JSON.parse(text))).toMatch(message);
      expect(again).toBe('false');
    }
    const rows = await gateway.usage();
    expect(rows).toHaveLength(count);
    expect(rows.filter(({ cost }) => cost !== null)).toHaveLength(1);
    expect(gateway.simulator.requests()).toHaveLength(1);
  });
});
