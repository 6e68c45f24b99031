import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ConvertedRequest } from '#conversion/index.ts';
import { readTokenCount } from '#protocols/index.ts';
import { vendorOf } from '#vendors/index.ts';
import type { Admission } from '#routing/index.ts';
import { recordAttempt } from '../attempts/attempt-record.ts';
import { BufferedAttempt } from '../attempts/buffered-attempt.ts';
import { clientDeadline } from '../attempts/deadlines.ts';
import { errorOfFailure } from '../attempts/error-of-failure.ts';
import type { AttemptFailure, AttemptOutcome } from '../attempts/outcome.ts';
import { largeRequestFor, requestFor } from '../attempts/route-request.ts';
import { buildUpstreamRequest } from '../attempts/upstream-request.ts';
import type { DrainSlots } from '../drain-slots.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { RelayParts } from '../parts.ts';
import type { Prepared } from '../prepare.ts';
import type { CountedRequests } from './counted-requests.ts';
import { createCounterRests, type CounterRests } from './counter-rests.ts';
import type { CounterWay } from './counter-ways.ts';

/** A count that takes longer than this, all counters together, is worth less than an estimate. */
const patienceMs = 5_000;
const maxAsked = 2;
/** An upstream that has no counter, or none for this model, will hardly get one soon; others may recover. */
const missingRestMs = 10 * 60_000;
const failedRestMs = 30_000;

/** Nobody pays for a count, so nothing is read on for a client that has left. */
const noDrains: DrainSlots = Object.freeze({ take: () => false, release: () => {} });

/** The upstream's answer as it came; `left`: the client did not wait; null: no counter answered. */
export type UpstreamCount = Buffer | 'left' | null;

/**
 * Asks counters in turn. What becomes of it says nothing about a channel's health, and only what is in good health is
 * asked.
 * @throws GatewayError when a counter of the client's own protocol says that the fault is the client's.
 */
export type AskCounters = (
  state: ExchangeState,
  prepared: Prepared,
  ways: readonly CounterWay[],
  requests: Pick<CountedRequests, 'of'>,
) => Promise<UpstreamCount>;

export function createCounterAsking(parts: RelayParts): AskCounters {
  const rests = createCounterRests();
  const { health, clock } = parts;
  return async function askCounters(state, prepared, ways, requests) {
    const { client } = state.input;
    const deadline = Math.min(clock.monotonic() + patienceMs, clientDeadline(state.input));
    let asked = 0;
    for (const { route, protocol } of ways) {
      if (client.left) return 'left';
      const now = clock.monotonic();
      if (asked === maxAsked || now >= deadline) break;
      // A channel on trial is tried with a real request, not with this.
      if (rests.isResting(route, now) || health.read(route.channel, now).breaker !== 'closed') {
        continue;
      }
      const isNative = protocol === state.input.protocol;
      const converted = isNative ? null : await requests.of(route, protocol);
      if (!isNative && converted === null) continue;
      const admission = health.admit(route, false, false, now);
      if (!admission.admitted) continue;
      asked += 1;
      try {
        const way = { route, protocol, converted, admission, deadline };
        const outcome = await askOnce(parts, state, prepared, way);
        if (outcome.kind === 'left') return 'left';
        if (outcome.kind === 'complete') return outcome.body[0] as Buffer;
        if (outcome.kind !== 'failed') throw new GatewayError('internal_error');
        if (outcome.final !== undefined) throw outcome.final;
        if (outcome.classification.kind !== 'client') {
          // It may be what the request names that is missing, rather than the counter.
          if (!isNative || prepared.request.named === undefined || !isRefusal(outcome)) {
            rest(rests, route, outcome, clock.monotonic());
          }
        } else if (isNative) throw errorOfFailure(outcome, prepared.request);
      } finally {
        health.settle(admission, route, 'undecided', clock.monotonic());
      }
    }
    return null;
  };
}

interface Asking extends CounterWay {
  /** Null for the client's own protocol. */
  readonly converted: ConvertedRequest | null;
  readonly admission: Admission;
  /** Monotonic milliseconds. */
  readonly deadline: number;
}

/** One counter, asked once more when the connection was a stale one. */
async function askOnce(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
  way: Asking,
): Promise<AttemptOutcome> {
  const outcome = await send(parts, state, prepared, way);
  return outcome.kind === 'failed' && outcome.stale ? send(parts, state, prepared, way) : outcome;
}

async function send(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
  { route, protocol, converted, admission, deadline }: Asking,
): Promise<AttemptOutcome> {
  const { input } = state;
  const { clock } = parts;
  const provider = vendorOf(route.channel);
  if (provider === undefined) throw new GatewayError('internal_error');
  const { patched, betas } =
    prepared.large?.isRead && converted === null
      ? await largeRequestFor(state, prepared, prepared.large, route)
      : requestFor(parts, state, prepared, route, converted);
  const startedAt = clock.now();
  const started = clock.monotonic();
  const asked = buildUpstreamRequest({
    input,
    route,
    provider,
    secret: admission.secret,
    protocol,
    patched,
    betas,
    stream: false,
    timeouts: parts.timeouts,
  });
  const attempt = new BufferedAttempt(asked, {
    upstream: parts.upstream,
    protocol: { readResponse: (body) => readTokenCount(protocol, input.protocol, body) },
    wire: null,
    provider,
    echo: { clientModel: prepared.request.model, upstreamModel: route.upstreamModel },
    client: input.client,
    large: null,
    takeGiven: null,
    watch: parts.watch,
    drains: noDrains,
    deadline,
    clientDeadline: Number.POSITIVE_INFINITY,
    onDefect: (error) => parts.onUnexpectedError(error, input.id),
  });
  const outcome = await attempt.outcome;
  state.attempts.push(
    recordAttempt(outcome, attempt.upstreamHeaders, {
      channel: route.channel.name,
      startedAt,
      durationMs: clock.monotonic() - started,
    }),
  );
  return outcome;
}

/** With these an upstream says that it has no such model, or not what the request names. */
function isRefusal({ status }: AttemptFailure): boolean {
  return status === 403 || status === 404;
}

function rest(rests: CounterRests, route: Route, outcome: AttemptFailure, now: number): void {
  const { status, classification } = outcome;
  const wait =
    classification.kind === 'failover' && classification.coolDownSeconds !== undefined
      ? classification.coolDownSeconds * 1000
      : failedRestMs;
  const isMissing = status === 404 || status === 405 || status === 501;
  rests.rest(route, now + (isMissing ? missingRestMs : wait));
}
