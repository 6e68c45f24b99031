import type { UsageHourlyTable } from './schema.ts';

/** The dimensions of hourly usage; together with the hour they are the key of `usage_hourly`. */
export const hourlyDimensions = [
  'key_id',
  'user_id',
  'team_id',
  'model',
  'channel',
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
] as const satisfies readonly (keyof UsageHourlyTable)[];
