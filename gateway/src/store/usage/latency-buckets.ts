/** Each bucket of times ends a tenth above where it begins, so its middle is within 5 % of everything in it. */
const growth = Math.log(1.1);

/** The bucket of a time. @param milliseconds 0 or more */
export function latencyBucket(milliseconds: number): number {
  return milliseconds <= 1 ? 0 : Math.floor(Math.log(milliseconds) / growth);
}

/** The time in the middle of a bucket, in whole milliseconds. */
export function bucketTime(bucket: number): number {
  return Math.round(Math.exp((bucket + 0.5) * growth));
}

/** Times below which a half, 95 and 99 of 100 requests stayed. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}
