import { key } from '../faults/nodes.ts';
import { noonZone } from '../support/time-zones.ts';

/** One key, and one limit of those that money has. */
export interface Account {
  readonly name: string;
  /** `none`: a user with money enough, who must never be refused for lack of it. */
  readonly limit: 'balance' | 'quota' | 'daily' | 'none';
  /** USD. */
  readonly amount: number;
  /** Of the team of a daily budget. Default: UTC. */
  readonly zone?: string;
  /** Requests per minute of the key. Default: any number. */
  readonly rpm?: number;
}

/** Nano-USD. */
export const limitOf = ({ amount }: Pick<Account, 'amount'>): bigint =>
  BigInt(Math.round(amount * 1e9));

/** What must be left for a request to be admitted: nano-USD. */
export const floorOf = ({ limit }: Account): bigint => (limit === 'balance' ? 10_000_000n : 1n);

const enough = 1_000_000;

/** YAML of users, teams and keys. */
export function describeAccounts(accounts: readonly Account[]): string {
  const users: string[] = [];
  const teams: string[] = [];
  const keys: string[] = [];
  for (const account of accounts) {
    const { name, limit, zone = noonZone, rpm } = account;
    const amount = Number(account.amount.toFixed(9));
    const email = `${name}@example.com`;
    users.push(`{ email: ${email}, balance: ${limit === 'balance' ? amount : enough} }`);
    const quota = limit === 'quota' ? `, quota: ${amount}` : '';
    const team = limit === 'daily' ? `, team: ${name}` : '';
    const rate = rpm === undefined ? '' : `, rpm: ${rpm}`;
    keys.push(`{ name: ${name}, user: ${email}, secret: ${key(name)}${quota}${team}${rate} }`);
    if (limit !== 'daily') continue;
    const members = `[{ user: ${email}, role: member }]`;
    teams.push(
      `{ name: ${name}, time_zone: ${zone}, balance: ${enough}, budget: { daily: ${amount} }, members: ${members} }`,
    );
  }
  const list = (name: string, entries: readonly string[]) =>
    entries.length === 0 ? '' : `${name}:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`;
  return list('users', users) + list('teams', teams) + list('keys', keys);
}
