import { sql, type RawBuilder } from 'kysely';

export interface Limits {
  readonly query: RawBuilder<unknown>;
  /** By meter; meters without a limit are absent. */
  read(
    rows: readonly { readonly name: string; readonly amount: string | null }[],
  ): Map<string, bigint>;
}

/** The limits of these meters as the rows of users, teams and keys have them; a balance is limited by its credits. */
export function limitsOf(meters: readonly string[]): Limits {
  const parts = meters.map((meter) => meter.split(':'));
  const ids = (kind: string) => [
    ...new Set(parts.filter(([of]) => of === kind).map(([, id = '']) => id)),
  ];
  const accounts = meters
    .filter((meter) => meter.endsWith(':balance'))
    .map((meter) => meter.slice(0, -':balance'.length));
  return {
    query: sql`
      select 'user:' || id || ':quota' as name, quota::text as amount
      from users where id = any(${ids('user')}::text[])
      union all
      select 'key:' || id || ':quota', quota::text from keys where id = any(${ids('key')}::text[])
      union all
      select 'team:' || id || ':' || kind, budget::text
      from teams, lateral (
        values ('daily', budget_daily), ('monthly', budget_monthly), ('total', budget_total)
      ) as budgets (kind, budget)
      where id = any(${ids('team')}::text[])
      union all
      select 'team:' || team_id || ':member:' || user_id, budget::text
      from team_members where team_id = any(${ids('team')}::text[])
      union all
      select account || ':balance', sum(amount)::text
      from ledger_entries where account = any(${accounts}::text[]) and kind <> 'usage'
      group by account`,
    read(rows) {
      const stored = new Map(rows.map(({ name, amount }) => [name, amount]));
      const limits = new Map<string, bigint>();
      for (const meter of meters) {
        const limit = stored.get(meter.replace(/:[\d-]+$/, '')) ?? null;
        if (limit !== null) limits.set(meter, BigInt(limit));
        else if (meter.endsWith(':balance')) limits.set(meter, 0n);
      }
      return limits;
    },
  };
}
