import { createSpentSource } from '#billing/index.ts';
import type { Config } from '#config/index.ts';
import { createCounters, leaseRules, type Counters } from '#limits/index.ts';
import { createPostgresAuthority } from '#leases/index.ts';
import { spentOf } from '#ledger/index.ts';
import type { Logger } from '#observability/index.ts';
import { clock } from './clock.ts';
import type { Closing } from './closing.ts';
import type { Storage } from './storage.ts';

/** Opens the counters of rates, concurrent calls and money: in this process, or in Redis for all nodes. */
export async function openCounters(
  config: Config,
  logger: Logger,
  { database, breaker, journal, adoption, nodes, nodeId, lives }: Storage,
  closing: Closing,
): Promise<Counters> {
  return closing.add(
    await createCounters({
      config,
      ...clock,
      random: Math.random,
      // Charges that an earlier process left in the journal are spent too.
      spent: createSpentSource({
        ready: Promise.all([journal.caughtUp, adoption.finished]),
        read: (meters) => breaker(() => spentOf(database.kysely, meters)),
      }),
      appliedUntil: () => journal.appliedUntil,
      liveNodes: nodes.live,
      leases:
        lives === null
          ? null
          : {
              newLife: () => lives.begin(),
              authority: createPostgresAuthority({
                database,
                node: nodeId,
                url: config.storage.url,
                rules: leaseRules,
              }),
            },
      log: logger,
    }),
  );
}
