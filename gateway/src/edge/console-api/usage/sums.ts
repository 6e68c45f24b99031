import type { FastifyInstance } from 'fastify';
import { formatUsd, type OpenDatabase } from '#database/index.ts';
import {
  groupUsage,
  mergeGroups,
  namesOf,
  timeDimensions,
  type Dimension,
  type Sums,
} from '#usage/index.ts';
import { contract } from '../contract/index.ts';
import { serveRoute } from '../serve-route.ts';
import { cutsOf, namesIn, partsOf, scopeOf, timesOf, type UsageRoutesOptions } from './filter.ts';

type Db = OpenDatabase['kysely'];

/** Sums by one or two dimensions. */
export function sumsRoute(scope: FastifyInstance, options: UsageRoutesOptions): void {
  const { reads, now } = options;
  serveRoute(scope, contract.sumUsage, options, async ({ query, caller }) => {
    const { by, metric = 'cost' } = query;
    const cuts = cutsOf(query, now());
    const question = { ...namesIn(query), ...cuts, metric };
    const { groups, names, total, buckets, rest } = await reads(async (db) => {
      const groups = await groupUsage(db, { ...question, ...(await scopeOf(db, caller)) });
      return { ...groups, names: await shownNames(db, by, groups.groups) };
    });
    // The keys of all sessions have one name, and the list that it opens has the requests of all of them.
    return {
      body: {
        ...timesOf(cuts),
        ...viewOf(total),
        others: [...rest],
        buckets: partsOf(buckets),
        data: mergeGroups(
          groups.map((group) => ({
            ...group,
            names: group.names.map((id, at) => (id === null ? null : (names[at]?.get(id) ?? id))),
          })),
        ).map(({ names: [name = null, second = null], ...group }) => ({
          name,
          ...(by.length > 1 && { second }),
          ...viewOf(group),
        })),
      },
    };
  });
}

/** What the ids of each dimension are called. */
export async function shownNames(
  db: Db,
  by: readonly Dimension[],
  groups: readonly { readonly names: readonly (string | null)[] }[],
): Promise<ReadonlyMap<string, string>[]> {
  const nameMaps: ReadonlyMap<string, string>[] = [];
  for (const [at, dimension] of by.entries()) {
    const isTime = (timeDimensions as readonly string[]).includes(dimension);
    const ids = new Set(isTime ? [] : groups.map(({ names }) => names[at]));
    nameMaps.push(
      await namesOf(
        db,
        dimension,
        [...ids].filter((id) => typeof id === 'string'),
      ),
    );
  }
  return nameMaps;
}

/** Sums as the API shows them. */
export function viewOf(sums: Sums) {
  return {
    requests: sums.requests,
    failed: sums.failed,
    refused: sums.refused,
    tokens: {
      input: sums.input_tokens,
      cache_read: sums.cache_read_tokens,
      cache_write: sums.cache_write_tokens,
      cache_write_1h: sums.cache_write_1h_tokens,
      output: sums.output_tokens,
      reasoning: sums.reasoning_tokens,
    },
    images: sums.images,
    video_ms: sums.video_ms,
    video_tokens: sums.video_tokens,
    cost: formatUsd(sums.cost),
    attempts: sums.attempts,
    failed_attempts: sums.failed_attempts,
  };
}
