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

/** Null: there are no requests. @param counts of each bucket */
export function percentilesOf(counts: ReadonlyMap<number, number>): Percentiles | null {
  const total = counts.values().reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const buckets = [...counts].toSorted(([a], [b]) => a - b);
  const at = (share: number): number => {
    let remainingCount = Math.ceil(total * share);
    for (const [bucket, count] of buckets) {
      remainingCount -= count;
      if (remainingCount <= 0) return bucketTime(bucket);
    }
    return 0;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
