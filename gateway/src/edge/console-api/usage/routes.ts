import type { FastifyInstance } from 'fastify';
import { formatUsd, type OpenDatabase } from '#database/index.ts';
import {
  errorTexts,
  findUsage,
  listUsage,
  mostLatencyRows,
  readHistogram,
  readLatency,
} from '#usage/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { serveRoute } from '../serve-route.ts';
import type { Caller } from '../sessions/caller.ts';
import { exportRoute } from './export.ts';
import { readFacets } from './facets.ts';
import {
  cutsOf,
  filterOf,
  exactRange,
  latencyHourDays,
  namesIn,
  partsOf,
  rangeOf,
  scopeOf,
  timesOf,
  type UsageRoutesOptions,
  asInvalid,
  tooLong,
  rowOf,
} from './filter.ts';
import { describeUsage } from './describe-usage.ts';
import { shownNames, sumsRoute } from './sums.ts';

const defaultLimit = 50;

/** Requests and their sums. */
export function usageRoutes(scope: FastifyInstance, options: UsageRoutesOptions): void {
  const { reads, now } = options;

  serveRoute(scope, contract.listUsage, options, async ({ query, caller }) => {
    const { limit = defaultLimit, cursor } = query;
    const filter = { ...filterOf(query), ...rangeUntilNow(query), limit };
    const page = await reads(async (db) =>
      listUsage(db, {
        ...filter,
        ...(await scopeOf(db, caller)),
        ...(cursor !== undefined && { cursor }),
      }).catch(asInvalid),
    );
    return { body: { data: page.data.map(rowOf), next: page.next } };
  });

  /** Without an end: a request that arrives while the list is read belongs to it. */
  const rangeUntilNow = (query: { readonly from?: number | undefined }) => ({
    from: query.from ?? rangeOf({}, now()).from,
  });

  sumsRoute(scope, options);
  exportRoute(scope, options);

  serveRoute(scope, contract.readHistogram, options, async ({ query, caller }) => {
    const range = rangeOf(query, now());
    const step = stepOf(range);
    const { bars, requests, failed, refused, cost } = await reads(async (db) =>
      readHistogram(db, { ...filterOf(query), ...range, ...(await scopeOf(db, caller)) }, step),
    );
    return {
      body: {
        ...timesOf(range),
        seconds: step / 1_000,
        requests,
        failed,
        refused,
        cost: formatUsd(cost),
        data: bars.map(({ time, requests, success, clientErrors, serverErrors }) => ({
          time: new Date(time).toISOString(),
          requests,
          '2xx': success,
          '4xx': clientErrors,
          '5xx': serverErrors,
        })),
      },
    };
  });

  serveRoute(scope, contract.readLatency, options, async ({ query, caller }) => {
    const cuts = cutsOf({ ...query, by: query.by ?? [] }, now(), latencyHourDays);
    const names = namesIn(query);
    const found = await reads(async (db) => {
      const latencies = await readLatency(db, {
        ...names,
        ...cuts,
        ...(await scopeOf(db, caller)),
      });
      return latencies && { ...latencies, shown: await shownNames(db, cuts.by, latencies.groups) };
    });
    if (found === null) {
      throw tooLong(
        `times of persons and clients are read from single requests, ${mostLatencyRows} at most: expected a shorter range`,
      );
    }
    const { groups, buckets, rest, shown } = found;
    const nameOf = (id: string | null, at: number) =>
      id === null ? null : (shown[at]?.get(id) ?? id);
    const data = groups.map(({ names: [name = '', second], requests, firstToken, duration }) => ({
      name: nameOf(name, 0),
      ...(second !== undefined && { second: nameOf(second, 1) }),
      requests,
      first_token_ms: firstToken,
      duration_ms: duration,
    }));
    return { body: { ...timesOf(cuts), others: [...rest], buckets: partsOf(buckets), data } };
  });

  serveRoute(scope, contract.readFacets, options, async ({ query, caller }) => {
    const { q = null, limit = defaultLimit } = query;
    const range = exactRange(query, now());
    return {
      body: await reads(async (db: OpenDatabase['kysely']) =>
        readFacets(db, { ...namesIn(query), ...range, ...(await scopeOf(db, caller)) }, q, limit),
      ),
    };
  });

  serveRoute(scope, contract.readUsage, options, async ({ parameters: { id }, caller }) =>
    reads(async (db) => {
      const entry = await findUsage(db, id, await scopeOf(db, caller));
      if (entry === null) throw new ApiError('not_found', 'there is no such request');
      return { body: await describeUsage(db, entry, await textsOf(db, id, caller)) };
    }),
  );
}

const noTexts: ReadonlyMap<number, string> = new Map();

/**
 * The texts of a request's errors, by the attempt (`errorTexts`): all of them for those who run the gateway. Everybody
 * else may read the message that they themselves got.
 */
async function textsOf(
  db: OpenDatabase['kysely'],
  id: string,
  { permissions, session }: Caller,
): Promise<ReadonlyMap<number, string>> {
  const texts = await errorTexts(db, id);
  if (texts.size === 0 || permissions.includes('errors.read')) return texts;
  const message = texts.get(0);
  const isTheirs =
    message !== undefined &&
    session !== null &&
    (await findUsage(db, id, { userId: session.user.id })) !== null;
  return isTheirs ? new Map([[0, message]]) : noTexts;
}

/** Lengths of bars in milliseconds. */
const steps = [
  1_000, 10_000, 60_000, 300_000, 900_000, 3_600_000, 10_800_000, 21_600_000, 86_400_000,
  604_800_000,
];
const mostBars = 120;

/** The shortest bars of which not too many are needed. @throws ApiError `invalid` for centuries */
function stepOf({ from, to }: { readonly from: number; readonly to: number }): number {
  const step = steps.find((length) => (to - from) / length <= mostBars);
  if (step !== undefined) return step;
  const widest = 30 * 86_400_000;
  if ((to - from) / widest <= mostBars + 5) return widest;
  throw tooLong('expected a range of at most ten years');
}
