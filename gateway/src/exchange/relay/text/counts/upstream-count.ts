import { largeResponse } from '#body-work/index.ts';
import type { TextProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { type Conversion, type ConvertedRequest, MediaWanted } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { readTokenCount, type WireResponse } from '#protocols/index.ts';
import { type ChannelLease, upstreamProtocols } from '#routing/index.ts';
import type { AttemptRecord } from '#usage/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { clientDeadline } from '../../attempts/deadlines.ts';
import { Attempt } from '../../attempts/attempt.ts';
import { errorOfFailure } from '../../attempts/final-error.ts';
import { type AttemptFailure, type OutcomeOf, recordAttempt } from '../../attempts/outcome.ts';
import type { ResponseReader } from '../../attempts/response-reader.ts';
import { WholeResponse } from '../../attempts/whole-response.ts';
import type { TextInput, TextParts, TextSent } from '../input.ts';
import type { PreparedText } from '../prepared.ts';
import { isBodyGone, openConversion, targetOf } from '../route-conversions.ts';
import { requestFor, upstreamRequest } from '../route-request.ts';

/** After this time, for all counters together, an estimate is worth more than a count. */
const patienceMs = 5_000;
const maxCounters = 2;
/** An upstream without a counter, or without one for this model, will hardly get one soon; other failures may pass. */
const missingRestMs = 10 * 60_000;
const failedRestMs = 30_000;

/** The upstream's response as it came; `disconnected`: the client did not wait; null: no counter responded. */
export type UpstreamCount = Buffer | 'disconnected' | null;

/** The attempts at counters so far, for the row. */
export interface CountersTried {
  readonly attempts: AttemptRecord[];
  sentRequest: TextSent | null;
}

/**
 * Asks one counter after the other. Only healthy channels are asked, and the outcomes do not affect their health.
 * @param triedCounters gets what is sent, even when this rejects.
 * @throws GatewayError when a counter of the client's own protocol says that the client is to blame.
 */
export type AskCounters = (
  input: TextInput,
  preparedText: PreparedText,
  counters: readonly CountRoute[],
  requests: Pick<CountedRequests, 'of'>,
  triedCounters: CountersTried,
) => Promise<UpstreamCount>;

type CountParts = Pick<
  TextParts,
  | 'protocols'
  | 'converter'
  | 'health'
  | 'clock'
  | 'timeouts'
  | 'upstream'
  | 'ticker'
  | 'drains'
  | 'onUnexpectedError'
>;

export function createUpstreamCounting(parts: CountParts): AskCounters {
  const rests = createCounterRests();
  const { health, clock } = parts;
  return async function askCounters(input, preparedText, counters, requests, triedCounters) {
    const { client } = input;
    const deadline = Math.min(clock.monotonic() + patienceMs, clientDeadline(input));
    let calledCounters = 0;
    for (const { route, protocol } of counters) {
      if (client.disconnected) return 'disconnected';
      const now = clock.monotonic();
      if (calledCounters === maxCounters || now >= deadline) break;
      // A channel that is on trial after failures is tried with a real request, not with a count.
      if (rests.isResting(route, now) || health.read(route.channel, now).breaker !== 'closed') {
        continue;
      }
      const isNative = protocol === input.protocol;
      const convertedRequest = isNative ? null : await requests.of(route, protocol);
      if (!isNative && convertedRequest === null) continue;
      const lease = health.lease(route, false, false, now);
      if (!lease.admitted) continue;
      calledCounters += 1;
      try {
        const counter = { route, protocol, convertedRequest, lease, deadline };
        const outcome = await askOnce(parts, input, preparedText, counter, triedCounters);
        if (outcome.kind === 'complete') return outcome.response.body;
        if (outcome.kind !== 'failed') return 'disconnected';
        if (outcome.final !== undefined) throw outcome.final;
        if (outcome.classification.kind !== 'client') {
          // The upstream may be missing what the request names, rather than the counter.
          if (!isNative || preparedText.request.namedStates === undefined || !isRefusal(outcome)) {
            rest(rests, route, outcome, clock.monotonic());
          }
        } else if (isNative) throw errorOfFailure(outcome, preparedText.request.json);
      } finally {
        health.reportOutcome(lease, route, 'undecided', clock.monotonic());
      }
    }
    return null;
  };
}

interface Asking extends CountRoute {
  /** Null for the client's own protocol. */
  readonly convertedRequest: ConvertedRequest | null;
  readonly lease: ChannelLease;
  /** Monotonic milliseconds. */
  readonly deadline: number;
}

/** Asks one counter, and once more if the connection was stale. */
async function askOnce(
  parts: CountParts,
  input: TextInput,
  preparedText: PreparedText,
  counter: Asking,
  triedCounters: CountersTried,
): Promise<OutcomeOf<WireResponse, never>> {
  const outcome = await send(parts, input, preparedText, counter, triedCounters);
  return outcome.kind === 'failed' && outcome.stale
    ? send(parts, input, preparedText, counter, triedCounters)
    : outcome;
}

async function send(
  parts: CountParts,
  input: TextInput,
  preparedText: PreparedText,
  { route, protocol, convertedRequest, lease, deadline }: Asking,
  triedCounters: CountersTried,
): Promise<OutcomeOf<WireResponse, never>> {
  const { clock } = parts;
  const building = requestFor(parts, input, preparedText, route, convertedRequest);
  const request = building instanceof Promise ? await building : building;
  triedCounters.sentRequest = request.sentRequest;
  const startedAt = clock.now();
  const counterRequest = {
    upstream: upstreamRequest(parts, input, request, lease.secret, false),
    receiver: new WholeResponse(countReader(protocol, input.protocol)),
    // Counting is free, so nothing is read for a client that has left.
    onLeave: 'cancel',
  } as const;
  const attempt = new Attempt(parts, input, counterRequest, deadline, Number.POSITIVE_INFINITY);
  const outcome = await attempt.outcome;
  triedCounters.attempts.push(
    recordAttempt(outcome, attempt.upstreamHeaders, {
      channel: route.channel.name,
      startedAt,
      durationMs: clock.monotonic() - attempt.startedAt,
    }),
  );
  return outcome;
}

/** A count is always small enough to be read in this thread. */
function countReader(
  upstream: TextProtocolName,
  client: TextProtocolName,
): ResponseReader<WireResponse> {
  return { largest: largeResponse, read: (body) => readTokenCount(upstream, client, body) };
}

/** These statuses mean that the upstream lacks the model, or what the request names. */
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

/** A route whose upstream can count tokens. */
export interface CountRoute {
  readonly route: Route;
  /** The protocol of the counter; the request is converted unless it is the client's. */
  readonly protocol: TextProtocolName;
}

/**
 * The routes that can count. Those of the client's own protocol come first, because nothing has to be converted for
 * them; otherwise the order stays. A channel that responds in a protocol without a counter (chat) may count in another
 * protocol that it speaks.
 */
export function countRoutes(routes: readonly Route[], client: TextProtocolName): CountRoute[] {
  const countableRoutes = routes.flatMap((route): CountRoute[] => {
    const { protocols } = route.channel;
    const able =
      vendorOf(route.channel)?.countsTokensIn.filter((each) => protocols.includes(each)) ?? [];
    const protocol =
      able.find((each) => each === client) ??
      able.toSorted((a, b) => protocols.indexOf(a) - protocols.indexOf(b))[0];
    return protocol === undefined ? [] : [{ route, protocol }];
  });
  const isNative = ({ protocol }: CountRoute): boolean => protocol === client;
  return [
    ...countableRoutes.filter(isNative),
    ...countableRoutes.filter((route) => !isNative(route)),
  ];
}

/**
 * The counters that failed, and until when they are not asked again. This is separate from the health of channels: an
 * upstream that cannot count may well serve responses, and the reverse.
 */
export interface CounterRests {
  /** @param now milliseconds of a clock that never steps */
  isResting(route: Route, now: number): boolean;
  rest(route: Route, until: number): void;
}

export function createCounterRests(): CounterRests {
  const rests = new Map<string, number>();
  const keyOf = ({ channel, upstreamModel }: Route) => `${channel.id} ${upstreamModel}`;
  return {
    isResting(route, now) {
      const key = keyOf(route);
      const until = rests.get(key);
      if (until === undefined) return false;
      if (until > now) return true;
      rests.delete(key);
      return false;
    },
    rest(route, until) {
      rests.set(keyOf(route), until);
    },
  };
}

/** Converts one request for counters of other protocols than the client's. */
export interface CountedRequests {
  /** Null when the request cannot be sent there. */
  of(route: Route, protocol: TextProtocolName): Promise<ConvertedRequest | null>;
  /**
   * @throws GatewayError when no channel could serve the request either: with the reason that a request for a response
   * would get.
   */
  requireAnswerable(): Promise<void>;
}

export function createCountedRequests(
  parts: Pick<TextParts, 'converter'>,
  input: TextInput,
  preparedText: PreparedText,
): CountedRequests {
  const { protocol: client } = input;
  let conversion: Conversion | null = null;
  const convertedByRoute = new Map<string, ConvertedRequest | Error>();

  const make = async (
    route: Route,
    protocol: TextProtocolName,
  ): Promise<ConvertedRequest | Error> => {
    const key = `${protocol} ${route.channel.id} ${route.upstreamModel}`;
    const knownRequest = convertedByRoute.get(key);
    if (knownRequest !== undefined) return knownRequest;
    conversion ??= openConversion(parts, input, preparedText);
    const target = targetOf(route, protocol, preparedText);
    const convertedRequest = await conversion.convert(target).catch((error: unknown) => {
      if (isBodyGone(preparedText)) throw error;
      return refusalOf(error);
    });
    convertedByRoute.set(key, convertedRequest);
    return convertedRequest;
  };

  return {
    async of(route, protocol) {
      const convertedRequest = await make(route, protocol);
      return convertedRequest instanceof Error ? null : convertedRequest;
    },
    async requireAnswerable() {
      let refusal: GatewayError | null = null;
      for (const route of preparedText.routes) {
        const protocol = upstreamProtocols(route, client)[0];
        if (protocol === client || protocol === undefined) return;
        const convertedRequest = await make(route, protocol);
        if (!(convertedRequest instanceof GatewayError)) return;
        refusal ??= convertedRequest;
      }
      if (refusal !== null) throw refusal;
    },
  };
}

/**
 * The refusal, if the request is to blame or has media that are fetched only for a response. Any other error is a
 * defect of the gateway.
 */
function refusalOf(error: unknown): Error {
  if (error instanceof GatewayError || error instanceof MediaWanted) return error;
  throw error;
}
