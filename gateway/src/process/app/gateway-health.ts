import type { HealthSource } from '#console-api/index.ts';
import type { RevisionWatch } from '#database/index.ts';
import type { Money, Rates } from '#limits/index.ts';
import { allNodes, nodeRules } from '#nodes/index.ts';
import type { ChannelHealth } from '#routing/index.ts';
import { clock } from './clock.ts';
import type { Storage } from './storage.ts';

export interface GatewayHealthOptions extends Pick<
  Storage,
  'database' | 'nodes' | 'nodeId' | 'journal'
> {
  readonly revisions: Pick<RevisionWatch, 'problem' | 'isOutdated'>;
  readonly money: Pick<Money, 'isAway'>;
  readonly rates: Pick<Rates, 'degraded' | 'server'>;
  readonly health: Pick<ChannelHealth, 'read'>;
  /** Degraded components, in words. */
  readonly degraded: () => readonly string[];
  /** Whether anything that costs something can be admitted. */
  readonly isUsable: () => boolean;
}

/** How the gateway is, for its console. */
export function createGatewayHealth(options: GatewayHealthOptions): HealthSource {
  const { database, nodes, nodeId, journal, revisions, money, rates, health, degraded } = options;
  const startedAt = clock.now();

  function databaseState(): 'works' | 'read-only' | 'away' {
    if (revisions.problem !== null) return 'away';
    if (revisions.isOutdated) return 'read-only';
    return nodes.writes && !money.isAway && !journal.isAway ? 'works' : 'read-only';
  }

  return {
    read: () => ({
      status: options.isUsable() ? 'ok' : 'unavailable',
      degraded: degraded(),
      startedAt,
      database: { kind: database.dialect, state: databaseState() },
      redis: rates.server && {
        state: rates.degraded.includes('redis') ? 'away' : 'works',
        ...rates.server,
      },
      journal: { usable: journal.usable, depth: journal.depth },
    }),
    channel: (channel) => health.read(channel, clock.monotonic()),
    async nodes() {
      const nodeRows = await allNodes(database);
      return nodeRows.map(({ id, ...node }) => ({
        ...node,
        id,
        current: id === nodeId,
        live: node.silentFor < nodeRules.goneAfter,
      }));
    },
  };
}
