import type { CostLine, PriceRates } from '#billing/index.ts';
import { type Loss, noTokens, type TokenUsage } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { lossCodes, lossHeader, type ResponseLosses } from '#conversion/index.ts';
import type { GatewayError } from '#errors/index.ts';
import {
  type AttemptRecord,
  type ChargeRecord,
  type ExchangeRecord,
  type Outcome,
  type PassedOver,
  type StateRecord,
  unitsOf,
  type UnitsRecord,
} from '#usage/index.ts';
import type { Exchange, ExchangeInput } from '../exchange.ts';

/** What is known about a request that was sent upstream: for the row and the response's headers. */
export interface SentRequest {
  /** The channel's name; null if no channel responded, so that the row names none. */
  readonly channel: string | null;
  readonly upstreamModel: string | null;
  /** The ids of the rewrites in this request. */
  readonly rewrites: readonly string[];
  /** Losses in converting the request. */
  readonly losses: readonly Loss[];
  /** Losses in converting the response, known at its end; null if nothing is converted. */
  readonly responseLosses: Pick<ResponseLosses, 'all'> | null;
  /** The ids in the response so far that its upstream keeps; null if there are none. */
  upstreamState: StateRecord | null;
  /** Milliseconds from the exchange's arrival to the first content; null if there was none. */
  ttftMs: number | null;
}

/** A request that is sent to a route as it came. */
export function sentTo({ channel, upstreamModel }: Route): SentRequest {
  return {
    channel: channel.name,
    upstreamModel,
    rewrites: [],
    losses: [],
    responseLosses: null,
    upstreamState: null,
    ttftMs: null,
  };
}

/** What happened to an exchange at the upstreams. */
export interface Tried<Sent extends SentRequest = SentRequest> {
  /** One for each request that was sent, in order. */
  readonly attempts: readonly AttemptRecord[];
  /** The last request that was sent; null if there was none. */
  readonly sentRequest: Sent | null;
  /** Absent if no channel was passed over. */
  readonly passed?: readonly PassedOver[];
}

/** For an exchange that ended before any upstream was asked. */
export const nothingTried: Tried<never> = Object.freeze({
  attempts: Object.freeze([]),
  sentRequest: null,
});

const noHeaders: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The headers that tell the client of rewrites and losses (`x-sluice-rewrites: b1,b2`).
 * @param sentRequest the request whose response the client gets; null if there is none.
 */
export function responseHeaders(
  sentRequest: Pick<SentRequest, 'rewrites' | 'losses'> | null,
): Readonly<Record<string, string>> {
  if (sentRequest === null) return noHeaders;
  const { rewrites, losses } = sentRequest;
  if (losses.length === 0) {
    return rewrites.length === 0 ? noHeaders : { 'x-sluice-rewrites': rewrites.join(',') };
  }
  const headerOfLosses = lossHeader(losses);
  return {
    ...(rewrites.length > 0 && { 'x-sluice-rewrites': rewrites.join(',') }),
    ...(headerOfLosses !== null && { 'x-sluice-conversion': headerOfLosses }),
  };
}

/** What an exchange used, as far as is known: for its row and its charge. */
export interface Measured {
  readonly tokens: TokenUsage;
  readonly source: ExchangeRecord['usageSource'];
  /** More than was asked for: it is believed only if it can be paid. Absent: no. */
  readonly isBeyondRequest?: boolean;
  /** What was made and used apart from tokens. Absent: nothing. */
  readonly units?: UnitsRecord;
  /** Counters of the report that nothing reads. Absent: none. */
  readonly unread?: readonly string[];
  /** The lines of the receipt at these rates. */
  readonly lines: (rates: PriceRates) => readonly CostLine[];
}

const noLines: readonly CostLine[] = Object.freeze([]);

/** Nothing was used that has to be paid. */
export const nothingUsed: Measured = Object.freeze({
  tokens: noTokens,
  source: 'none',
  lines: () => noLines,
});

/** So many names of channels stay below 1 KiB. */
const maxPassed = 8;

/** How an exchange ended. */
export interface Ending {
  readonly outcome: Outcome;
  /** The HTTP status the client got. */
  readonly status: number;
  readonly error: GatewayError | null;
  readonly measuredUsage: Measured;
  readonly triedRequests: Tried;
}

/** Makes the one row of the exchange. */
export function recordOf(
  { input, model, stream }: Exchange,
  { outcome, status, error, measuredUsage, triedRequests }: Ending,
  charge: ChargeRecord | null,
  durationMs: number,
): ExchangeRecord {
  const { caller } = input;
  const { attempts, sentRequest, passed } = triedRequests;
  const {
    upstreamState = null,
    ttftMs = null,
    losses = [],
    responseLosses = null,
  } = sentRequest ?? {};
  const allLosses = responseLosses === null ? losses : [...losses, ...responseLosses.all()];
  const units = unitsOf(measuredUsage.units, measuredUsage.tokens);
  return {
    id: input.id,
    time: input.arrivedAt,
    keyId: caller.keyId,
    userId: caller.userId,
    teamId: caller.teamId,
    group: caller.group,
    model: withoutKeys(model).slice(0, 200),
    upstreamModel: sentRequest?.upstreamModel ?? null,
    channel: sentRequest?.channel ?? null,
    protocol: input.protocol,
    operation: input.operation,
    stream,
    outcome,
    status,
    error: error?.errorName ?? null,
    attempts,
    tokens: measuredUsage.tokens,
    usageSource: measuredUsage.source,
    ttftMs: ttftMs === null ? null : Math.round(ttftMs),
    durationMs: Math.round(durationMs),
    rewrites: sentRequest?.rewrites ?? [],
    losses: allLosses.length === 0 ? [] : lossCodes(allLosses),
    userAgent: userAgentOf(input),
    charge,
    ...(passed !== undefined && passed.length > 0 && { route: passed.slice(0, maxPassed) }),
    ...(units !== null && { units }),
    ...(measuredUsage.unread !== undefined && { usageUnread: measuredUsage.unread }),
    ...(upstreamState !== null && { upstreamState }),
  };
}

/** The client's own name, as rows have it; null: it gave none. */
export function userAgentOf({ headers }: Pick<ExchangeInput, 'headers'>): string | null {
  const text = headers['user-agent'];
  return typeof text === 'string' ? withoutKeys(text).slice(0, 200) : null;
}

/** A user may configure the key as the model's name, and a key must not be stored. No model is named like a key. */
export function withoutKeys(text: string): string {
  return text.includes('sk-')
    ? text.replaceAll(/(?<![a-z0-9])sk-[\x21-\x7e]{16,}/gi, 'sk-…')
    : text;
}
