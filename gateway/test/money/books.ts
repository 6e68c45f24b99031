import { expect } from 'vitest';
import { balances, reconcile, type Difference } from '#ledger/index.ts';
import type { TestGateway } from '../support/gateway.ts';

const nano = 10n ** 9n;

/** Decimal text in USD → nano-USD; null is nothing. */
export function nanoOf(cost: string | null): bigint {
  if (cost === null) return 0n;
  const [whole = '0', fraction = ''] = cost.split('.');
  return BigInt(whole) * nano + BigInt(fraction.padEnd(9, '0'));
}

export async function userIdOf({ app }: TestGateway, email: string): Promise<string> {
  const { id } = await app.database.kysely
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return id;
}

/** Nano-USD, once every row is in the books. */
export async function balanceOf(gateway: TestGateway, email: string): Promise<bigint> {
  await gateway.usage();
  const account = `user:${await userIdOf(gateway, email)}` as const;
  return (await balances(gateway.app.database.kysely, [account])).get(account) ?? 0n;
}

/** What `GET /v1/usage` says of the key's quota: nano-USD. */
export async function keyQuota(
  { url }: TestGateway,
  secret: string,
): Promise<{ readonly used: bigint; readonly held: bigint }> {
  const response = await fetch(`${url}/v1/usage`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { limits } = (await response.json()) as {
    limits: { key_quota: { used: string; held: string } };
  };
  return { used: nanoOf(limits.key_quota.used), held: nanoOf(limits.key_quota.held) };
}

/**
 * The sum of the rows, the ledger, the balance and the counters are one, and nothing is held any more.
 * @param opening nano-USD that the user began with; its one key, `secret`, has a quota
 */
export async function expectExactBooks(
  gateway: TestGateway,
  { email, opening, secret }: { email: string; opening: bigint; secret: string },
): Promise<void> {
  const all = await gateway.usage();
  const rows = all.filter(({ user }) => user === email);
  const charged = rows.reduce((sum, { cost }) => sum + nanoOf(cost), 0n);
  expect(rows.filter(({ cost }) => cost?.startsWith('-') === true)).toEqual([]);
  expect(await balanceOf(gateway, email)).toBe(opening - charged);
  expect(await keyQuota(gateway, secret)).toEqual({ used: charged, held: 0n });
  const differences: Difference[] = [];
  const checked = await reconcile(gateway.app.database, {}, (each) => void differences.push(each));
  expect(differences).toEqual([]);
  expect(checked.rows).toBe(all.length);
}
