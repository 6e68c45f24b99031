import type { SharedValues } from './redis/shared-values.ts';

/**
 * Values that every process may read, in Redis.
 * @param now milliseconds of a monotonic clock
 */
export async function openSharedValues(url: string, now: () => number): Promise<SharedValues> {
  // The Redis client is megabytes of code that most gateways never run.
  const { connectSharedValues } = await import('./redis/shared-values.ts');
  return connectSharedValues(url, now);
}
