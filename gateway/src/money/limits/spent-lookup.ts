import { GatewayError } from '#errors/index.ts';
import type { SpentSource } from './money.ts';

/**
 * Wraps the source so that concurrent look-ups of a meter share one query.
 * @returns every name asked for; names that the database does not know are 0.
 * @throws GatewayError `unavailable` if the database is unreachable.
 */
export function createSpentLookup(
  source: SpentSource,
): (meters: readonly string[]) => Promise<ReadonlyMap<string, bigint>> {
  const lookups = new Map<string, Promise<bigint>>();

  const ask = (meters: readonly string[]): void => {
    const amounts = source(meters);
    for (const meter of meters) lookups.set(meter, amountOf(meter, amounts));
  };

  const amountOf = async (
    meter: string,
    amounts: Promise<ReadonlyMap<string, bigint>>,
  ): Promise<bigint> => {
    try {
      return (await amounts).get(meter) ?? 0n;
    } finally {
      lookups.delete(meter);
    }
  };

  return async (meters) => {
    try {
      const newMeters = meters.filter((meter) => !lookups.has(meter));
      if (newMeters.length > 0) ask(newMeters);
      const amounts = await Promise.all(meters.map((meter) => lookups.get(meter)!));
      return new Map(meters.map((meter, at) => [meter, amounts[at]!]));
    } catch (cause) {
      throw new GatewayError('unavailable', { cause });
    }
  };
}
