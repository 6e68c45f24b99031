import { formatUsd, type OpenDatabase } from '#database/index.ts';
import { spentOf, type WindowSpan } from '#ledger/index.ts';
import { costsBy, type NameFilters } from '#usage/index.ts';

type Db = OpenDatabase['kysely'];

/** What requests under way and tasks hold on each of these meters, on all nodes. Nano-USD. */
export type Held = (meters: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;

/** A limit on what is spent on a meter. */
export interface MeterLimit {
  readonly meter: string;
  /** Nano-USD. */
  readonly limit: bigint;
  /** Null: it has no window. */
  readonly window: WindowSpan | null;
}

/** What is spent and held of limits, as the API shows it. */
export async function readLimits<Limit extends MeterLimit>(
  db: Db,
  held: Held,
  limits: readonly Limit[],
) {
  const meters = limits.map(({ meter }) => meter);
  const [spentAmounts, heldAmounts] = [await spentOf(db, meters), await held(meters)];
  return new Map(
    limits.map(({ meter, limit, window }) => [
      meter,
      {
        limit: formatUsd(limit),
        spent: formatUsd(spentAmounts.get(meter) ?? 0n),
        held: formatUsd(heldAmounts.get(meter) ?? 0n),
        window: window && {
          from: new Date(window.from).toISOString(),
          to: new Date(window.to).toISOString(),
        },
      },
    ]),
  );
}

/** A range in Unix milliseconds. */
export interface Hours {
  readonly from: number;
  readonly to: number;
}

/**
 * Requests of a range and what they cost, by the id of the person or of the team.
 * @param of only what the team of this id pays for, or what users of these ids use
 */
export async function usageBy(
  db: Db,
  dimension: 'user' | 'team',
  hours: Hours,
  of: Pick<NameFilters, 'team' | 'userIds'> = {},
): Promise<ReadonlyMap<string, { readonly requests: number; readonly cost: string }>> {
  const sums = await costsBy(db, dimension, { ...hours, ...of });
  return new Map(
    [...sums].map(([id, { requests, cost }]) => [id, { requests, cost: formatUsd(cost) }]),
  );
}

export const noUsage = { requests: 0, cost: '0' };
