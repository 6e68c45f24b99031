import type { Kysely } from 'kysely';
import type { Database } from '#database/index.ts';
import type { ReceiptItem } from './record.ts';

/** What a row says about its price. */
export interface PricedRow {
  readonly id: string;
  /** Unix milliseconds. */
  readonly time: number;
  /** Nano-USD. */
  readonly cost: bigint;
  readonly receipt: readonly ReceiptItem[];
  /** Of the group, as a decimal. */
  readonly multiplier: string;
  /** Whether the counts are the upstream's own; the charge for others ends at the hold. */
  readonly isReported: boolean;
  readonly payer: { readonly kind: 'user' | 'team'; readonly id: string };
}

export interface PricedRowsFilter {
  /** A model of the catalogue, by whatever name clients asked for it, or a group by its name. */
  readonly of: { readonly model: string } | { readonly group: string };
  /** Unix milliseconds, inclusive and exclusive. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  /** Rows behind this one; absent: from the newest. */
  readonly after?: Pick<PricedRow, 'id' | 'time'>;
}

/** Rows that were charged by a price of the model or to keys of the group, the newest first. */
export async function listPricedRows(
  db: Kysely<Database>,
  { of, from, to, limit, after }: PricedRowsFilter,
): Promise<PricedRow[]> {
  let query = db
    .selectFrom('usage')
    .select([
      'id',
      'time',
      'cost',
      'receipt',
      'multiplier',
      'usage_source',
      'payer',
      'user_id',
      'team_id',
    ])
    .where('time', '>=', from)
    .where('time', '<', to)
    .where((where) =>
      'group' in of
        ? where.and([where('group_name', '=', of.group), where('price_version', 'is not', null)])
        : where('price_version', 'in', (versions) =>
            versions.selectFrom('price_versions').select('id').where('model', '=', of.model),
          ),
    )
    .orderBy('time', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (after !== undefined) {
    query = query.where(({ eb, or, and }) =>
      or([
        eb('time', '<', after.time),
        and([eb('time', '=', after.time), eb('id', '<', after.id)]),
      ]),
    );
  }
  return (await query.execute()).map((row) => ({
    id: row.id,
    time: row.time,
    cost: row.cost ?? 0n,
    receipt: JSON.parse(row.receipt ?? '[]') as ReceiptItem[],
    multiplier: row.multiplier ?? '1',
    isReported: row.usage_source === 'reported' || row.usage_source === 'none',
    payer:
      row.payer === 'team' && row.team_id !== null
        ? { kind: 'team', id: row.team_id }
        : { kind: 'user', id: row.user_id },
  }));
}
