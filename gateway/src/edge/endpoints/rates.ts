import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller } from '#identity/index.ts';
import type { Counters, RateDecision, RateLimit } from '#limits/index.ts';
import { GatewayError } from '#errors/index.ts';
import { callerOf } from './caller-of.ts';

const minute = 60_000;
const hour = 3_600_000;
/** What costs nothing is asked for in bursts, by dozens; only a loop gone wild asks this often. */
const freePerMinute = 600;
/** Bytes. */
const shortBody = 65_536;

/**
 * `generation`: counts against the rates and takes a slot. `free`: token counts and lists, which have a guard of
 * their own.
 */
type CallKind = 'generation' | 'free';

/** The hooks that count against the rates of a key, for requests of one kind. */
export interface RateHooks {
  readonly generation: onRequestHookHandler;
  readonly free: onRequestHookHandler;
  by(kindOf: (request: FastifyRequest) => CallKind): onRequestHookHandler;
}

/** Keys whose requests are refused so often that they are not read for a while. */
export interface RefusalGuard {
  /** Whole seconds; null: they are read. */
  closedFor(keyId: string): number | null;
}

interface Limits {
  readonly generation: readonly RateLimit[];
  readonly free: readonly RateLimit[];
}

/** Built once per caller; a changed key is a new caller. */
const known = new WeakMap<Caller, Limits>();

/**
 * @param refusals says which keys ask in vain too often
 * @param onLateRefusal told of a refusal that no hook reports, because the request has gone on meanwhile
 */
export function createRateHooks(
  counters: Counters,
  refusals: RefusalGuard,
  onLateRefusal: (refusal: Error) => void,
): RateHooks {
  const by: RateHooks['by'] = (kindOf) => createRateHook(counters, refusals, onLateRefusal, kindOf);
  return { generation: by(() => 'generation'), free: by(() => 'free'), by };
}

/**
 * The hook that counts a request against its key's and team's rates before anything of its body is read, or while a
 * short one is, when the answer takes its time: then the money can be asked for right behind. Refused requests are not
 * counted, and whatever refuses one later keeps the count and gives the slot back.
 *
 * @param kindOf asked per request, since one path can serve both kinds
 */
function createRateHook(
  counters: Counters,
  refusals: RefusalGuard,
  onLateRefusal: (refusal: Error) => void,
  kindOf: (request: FastifyRequest) => CallKind,
): onRequestHookHandler {
  return function countRates(request, _reply, done) {
    const kind = kindOf(request);
    // The one whose slot it takes, even if the key's settings change before the answer is there.
    const caller = callerOf(request);
    const retryAfter = refusals.closedFor(caller.keyId);
    if (retryAfter !== null) {
      done(new GatewayError('rate_limited', { retryAfter }));
      return;
    }
    const limits = limitsOf(caller)[kind];
    if (limits.length === 0) {
      done();
      return;
    }
    const decision = counters.admit({ id: request.id, limits });
    if (!(decision instanceof Promise)) {
      done(refusalOf(counters, request, caller, decision));
      return;
    }
    const refusal = settle(counters, request, caller, decision);
    if (kind === 'generation' && isShort(request)) {
      request.undecided = refusal;
      void pass(refusal, (refused) => {
        if (refused !== undefined) onLateRefusal(refused);
      });
      done();
    } else void pass(refusal, done);
  };
}

async function settle(
  counters: Counters,
  request: FastifyRequest,
  caller: Caller,
  decision: Promise<RateDecision>,
): Promise<Error | undefined> {
  try {
    return refusalOf(counters, request, caller, await decision);
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

/** Read whether or not it is refused: it is here already, as a rule, and nobody waits to be invited to send it. */
function isShort({ raw: { headers } }: FastifyRequest): boolean {
  return Number(headers['content-length']) <= shortBody && headers.expect === undefined;
}

/** Undefined when the request may go on; then its slot is given back when its answer is out. */
function refusalOf(
  counters: Counters,
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
  const { place, id } = request;
  if (place !== null && caller.maxConcurrency !== null) {
    place.onLeave(() => counters.leave(id));
  }
  return undefined;
}

function limitsOf(caller: Caller): Limits {
  let limits = known.get(caller);
  if (limits === undefined) known.set(caller, (limits = build(caller)));
  return limits;
}

function build({ keyId, rpm, rph, maxConcurrency, team }: Caller): Limits {
  const generation: RateLimit[] = [];
  const add = (name: string, limit: number | null | undefined, windowMs: number): void => {
    if (typeof limit === 'number') generation.push({ name, limit, windowMs });
  };
  add(`key:${keyId}:rpm`, rpm, minute);
  add(`key:${keyId}:rph`, rph, hour);
  add(`key:${keyId}:concurrency`, maxConcurrency, 0);
  if (team !== null) add(`team:${team.id}:rpm`, team.rpm, minute);
  const free = { name: `key:${keyId}:burst`, limit: freePerMinute, windowMs: minute };
  return { generation, free: [free] };
}
