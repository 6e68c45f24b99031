import type { Database } from './schema.ts';

/** The columns of type `bigint` in all tables, by name. */
type MoneyColumn = ColumnsOf<true>;
type OtherColumn = ColumnsOf<false>;

type ColumnsOf<Money extends boolean> = {
  [Table in keyof Database]: {
    [Column in keyof Database[Table]]: bigint extends Database[Table][Column]
      ? Money extends true
        ? Column
        : never
      : Money extends true
        ? never
        : Column;
  }[keyof Database[Table]];
}[keyof Database] &
  string;

const money = {
  opening_credit: true,
  quota: true,
  budget: true,
  budget_daily: true,
  budget_monthly: true,
  budget_total: true,
  unleased_most: true,
  cost: true,
  held: true,
  overshoot: true,
  late: true,
  amount: true,
  spent: true,
  credited: true,
  leased: true,
  drawn: true,
  settled: true,
  freed: true,
} as const satisfies Record<MoneyColumn, true> & { [Column in OtherColumn]?: never };

/**
 * The one rule for integers on both databases: a result column with one of these names is money and arrives
 * as `bigint`; every other integer arrives as `number`. An aggregate of money must therefore be selected under
 * a money name (`sum(cost) as cost`). The compiler keeps the list equal to the `bigint` columns of the schema.
 */
export const moneyColumns: ReadonlySet<string> = new Set(Object.keys(money));
