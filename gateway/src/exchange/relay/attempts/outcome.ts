import {
  type ReportedUsage,
  saysNothing,
  type TokenCounts,
  type TokenUsage,
} from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { brokenEndingIn } from '#protocols/index.ts';
import type { AttemptResult } from '#routing/index.ts';
import { retryAfterOf, type UpstreamHeaders } from '#upstream/index.ts';
import { type AttemptClass, type AttemptRecord, unitsOf, type UnitsRecord } from '#usage/index.ts';
import { type Classification, classifyFailure, wordsOf } from '#vendors/index.ts';
import type { SentRequest, Tried } from '../ending/record.ts';

/** An attempt that failed before the client saw any of the response, so that another channel may still be tried. */
export interface AttemptFailure {
  readonly kind: 'failed';
  readonly class: Exclude<AttemptClass, 'shown'>;
  readonly classification: Classification;
  readonly status: number | null;
  /** A short word for the usage row. */
  readonly result: string;
  /**
   * The connection was idle and the upstream closed it just as it was used again: the same channel gets one more try.
   */
  readonly stale: boolean;
  /** Usage that the upstream reported although it failed; the operator pays for it. */
  readonly usage?: ReportedUsage | null;
  /** The same for what is not counted in tokens. */
  readonly units?: UnitsRecord;
  /** The upstream's own words, as they came. Absent or null: it had none. */
  readonly words?: string | null;
  /** The client's error, if the channel is not to blame. No other channel is tried then. */
  readonly final?: GatewayError;
}

/** A complete response. */
export interface CompleteAttempt<Result = unknown> {
  readonly kind: 'complete';
  readonly status: number;
  readonly response: Result;
}

/** The response broke off after the client had seen content. */
export interface BrokenAttempt<Seen = unknown> {
  readonly kind: 'broken';
  readonly status: number;
  readonly error: GatewayError;
  /** What the break says about the channel; null when the channel did not cause it. */
  readonly classification: Classification | null;
  readonly usage: ReportedUsage | null;
  /** The client pays for what came. Absent: it does not, and the usage is the operator's. */
  readonly isPaid?: boolean;
  /** The same for what is not counted in tokens. Absent: nothing. */
  readonly units?: UnitsRecord;
  readonly result: string;
  readonly seenResponse: Seen;
}

/**
 * The client left before the end. The upstream was cancelled, or its response was read to the end to learn its cost.
 */
export interface DisconnectedAttempt<Seen = unknown> {
  readonly kind: 'disconnected';
  /** The request had been sent, whether or not the upstream had responded. */
  readonly isSent: boolean;
  readonly status: number | null;
  readonly isShown: boolean;
  /** Absent: the client closed its connection. */
  readonly result?: 'client-deadline';
  /** Null: a response that is not streamed is not measured before its end. */
  readonly seenResponse: Seen | null;
}

/**
 * How one attempt ended. `Result`: a complete response. `Seen`: what is known of a stream that broke, or whose client
 * left.
 */
export type OutcomeOf<Result, Seen> =
  | AttemptFailure
  | CompleteAttempt<Result>
  | BrokenAttempt<Seen>
  | DisconnectedAttempt<Seen>;

export type AttemptOutcome = OutcomeOf<unknown, unknown>;

const abnormal: Classification = Object.freeze({
  kind: 'failover',
  as: 'abnormal',
  blame: 'channel',
});

/** A defect of the gateway: another channel may not trigger it, but this channel must not be avoided because of it. */
const ourDefect: Classification = Object.freeze({ ...abnormal, blame: 'none' });

/** How far a failed attempt got if the client has seen none of it. `status` 0: the upstream sent no head. */
export function reachOf(status: number, isSent: boolean): AttemptFailure['class'] {
  if (status !== 0) return 'started';
  return isSent ? 'uncertain' : 'not-sent';
}

/** The upstream broke off, or its response violates its protocol. `status` 0: it sent no head. */
export function brokenAttempt(
  status: number,
  attemptClass: AttemptFailure['class'],
  result: string,
): AttemptFailure {
  return {
    kind: 'failed',
    class: attemptClass,
    classification: result === 'defect' ? ourDefect : abnormal,
    status: status === 0 ? null : status,
    result,
    stale: false,
  };
}

/** The client left before the next channel was asked. */
export interface NotAsked {
  readonly kind: 'not-asked';
}

/** No channel answered, or the fault is the client's own. */
export interface WithoutResponse {
  readonly kind: 'unanswered';
  /** The client's error. Anything but a GatewayError is a defect of the gateway. */
  readonly error: unknown;
}

/** Everything that is known when the attempts are over. */
export interface Attempted<Sent extends SentRequest, Result, Seen> extends Tried<Sent> {
  readonly outcome: Exclude<OutcomeOf<Result, Seen>, AttemptFailure> | NotAsked | WithoutResponse;
}

/** What the end of an attempt says about the channel's health. */
export function resultForHealth(outcome: AttemptOutcome): AttemptResult {
  switch (outcome.kind) {
    case 'complete':
      return 'answered';
    case 'failed': {
      const { classification, final } = outcome;
      return classification.kind === 'client' || final !== undefined ? 'undecided' : classification;
    }
    case 'disconnected':
      return outcome.isShown ? 'answered' : 'undecided';
    case 'broken':
      // A response had begun and only took longer than the time limit, which does not show a sick channel.
      if (outcome.result === 'deadline') return 'undecided';
      return outcome.classification?.kind === 'failover' ? outcome.classification : 'undecided';
  }
}

/** How many bytes of an error response are read: enough to classify it. */
export const errorBodyLimit = 64 * 1024;

const partialContent = 206;

/**
 * Does the status mean that there is no result? Partial content (206) counts as an error too, because no request asks
 * for a range (RFC 9110, 15.3.7).
 */
export function isError(status: number): boolean {
  return status < 200 || status > 299 || status === partialContent;
}

/** Classifies an upstream's error response. Its text is not passed on to the client. */
export function failureOfResponse(
  status: number | null,
  headers: UpstreamHeaders,
  body: unknown,
): AttemptFailure {
  const ending = brokenEndingIn(body);
  const classification = ending?.isSpoilt
    ? spoilt
    : classifyFailure({ status, body, retryAfter: retryAfterOf(headers) });
  const result = ending?.result ?? wordOf(classification);
  const words = wordsOf(body);
  return { kind: 'failed', class: 'started', classification, status, result, stale: false, words };
}

/** The word of a failure in rows and sums: what is to blame, where that says more than the client's error. */
function wordOf(classification: Classification): string {
  if (classification.kind === 'client') return classification.error;
  const { blame, as } = classification;
  if (blame === 'credential') return 'credential-refused';
  return blame === 'model' && as === 'abnormal' ? 'model-refused' : as;
}

const spoilt: Classification = Object.freeze({ kind: 'failover', as: 'abnormal', blame: 'none' });

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // Not JSON (an HTML page, an empty body): only the status is left to judge by.
    return null;
  }
}

/**
 * The entry that one attempt leaves in the usage row. Units of time are those of `AttemptRecord`.
 * @param words of the upstream about its failure, cleaned; null: none are kept
 */
export function recordAttempt(
  outcome: AttemptOutcome,
  headers: UpstreamHeaders,
  when: Pick<AttemptRecord, 'channel' | 'startedAt' | 'durationMs'>,
  words: string | null = null,
): AttemptRecord {
  const isComplete = outcome.kind === 'complete';
  const requestId = headers['x-request-id'] ?? headers['request-id'];
  const health = resultForHealth(outcome);
  // A connection that had idled too long says nothing, and the same channel is asked again.
  const isStale = outcome.kind === 'failed' && outcome.stale;
  return {
    channel: when.channel,
    class: isComplete ? 'shown' : classOf(outcome),
    status: outcome.status,
    result: isComplete ? 'completed' : resultOf(outcome),
    ...(typeof health === 'object' && !isStale && { blame: health.blame }),
    startedAt: when.startedAt,
    durationMs: Math.round(when.durationMs),
    upstreamRequestId: typeof requestId === 'string' ? requestId.slice(0, 100) : null,
    ...(!isComplete && unpaidOf(outcome)),
    ...(words !== null && { words }),
  };
}

type Incomplete = Exclude<AttemptOutcome, { readonly kind: 'complete' }>;

function classOf(outcome: Incomplete): AttemptClass {
  if (outcome.kind === 'failed') return outcome.class;
  if (outcome.kind === 'broken' || outcome.isShown) return 'shown';
  return reachOf(outcome.status ?? 0, outcome.isSent);
}

function resultOf(outcome: Incomplete): string {
  return outcome.kind === 'disconnected' ? (outcome.result ?? 'client-left') : outcome.result;
}

/** What an upstream charges to the operator although the client got no response. */
function unpaidOf(outcome: Incomplete): Pick<AttemptRecord, 'usage' | 'units'> {
  const isUnpaid =
    outcome.kind === 'failed' || (outcome.kind === 'broken' && outcome.isPaid !== true);
  if (!isUnpaid) return {};
  const { usage = null, units: madeUnits } = outcome;
  const unpaid = usage === null || saysNothing(usage) ? null : usage;
  const units = unitsOf(madeUnits, unpaid?.tokens);
  return {
    ...(unpaid !== null && { usage: countsOf(unpaid.tokens) }),
    ...(units !== null && { units }),
  };
}

function countsOf(tokens: TokenUsage): TokenCounts {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning } = tokens;
  return { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning };
}
