import { createSpentSource } from '#billing/index.ts';
import type { Config } from '#config/index.ts';
import {
  createMoney,
  createRates,
  leaseRules,
  type Money,
  type Peers,
  type Rates,
} from '#limits/index.ts';
import { parseUsd } from '#database/index.ts';
import { createPostgresAuthority } from '#leases/index.ts';
import { heldByTasks, spentOf } from '#ledger/index.ts';
import type { Logger } from '#observability/index.ts';
import { clock } from './clock.ts';
import type { Closing } from './closing.ts';
import type { Storage } from './storage.ts';

/** Opens what counts rates and concurrent requests: this process, or Redis for all nodes. */
export async function openRates(
  config: Config,
  logger: Logger,
  { nodes }: Pick<Storage, 'nodes'>,
  closing: Closing,
): Promise<Rates> {
  return closing.add(
    await createRates({
      config,
      ...clock,
      random: Math.random,
      liveNodes: nodes.live,
      log: logger,
    }),
  );
}

/**
 * Opens what counts money: this process, or for all nodes the database.
 * @param peers the other workers; null: there are none
 */
export function openMoney(
  config: Config,
  logger: Logger,
  { database, breaker, journal, adoption, nodeId, lives, nodes }: Storage,
  peers: Peers | null,
  closing: Closing,
): Money {
  return closing.add(
    createMoney({
      ...clock,
      // Charges that an earlier process left in the journal are spent too.
      spentSource: createSpentSource({
        ready: Promise.all([journal.caughtUp, adoption.finished]),
        early: journal.spentWithLeftOver,
        read: (meters) => breaker(() => spentOf(database.kysely, meters)),
      }),
      heldSource: (meters) => breaker(() => heldByTasks(database.kysely, meters)),
      appliedUntil: () => journal.appliedUntil,
      leases:
        lives === null
          ? null
          : {
              newLife: () => lives.begin(),
              async replay() {
                await journal.replay();
                await lives.closeAgain();
              },
              onEnded: lives.end,
              ageMs: config.billing.leaseAge,
              reserveMs: config.limits.leaseReserve,
              unleasedMost: parseUsd(config.billing.databaseAway.upTo),
              liveNodes: nodes.live,
              peers,
              onRejected: journal.onRejected,
              authority: createPostgresAuthority({
                database,
                node: nodeId,
                rules: {
                  ...leaseRules,
                  ageMs: config.billing.leaseAge,
                  // In thousandths.
                  share: BigInt(Math.round(Number(config.billing.leaseShare) * 1_000)),
                },
              }),
            },
      log: logger,
    }),
  );
}
