import { describe, expect, test } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { sharePricedGateway } from './billed-gateway.ts';
import { noonZone } from '../support/time-zones.ts';

/* B-10, B-11: room for exactly one, whatever the number of requests that come at once. */

/** How many come at once for one account, and how many accounts that happens to at the same time. */
const crowds = [
  { size: 2, accounts: 15 },
  { size: 10, accounts: 4 },
  { size: 80, accounts: 1 },
];

/** YAML, each without its name and its braces. */
interface Account {
  readonly user: string;
  /** What the team has, and its one member. */
  readonly team?: { readonly has: string; readonly member?: string };
  readonly key?: string;
}

interface Limit extends Account {
  readonly name: string;
  readonly status: number;
  readonly message: RegExp;
}

/** Each allows 0.02 USD. One request may cost far more, and does cost more: whenever it ends, nothing is left. */
const limits: readonly Limit[] = [
  {
    name: 'balance',
    user: 'balance: 0.02',
    status: 402,
    message: /^insufficient balance: the user of this API key/,
  },
  {
    name: 'user quota',
    user: 'balance: 100, quota: 0.02',
    status: 402,
    message: /^quota limit exceeded/,
  },
  {
    name: 'key quota',
    user: 'balance: 100',
    key: 'quota: 0.02',
    status: 402,
    message: /^key quota limit exceeded/,
  },
  {
    name: 'team balance',
    user: 'balance: 100',
    team: { has: 'balance: 0.02' },
    status: 402,
    message: /^insufficient balance: the team of this API key/,
  },
  {
    name: 'team daily budget',
    user: 'balance: 0',
    team: { has: 'balance: 100, budget: { daily: 0.02 }' },
    status: 429,
    message: /^team daily budget exceeded/,
  },
  {
    name: 'team monthly budget',
    user: 'balance: 0',
    team: { has: 'balance: 100, budget: { monthly: 0.02 }' },
    status: 429,
    message: /^team monthly budget exceeded/,
  },
  {
    name: 'team total budget',
    user: 'balance: 0',
    team: { has: 'balance: 100, budget: { total: 0.02 }' },
    status: 429,
    message: /^team total budget exceeded/,
  },
  {
    name: 'member budget',
    user: 'balance: 0',
    team: { has: 'balance: 100', member: 'budget: 0.02' },
    status: 429,
    message: /^member budget exceeded/,
  },
];

const secretOf = (account: string) => `sk-${account}-0123456789abcdefghijklmnopqrstuvwxyz`;

function describeAccounts(accounts: readonly (Account & { readonly name: string })[]): string {
  const users: string[] = [];
  const teams: string[] = [];
  const keys: string[] = [];
  for (const { name, user, team, key } of accounts) {
    const email = `${name}@example.com`;
    users.push(`email: ${email}, ${user}`);
    if (team !== undefined) {
      const member = [`user: ${email}, role: member`, team.member].filter(Boolean).join(', ');
      teams.push(`name: ${name}, time_zone: ${noonZone}, members: [{ ${member} }], ${team.has}`);
    }
    const owner = [`user: ${email}`, team && `team: ${name}`, key].filter(Boolean).join(', ');
    keys.push(`name: ${name}, ${owner}, secret: ${secretOf(name)}`);
  }
  return Object.entries({ users, teams, keys })
    .flatMap(([of, entries]) => [`${of}:`, ...entries.map((entry) => `  - { ${entry} }`)])
    .join('\n');
}

async function ask(gateway: TestGateway, account: string, index: number) {
  const protocol = textProtocols[index % textProtocols.length]!;
  const stream = index % 3 === 0;
  const response = await gateway.post(
    protocol.path('priced', stream),
    protocol.body('priced', stream),
    {
      authorization: `Bearer ${secretOf(account)}`,
      // Long enough that all have come before the first is settled.
      'x-simulator-fault': 'delay=300',
    },
  );
  const text = await response.text();
  return { protocol, status: response.status, text, again: response.headers.get('x-should-retry') };
}

const namesOf = (limit: string, { size, accounts }: (typeof crowds)[number]) =>
  Array.from({ length: accounts }, (_, at) => `${limit.replaceAll(' ', '-')}-${size}x${at}`);

const shared = sharePricedGateway(
  describeAccounts(
    limits.flatMap((limit) =>
      crowds.flatMap((crowd) => namesOf(limit.name, crowd)).map((name) => ({ ...limit, name })),
    ),
  ),
);

describe.each(limits)('$name', ({ name: limit, status, message }) => {
  test.each(crowds)(
    'of $size at once one is admitted; the same for each of $accounts at once',
    async (crowd) => {
      const { gateway } = shared;
      const names = namesOf(limit, crowd);
      const sentBefore = gateway.simulator.requests().length;
      const asked = names.flatMap((name, at) =>
        Array.from({ length: crowd.size }, (_, index) => ({ name, index: index + at })),
      );
      const responses = await Promise.all(
        asked.map(async ({ name, index }) => ({ name, ...(await ask(gateway, name, index)) })),
      );
      const admitted = responses.filter((response) => response.status === 200);
      const refused = responses.filter((response) => response.status !== 200);
      expect(admitted.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
      expect(new Set(refused.map((response) => response.status))).toEqual(new Set([status]));
      for (const { protocol, text, again } of refused) {
        expect(protocol.errorMessage(JSON.parse(text))).toMatch(message);
        expect(again).toBe('false');
      }
      const rows = (await gateway.usage()).filter(({ key }) => names.includes(key));
      expect(rows).toHaveLength(asked.length);
      const charged = rows.filter(({ cost }) => cost !== null).map(({ key }) => key);
      expect(charged.toSorted()).toEqual(names.toSorted());
      expect(gateway.simulator.requests().slice(sentBefore)).toHaveLength(names.length);
    },
  );
});
