import type { FastifyInstance } from 'fastify';
import { parseTimestamp } from '#config/index.ts';
import type { Money } from '#limits/index.ts';
import { GatewayError } from '#errors/index.ts';
import { respondJson } from '#http/index.ts';
import { encodeOwnUsage, type UsageSum } from '#usage/index.ts';
import { callerOf } from '../authentication.ts';
import type { EndpointContext } from '../context.ts';
import { queryText } from '../query.ts';
import { limitsOf, type StoredSums } from './limits-of.ts';

/** The sources of the numbers. */
export interface UsageSource extends StoredSums {
  /** Sums of one key's requests; see `usage/`. */
  sums(question: UsageQuestion & { readonly keyId: string }): Promise<readonly UsageSum[]>;
}

export interface UsageQuestion {
  /** Unix milliseconds, a whole hour. */
  readonly from: number;
  readonly to: number;
  readonly by: 'model' | 'day';
}

export interface UsageRouteOptions {
  readonly usage: UsageSource;
  readonly money: Pick<Money, 'read'>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const hour = 3_600_000;
const defaultSpan = 30 * 24 * hour;

/**
 * `GET /v1/usage`: what the key itself has used and may still use; no vendor's API has it. It never shows requests of
 * others, though shared limits show what others left of them.
 */
export function usageRoute(context: EndpointContext, options: UsageRouteOptions) {
  const { usage, money, now } = options;
  return function ownUsage(scope: FastifyInstance, _options: object, done: () => void): void {
    context.authenticate(scope, { queryKey: false });
    scope.get('/v1/usage', { onRequest: context.countRates.free }, async (request, reply) => {
      const caller = callerOf(request);
      const question = parseQuestion(request.query, now());
      try {
        const [sums, limits] = await Promise.all([
          usage.sums({ ...question, keyId: caller.keyId }),
          limitsOf(caller, now(), money, usage),
        ]);
        respondJson(request, reply, 200, encodeOwnUsage({ ...question, sums, limits }));
      } catch (cause) {
        throw cause instanceof GatewayError ? cause : new GatewayError('unavailable', { cause });
      }
    });
    done();
  };
}

/** @throws GatewayError for an invalid time, range or grouping. */
function parseQuestion(query: unknown, now: number): UsageQuestion {
  const to = parseTime(query, 'to') ?? now;
  const requestedFrom = parseTime(query, 'from') ?? to - defaultSpan;
  // Sums are stored by the hour.
  const from = requestedFrom - (requestedFrom % hour);
  if (from >= to) throw invalid('from', 'from must be earlier than to');
  const by = queryText(query, 'group_by') ?? 'model';
  if (by !== 'model' && by !== 'day') {
    throw invalid('group_by', "group_by must be 'model' or 'day'");
  }
  return { from, to, by };
}

function parseTime(query: unknown, name: 'from' | 'to'): number | null {
  const text = queryText(query, name);
  if (text === null) return null;
  const time = parseTimestamp(text);
  if (time === null || time < 0) {
    throw invalid(name, `${name} must be a time with its zone such as 2027-01-01T00:00:00Z`);
  }
  return time;
}

function invalid(param: string, reason: string): GatewayError {
  return new GatewayError('invalid_value', { param, values: { reason } });
}
