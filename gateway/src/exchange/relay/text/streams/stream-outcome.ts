import type { ReportedUsage } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { StreamTap } from '#protocols/index.ts';
import type { Classification } from '#vendors/index.ts';
import {
  brokenAttempt,
  reachOf,
  type AttemptFailure,
  type OutcomeOf,
} from '../../attempts/outcome.ts';
import { errorOfTextFailure } from '../error-of-text-failure.ts';

/** What is known of a streamed response. */
export interface SeenText {
  readonly tap: StreamTap;
}

export interface CompleteText extends SeenText {
  readonly usage: ReportedUsage | null;
  /** The bytes that the client gets once the row is durable. */
  readonly body: readonly (Buffer | string)[];
}

/** How an attempt of a streamed exchange ended. */
export type StreamOutcome = OutcomeOf<CompleteText, SeenText>;

/** What was known about a streamed response when it ended. */
export interface StreamSoFar {
  /** 0: the upstream sent no head. */
  readonly status: number;
  /** The upstream may have received the request. */
  readonly sent: boolean;
  readonly tap: StreamTap;
  /** The client has seen some of the response. */
  readonly shown: boolean;
  /** The upstream had been waiting for the client to read. */
  readonly heldUp: boolean;
}

/** The upstream failed. Another channel may be tried if the client has seen nothing. */
export function failedStream(soFar: StreamSoFar, failure: AttemptFailure): StreamOutcome {
  const { status, tap, shown } = soFar;
  if (shown) {
    const { result, classification } = failure;
    return brokenStream(soFar, errorOfTextFailure(failure, null), result, classification);
  }
  return { ...failure, status: status === 0 ? null : status, usage: tap.usage };
}

/** The response ended without its protocol's terminator. */
export function cutStream(soFar: StreamSoFar, result: string): StreamOutcome {
  return failedStream(soFar, cutAttempt(soFar, result));
}

/** The exchange was ended for a reason that no channel has caused. */
export function endedStream(
  soFar: StreamSoFar,
  error: GatewayError,
  result: string,
): StreamOutcome {
  if (soFar.shown) return brokenStream(soFar, error, result, null);
  return { ...cutAttempt(soFar, result), final: error };
}

/** @param hasFailed the client was answered with an error, because its own time was up */
export function disconnectedStream(
  { status, sent, tap, shown }: StreamSoFar,
  hasFailed = false,
): StreamOutcome {
  const known = status === 0 ? null : status;
  const result = hasFailed ? ({ result: 'client-deadline' } as const) : {};
  return { kind: 'disconnected', asked: sent, status: known, seen: { tap }, shown, ...result };
}

function cutAttempt({ status, sent }: StreamSoFar, result: string): AttemptFailure {
  return brokenAttempt(status, reachOf(status, sent), result);
}

function brokenStream(
  { status, tap, heldUp }: StreamSoFar,
  error: GatewayError,
  result: string,
  classification: Classification | null,
): StreamOutcome {
  const { usage } = tap;
  const seen = { tap };
  const isPaid = heldUp || result === 'deadline' || result === 'overspent';
  return { kind: 'broken', status, error, classification, seen, usage, result, isPaid };
}
