import type { OpenDatabase } from '#database/index.ts';
import { heldByRequests } from '#leases/index.ts';
import { heldByTasks } from '#ledger/index.ts';
import type { Money } from '#limits/index.ts';

/** What requests under way and tasks hold on each of these meters, on all nodes. Nano-USD. */
export type Held = (meters: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;

/** @param money counts the holds of this process, which is the only one unless the database is shared */
export function createHeld(
  database: Pick<OpenDatabase, 'kysely' | 'dialect'>,
  money: Pick<Money, 'read'>,
): Held {
  return async (meters) => {
    const byTasks = await heldByTasks(database.kysely, meters);
    if (database.dialect === 'postgres') {
      const byRequests = await heldByRequests(database, meters);
      return new Map(
        meters.map((meter) => [meter, (byTasks.get(meter) ?? 0n) + (byRequests.get(meter) ?? 0n)]),
      );
    }
    // Where this process has counted on a meter, it knows what tasks hold on it too.
    const states = await Promise.all(meters.map(async (meter) => money.read(meter)));
    return new Map(
      meters.map((meter, at) => [meter, states[at]?.heldAmount ?? byTasks.get(meter) ?? 0n]),
    );
  };
}
