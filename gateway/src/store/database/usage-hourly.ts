import type { UsageDailyTable, UsageHourlyTable } from './schema.ts';

/** The dimensions of daily usage; together with the day they are the key of `usage_daily`. */
export const dailyDimensions = [
  'key_id',
  'user_id',
  'team_id',
  'model',
  'channel',
] as const satisfies readonly (keyof UsageDailyTable)[];

/** The dimensions of hourly usage; together with the hour they are the key of `usage_hourly`. */
export const hourlyDimensions = [
  ...dailyDimensions,
  'client',
] as const satisfies readonly (keyof UsageHourlyTable)[];

/** The summed columns of `usage_hourly`. */
export const hourlySums = [
  'requests',
  'failed',
  'refused',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'reasoning_tokens',
  'images',
  'video_ms',
  'video_tokens',
  'cost',
  'unbilled_tokens',
  'attempts',
  'failed_attempts',
] as const satisfies readonly (keyof UsageHourlyTable)[];

export type HourlySums = Pick<UsageHourlyTable, (typeof hourlySums)[number]>;

/** The first group with the sums of both. */
export function addSums<Group extends HourlySums>(a: Group, b: HourlySums): Group {
  const sum = { ...a };
  for (const name of hourlySums) {
    if (name === 'cost') sum.cost += b.cost;
    else sum[name] += b[name];
  }
  return sum;
}
