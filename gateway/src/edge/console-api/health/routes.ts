import type { FastifyInstance } from 'fastify';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { restingChannels } from './fleet.ts';
import type { HealthSource, NodeHealth } from './source.ts';

export interface HealthRoutesOptions extends ServeOptions {
  readonly health: HealthSource;
  readonly version: string;
}

/** The state of the gateway. */
export function healthRoutes(scope: FastifyInstance, options: HealthRoutesOptions): void {
  const { health, version } = options;

  serveRoute(scope, contract.readHealth, options, async () => {
    const { startedAt, degraded, ...state } = health.read();
    const nodes = await nodesIfKnown();
    return {
      body: {
        ...state,
        version,
        started: new Date(startedAt).toISOString(),
        degraded: [...degraded],
        resting: restingChannels(nodes ?? []),
        nodes:
          nodes?.map(({ startedAt: began, silentFor, journalDepth, ...node }) => ({
            ...node,
            started: new Date(began).toISOString(),
            silent_ms: silentFor,
            journal: journalDepth,
          })) ?? null,
      },
    };
  });

  /** An unreachable database is what the page is there to show. */
  async function nodesIfKnown(): Promise<readonly NodeHealth[] | null> {
    try {
      return await fromDatabase(health.nodes);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'database_away') return null;
      throw error;
    }
  }
}
