import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller } from '#identity/index.ts';
import type { RateDecision, RateLimit, Rates } from '#limits/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import { callerOf } from './authentication.ts';

const minute = 60_000;
const hour = 3_600_000;
/** Clients send free requests in bursts of dozens; only a runaway loop sends this many. */
const freePerMinute = 600;
/** Bytes. */
const shortBody = 65_536;

/**
 * `generation`: counts against the rates and takes a slot. `free`: token counts and lists, with a separate limit.
 */
type CallKind = 'generation' | 'free';

/** The hooks that count requests of each kind against the rates of a key. */
export interface RateHooks {
  readonly generation: onRequestHookHandler;
  readonly free: onRequestHookHandler;
  by(kindOf: (request: FastifyRequest) => CallKind): onRequestHookHandler;
}

/** Keys whose requests are refused so often that they are not read for a while. */
export interface RefusalGuard {
  /** Whole seconds; null: the key's requests are read. */
  closedFor(keyId: string): number | null;
  /** Counts a refusal that came before the request was read: one row per key, error and minute. */
  note(record: ExchangeRecord): void;
}

interface Limits {
  readonly generation: readonly RateLimit[];
  readonly free: readonly RateLimit[];
}

/** Built once per caller; a changed key is a new caller. */
const limitsByCaller = new WeakMap<Caller, Limits>();

export interface RateHookOptions {
  /** Counts what keys and teams name. */
  readonly rates: Rates;
  /** Counts what this process guards itself by. */
  readonly guards: Rates;
  /** Knows the keys that are refused too often. */
  readonly refusals: Pick<RefusalGuard, 'closedFor'>;
  /** Receives a refusal that no hook reports, because the request has already continued. */
  readonly onLateRefusal: (refusal: Error, request: FastifyRequest) => void;
}

export function createRateHooks(options: RateHookOptions): RateHooks {
  const by: RateHooks['by'] = (kindOf) => createRateHook(options, kindOf);
  return { generation: by(() => 'generation'), free: by(() => 'free'), by };
}

/**
 * The hook that counts a request against its key's and team's rates before anything of its body is read. A short body
 * is read while a slow decision is pending. Refused requests are not counted; a later refusal keeps the count and
 * releases the slot.
 *
 * @param kindOf called per request, because one path can serve both kinds
 */
function createRateHook(
  { rates, guards, refusals, onLateRefusal }: RateHookOptions,
  kindOf: (request: FastifyRequest) => CallKind,
): onRequestHookHandler {
  return function countRates(request, _reply, done) {
    const kind = kindOf(request);
    // The caller whose slot it takes, even if the key's settings change before the decision.
    const caller = callerOf(request);
    const retryAfter = refusals.closedFor(caller.keyId);
    if (retryAfter !== null) {
      done(new GatewayError('rate_limited', { retryAfter }));
      return;
    }
    const limits = (limitsByCaller.get(caller) ?? buildLimits(caller))[kind];
    if (limits.length === 0) {
      done();
      return;
    }
    const counting = kind === 'free' ? guards : rates;
    const decision = counting.checkRates({ id: request.id, limits });
    if (!(decision instanceof Promise)) {
      done(refusalOf(rates, request, caller, decision));
      return;
    }
    const refusal = settle(rates, request, caller, decision);
    if (kind === 'generation' && isShort(request)) {
      request.pendingRateCheck = refusal;
      void pass(refusal, (lateRefusal) => {
        if (lateRefusal !== undefined) onLateRefusal(lateRefusal, request);
      });
      done();
    } else void pass(refusal, done);
  };
}

async function settle(
  rates: Rates,
  request: FastifyRequest,
  caller: Caller,
  decision: Promise<RateDecision>,
): Promise<Error | undefined> {
  try {
    return refusalOf(rates, request, caller, await decision);
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error('counting failed', { cause: thrown });
  }
}

async function pass(
  refusal: Promise<Error | undefined>,
  done: (refusal?: Error) => void,
): Promise<void> {
  done(await refusal);
}

/**
 * A short body is read even if it is refused: it has usually arrived, and no client waits for an invitation to send it.
 */
function isShort({ raw: { headers } }: FastifyRequest): boolean {
  return Number(headers['content-length']) <= shortBody && headers.expect === undefined;
}

/** Undefined if the request may continue; its slot is then released when the response is sent. */
function refusalOf(
  rates: Rates,
  request: FastifyRequest,
  caller: Caller,
  decision: RateDecision,
): GatewayError | undefined {
  if (!decision.admitted) {
    const { retryAfterMs } = decision;
    if (retryAfterMs === null) {
      return new GatewayError('rate_limited', { headers: { 'x-should-retry': 'false' } });
    }
    const retryAfter = Math.max(1, Math.ceil(retryAfterMs / 1000));
    return new GatewayError('rate_limited', { retryAfter });
  }
  const { slot, id } = request;
  if (slot !== null && caller.maxConcurrency !== null) {
    slot.onDisconnect(() => rates.leave(id));
  }
  return undefined;
}

function buildLimits(caller: Caller): Limits {
  const { keyId, rpm, rph, maxConcurrency, team } = caller;
  const generation: RateLimit[] = [];
  const add = (name: string, limit: number | null | undefined, windowMs: number): void => {
    if (typeof limit === 'number') generation.push({ name, limit, windowMs });
  };
  add(`key:${keyId}:rpm`, rpm, minute);
  add(`key:${keyId}:rph`, rph, hour);
  add(`key:${keyId}:concurrency`, maxConcurrency, 0);
  if (team !== null) add(`team:${team.id}:rpm`, team.rpm, minute);
  const free = { name: `key:${keyId}:burst`, limit: freePerMinute, windowMs: minute };
  const limits = { generation, free: [free] };
  limitsByCaller.set(caller, limits);
  return limits;
}
