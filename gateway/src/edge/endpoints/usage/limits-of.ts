import type { Caller } from '#identity/index.ts';
import { metersOf } from '#billing/index.ts';
import { unlimited, type Money, type SpentSource } from '#limits/index.ts';
import type { MoneyLimit, OwnLimits } from '#usage/index.ts';

/** The sums of meters according to the database. */
export interface StoredSums {
  readonly spentSource: SpentSource;
  /** By tasks. */
  readonly heldSource: SpentSource;
}

const none: ReadonlyMap<string, bigint> = new Map();

/**
 * What a caller may still spend: from what counts money, and from the database for meters that are not in use yet.
 *
 * @param now Unix milliseconds
 * @throws the error of the source if it is needed and the database is unreachable.
 */
export async function limitsOf(
  caller: Caller,
  now: number,
  money: Pick<Money, 'read'>,
  { spentSource, heldSource }: StoredSums,
): Promise<OwnLimits> {
  const meters = metersOf(caller, now).meters.filter(({ limit }) => limit !== unlimited);
  const states = await Promise.all(meters.map(async ({ name }) => money.read(name)));
  const unknown = meters.filter((_, index) => states[index] === null).map(({ name }) => name);
  const [stored, storedHeld] =
    unknown.length === 0
      ? [none, none]
      : await Promise.all([spentSource(unknown), heldSource(unknown)]);
  const limits = new Map(
    meters.map(({ name, limit }, index): [string, MoneyLimit] => {
      const state = states[index] ?? {
        spentAmount: stored.get(name) ?? 0n,
        heldAmount: storedHeld.get(name) ?? 0n,
      };
      const window = /:(?:daily|monthly):([\d-]+)$/.exec(name)?.[1];
      return [
        name,
        {
          limit,
          used: state.spentAmount,
          held: state.heldAmount,
          ...(window !== undefined && { window }),
        },
      ];
    }),
  );
  const find = (start: string) =>
    limits.entries().find(([name]) => name.startsWith(start))?.[1] ?? null;

  const { team, user, keyId } = caller;
  const payer = team === null ? `user:${user.id}` : `team:${team.id}`;
  const balance = find(`${payer}:balance`);
  if (balance === null) throw new Error(`'${payer}' has no balance`);
  return {
    balance,
    keyQuota: find(`key:${keyId}:quota`),
    userQuota: find(`user:${user.id}:quota`),
    team:
      team === null
        ? null
        : {
            name: team.name,
            rpm: team.rpm,
            daily: find(`${payer}:daily:`),
            monthly: find(`${payer}:monthly:`),
            total: find(`${payer}:total`),
            member: find(`${payer}:member:`),
          },
    rpm: caller.rpm,
    rph: caller.rph,
  };
}
