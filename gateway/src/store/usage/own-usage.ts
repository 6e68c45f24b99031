import { formatUsd } from '#database/index.ts';
import type { UsageSum } from './usage-sums.repository.ts';

/** The current state of a limit on money. Nano-USD. */
export interface MoneyLimit {
  readonly limit: bigint;
  readonly used: bigint;
  /** Held for requests in flight. */
  readonly held: bigint;
  /** The day or month of the limit, by the team's clock; absent: permanent. */
  readonly window?: string;
}

/** What a key may still do. Null: no such limit. */
export interface OwnLimits {
  /** Of the payer: the user, or the team that the key acts for. */
  readonly balance: MoneyLimit;
  readonly keyQuota: MoneyLimit | null;
  readonly userQuota: MoneyLimit | null;
  readonly team: {
    readonly name: string;
    readonly rpm: number | null;
    readonly daily: MoneyLimit | null;
    readonly monthly: MoneyLimit | null;
    readonly total: MoneyLimit | null;
    readonly member: MoneyLimit | null;
  } | null;
  readonly rpm: number | null;
  readonly rph: number | null;
}

export interface OwnUsage {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly by: 'model' | 'day';
  readonly sums: readonly UsageSum[];
  readonly limits: OwnLimits;
}

/** The response of `GET /v1/usage` as JSON text: money as decimal strings in USD, times as RFC 3339. */
export function encodeOwnUsage({ from, to, by, sums, limits }: OwnUsage): string {
  const { balance, keyQuota, userQuota, team, rpm, rph } = limits;
  return JSON.stringify({
    object: 'usage',
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    currency: 'USD',
    cost: formatUsd(sums.reduce((total, sum) => total + sum.cost, 0n)),
    requests: sums.reduce((total, sum) => total + sum.requests, 0),
    data: sums.map(
      ({ names: [name], requests, failed, tokens, images, video_ms, video_tokens, cost }) => ({
        [by]: name,
        requests,
        failed,
        tokens,
        images,
        video_ms,
        video_tokens,
        cost: formatUsd(cost),
      }),
    ),
    limits: {
      balance: formatUsd(balance.limit - balance.used - balance.held),
      key_quota: encodeLimit(keyQuota),
      user_quota: encodeLimit(userQuota),
      team:
        team === null
          ? null
          : {
              name: team.name,
              rpm: team.rpm,
              daily: encodeLimit(team.daily),
              monthly: encodeLimit(team.monthly),
              total: encodeLimit(team.total),
              member: encodeLimit(team.member),
            },
      rpm,
      rph,
    },
  });
}

function encodeLimit(money: MoneyLimit | null) {
  if (money === null) return null;
  const { limit, used, held, window } = money;
  const remainder = limit - used - held;
  return {
    ...(window !== undefined && { window }),
    limit: formatUsd(limit),
    used: formatUsd(used),
    held: formatUsd(held),
    remaining: formatUsd(remainder > 0n ? remainder : 0n),
  };
}
