import type { FastifyInstance } from 'fastify';
import { formatUsd, type OpenDatabase, parseUsd } from '#database/index.ts';
import {
  findUsage,
  listUsage,
  sumUsage,
  wholeHours,
  type UsageEntry,
  type UsageFilter,
} from '#usage/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import type { SignedInCaller } from '../sessions/guard.ts';
import { createSlots } from '../sessions/slots.ts';

export interface UsageRoutesOptions extends ServeOptions {
  /** A connection of its own, so that no request for a model waits for a page. */
  readonly reading: () => OpenDatabase;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const defaultSpan = 30 * 86_400_000;
const defaultLimit = 50;
/** Reads at a time, and how many may wait. */
const readsAtOnce = 4;
const readsWaiting = 60;

/** Requests and their sums. */
export function usageRoutes(scope: FastifyInstance, options: UsageRoutesOptions): void {
  const { reading, now } = options;
  const slots = createSlots(readsAtOnce, readsWaiting);
  const read = <Result>(work: (db: OpenDatabase['kysely']) => Promise<Result>) =>
    slots.run(() => fromDatabase(() => work(reading().kysely)));

  serveRoute(scope, contract.listUsage, options, async ({ query, caller }) => {
    const { status, min_cost, min_ms, ...rest } = query;
    const filter: UsageFilter = withoutAbsent({
      limit: defaultLimit,
      ...rest,
      from: rest.from ?? now() - defaultSpan,
      ...ownOnly(caller),
      statuses: status === undefined ? undefined : statusesOf(status),
      minCost: min_cost === undefined ? undefined : parseUsd(min_cost),
      minDuration: min_ms,
    });
    const page = await read((db) => listUsage(db, filter).catch(asInvalid));
    return { body: { data: page.data.map(rowOf), next: page.next } };
  });

  serveRoute(scope, contract.sumUsage, options, async ({ query, caller }) => {
    const { by, ...rest } = query;
    const to = rest.to ?? now();
    const { from, to: end } = wholeHours({ from: rest.from ?? to - defaultSpan, to });
    const filter = withoutAbsent({ ...rest, from, to: end, ...ownOnly(caller) });
    const sums = await read((db) => sumUsage(db, filter, by));
    return {
      body: {
        from: new Date(from).toISOString(),
        to: new Date(end).toISOString(),
        cost: formatUsd(sums.reduce((total, { cost }) => total + cost, 0n)),
        requests: sums.reduce((total, { requests }) => total + requests, 0),
        failed: sums.reduce((total, { failed }) => total + failed, 0),
        data: sums.map((sum) => ({ ...sum, cost: formatUsd(sum.cost) })),
      },
    };
  });

  serveRoute(scope, contract.readUsage, options, async ({ parameters, caller }) => {
    const { userId } = ownOnly(caller);
    const entry = await read((db) => findUsage(db, parameters.id, userId));
    if (entry === null) throw new ApiError('not_found', 'there is no such request');
    const { receipt } = entry;
    return { body: { ...rowOf(entry), receipt: receipt === null ? null : [...receipt] } };
  });
}

/** People without the permission to read everything see their own requests. */
function ownOnly({ permissions, session }: SignedInCaller): { readonly userId?: string } {
  return permissions.includes('usage.read') ? {} : { userId: session.user.id };
}

/** Lists that may be changed, as schemas infer them. */
function rowOf<Entry extends UsageEntry>(entry: Entry) {
  const { attempts, rewrites, losses } = entry;
  return { ...entry, attempts: [...attempts], rewrites: [...rewrites], losses: [...losses] };
}

function statusesOf(text: string): readonly [number, number] {
  const first = Number(text.slice(0, 1)) * 100;
  return text.endsWith('xx') ? [first, first + 99] : [Number(text), Number(text)];
}

function asInvalid(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  throw new ApiError('invalid', error.message, {
    fields: [{ path: 'cursor', message: error.message }],
  });
}

type Present<Values> = { [Name in keyof Values]: Exclude<Values[Name], undefined> };

function withoutAbsent<Values extends object>(values: Values): Present<Values> {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Present<Values>;
}
