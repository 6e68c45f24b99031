import { sql, type RawBuilder } from 'kysely';
import type { HourlySums } from './usage-hourly.ts';
import { hourlyDimensions, hourlySums } from './usage-hourly.ts';

/** A part of an hour, Unix milliseconds. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/**
 * What usage rows add to `usage_hourly`, with its columns: one line for each row, and one for each of its attempts. The
 * `hour` is where the part begins.
 * @param counts the attempts that have a line: all, or those whose channel reported tokens although they failed
 */
export function rowHours(
  isPostgres: boolean,
  parts: readonly Part[],
  counts: 'all attempts' | 'unbilled attempts',
): RawBuilder<unknown> {
  const { units, each, text, tokens } = isPostgres ? postgres : sqlite;
  const names = sql.join(['hour', ...hourlyDimensions, ...hourlySums].map((name) => sql.ref(name)));
  const line = (values: { readonly [Name in keyof HourlySums]?: RawBuilder<unknown> }) =>
    sql.join(hourlySums.map((name) => values[name] ?? sql.lit(0)));
  const own = line({
    requests: sql.ref('count'),
    failed: sql`case when outcome in ('failed', 'refused') then ${sql.ref('count')} else 0 end`,
    refused: sql`case when outcome = 'refused' then ${sql.ref('count')} else 0 end`,
    input_tokens: sql`input_tokens`,
    cache_read_tokens: sql`cache_read_tokens`,
    cache_write_tokens: sql`cache_write_tokens`,
    cache_write_1h_tokens: sql`cache_write_1h_tokens`,
    output_tokens: sql`output_tokens`,
    reasoning_tokens: sql`reasoning_tokens`,
    images: units('images'),
    video_ms: units('video_ms'),
    video_tokens: units('video_tokens'),
    cost: sql`coalesce(cost, 0)`,
  });
  const ofAttempt = line({
    unbilled_tokens: sql`case when ${text('usage')} is null then 0
      else ${sql.join(tokenParts.map(tokens), sql` + `)} end`,
    attempts: sql.lit(1),
    failed_attempts: sql`case when ${text('blame')} is null then 0 else 1 end`,
  });
  const attemptsOf =
    counts === 'all attempts'
      ? sql``
      : sql`and attempts like '%"usage"%' and ${text('usage')} is not null`;
  const lines = parts.flatMap(({ from, to }) => [
    sql`select ${sql.lit(from)}, key_id, user_id, coalesce(team_id, ''),
        case when attempts = '[]' then '' else model end, coalesce(channel, ''), client, ${own}
      from usage where time >= ${from} and time < ${to}`,
    sql`select ${sql.lit(from)}, key_id, user_id, coalesce(team_id, ''), model, ${text('channel')},
        client, ${ofAttempt}
      from usage, ${each} where time >= ${from} and time < ${to} ${attemptsOf}`,
  ]);
  // The first line of a union names its columns in both databases.
  const named = sql`select ${sql.join(
    ['hour', ...hourlyDimensions].map((name) => {
      const kind = name === 'hour' ? sql`0` : sql`''`;
      return sql`${kind} as ${sql.ref(name)}`;
    }),
  )}, ${sql.join(hourlySums.map((name) => sql`0 as ${sql.ref(name)}`))} where 1 = 0`;
  return sql`(select ${names} from (${sql.join([named, ...lines], sql` union all `)}) as lines)`;
}

/** Reasoning is part of the output. */
const tokenParts = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output'] as const;

/** What a row made besides tokens; its attempts one by one, and their members. */
const sqlite = {
  units: (name: string) => sql`coalesce(units ->> ${sql.lit(`$.${name}`)}, 0)`,
  each: sql`json_each(attempts) as attempt`,
  text: (name: string) => sql`attempt.value ->> ${sql.lit(name)}`,
  tokens: (name: string) => sql`(attempt.value ->> ${sql.lit(`$.usage.${name}`)})`,
} as const;
const postgres = {
  units: (name: string) => sql`coalesce((units::jsonb ->> ${sql.lit(name)})::bigint, 0)`,
  each: sql`jsonb_array_elements(attempts::jsonb) as attempt`,
  text: (name: string) => sql`attempt ->> ${sql.lit(name)}`,
  tokens: (name: string) => sql`(attempt -> 'usage' ->> ${sql.lit(name)})::bigint`,
} as const;
