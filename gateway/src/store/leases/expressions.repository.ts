import { sql } from 'kysely';

/** Where lives hear of meters: `meter recall`, when idle money is wanted or something has come back. */
export const leasesChannel = 'sluice_leases';

/** Unix milliseconds by the clock of PostgreSQL. */
export const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

const part = (at: number) => sql`split_part(spent_totals.meter, ':', ${sql.lit(at)})`;

/**
 * The limit of a meter of `spent_totals`, as the rows of users, teams and keys have it now; a balance is limited by its
 * credits. Null: no limit.
 */
export const limitOf = sql<bigint | null>`case ${part(3)}
  when 'balance' then credited
  when 'quota' then case ${part(1)}
    when 'user' then (select quota from users where id = ${part(2)})
    else (select quota from keys where id = ${part(2)}) end
  when 'daily' then (select budget_daily from teams where id = ${part(2)})
  when 'monthly' then (select budget_monthly from teams where id = ${part(2)})
  when 'total' then (select budget_total from teams where id = ${part(2)})
  when 'member' then (
    select budget from team_members where team_id = ${part(2)} and user_id = ${part(4)})
  end`;
