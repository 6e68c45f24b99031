import type { FastifyInstance } from 'fastify';
import { isOnlySimulated, type CatalogueSnapshot } from '#catalogue/index.ts';
import { channelTraffic, groupUsage, readLatency, type NameFilters } from '#usage/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { contract } from '../contract/index.ts';
import { serveRoute } from '../serve-route.ts';
import { exactRange, scopeOf, timesOf, type UsageRoutesOptions, tooLong } from '../usage/filter.ts';
import { viewOf } from '../usage/sums.ts';
import type { HealthSource } from '../health/source.ts';
import { accountAttention, gatewayAttention, priceAttention } from './attention.ts';

export interface OverviewRoutesOptions extends UsageRoutesOptions {
  readonly health: Pick<HealthSource, 'nodes'>;
  readonly snapshot: () => CatalogueSnapshot;
}

const longest = 3_660 * 86_400_000;

/** Totals of a range against the one before, and what needs attention. */
export function overviewRoutes(scope: FastifyInstance, options: OverviewRoutesOptions): void {
  const { reads, now, health, snapshot } = options;
  serveRoute(scope, contract.readOverview, options, async ({ query, caller }) => {
    const range = exactRange(query, now());
    const { from, to } = range;
    if (to - from > longest) throw tooLong('expected a range of at most ten years');
    const { tz = 'UTC' } = query;
    const before = { from: Math.max(0, from - Math.max(0, to - from)), to: from };
    const body = await reads(async (db) => {
      const own = await scopeOf(db, caller);
      return {
        now: await periodOf(db, { ...range, ...own }, tz),
        before: await periodOf(db, { ...before, ...own }, tz),
        simulated: isOnlySimulated(snapshot().channels),
        attention: [
          ...(caller.permissions.includes('health.read')
            ? gatewayAttention(
                snapshot().channels.map(({ name }) => name),
                await channelTraffic(db, now()),
                await health.nodes(),
              )
            : []),
          // Prices are the business of those who see all.
          ...(own.userId === undefined ? priceAttention(snapshot()) : []),
          ...(await accountAttention(db, own, now())),
        ],
      };
    });
    return { body };
  });
}

async function periodOf(
  db: OpenDatabase['kysely'],
  filter: NameFilters & { readonly from: number; readonly to: number },
  timeZone: string,
) {
  const { total } = await groupUsage(db, {
    ...filter,
    by: ['month'],
    metric: 'cost',
    first: 1,
    timeZone,
  });
  const latency = await readLatency(db, { ...filter, by: [], first: 1, timeZone });
  return {
    ...timesOf(filter),
    ...viewOf(total),
    first_token_ms: latency?.groups[0]?.firstToken ?? null,
  };
}
