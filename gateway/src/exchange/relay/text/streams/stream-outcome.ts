import type { ReportedUsage } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { StreamTap } from '#protocols/index.ts';
import type { Classification } from '#vendors/index.ts';
import {
  brokenAttempt,
  reachOf,
  type AttemptFailure,
  type BrokenAttempt,
  type CompleteAttempt,
  type DisconnectedAttempt,
} from '../../attempts/outcome.ts';
import { errorOfTextFailure } from '../error-of-text-failure.ts';
import type { DisconnectedResponse } from '../measure-text.ts';

/** How an attempt of a streamed exchange ended. */
export type StreamOutcome = AttemptFailure | CompleteStream | BrokenStream | DisconnectedStream;

export interface CompleteStream extends CompleteAttempt {
  readonly usage: ReportedUsage | null;
  readonly tap: StreamTap;
  /** The bytes that the client gets once the row is durable. */
  readonly body: readonly (Buffer | string)[];
}

export interface BrokenStream extends BrokenAttempt {
  /** The tap of the broken response, some of which the error frame repeats. */
  readonly tap: StreamTap;
  /** The client pays for what came: the upstream had been waiting for it to read, or the time was up. */
  readonly isPaid: boolean;
}

export interface DisconnectedStream extends DisconnectedAttempt, DisconnectedResponse {}

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
  const { usage, outputBytes, finished, webSearches } = tap;
  const known = status === 0 ? null : status;
  const seen = { usage, outputBytes, webSearches, whole: finished };
  const result = hasFailed ? ({ result: 'client-deadline' } as const) : {};
  return { kind: 'disconnected', asked: sent, status: known, ...seen, shown, ...result };
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
  const isPaid = heldUp || result === 'deadline' || result === 'overspent';
  return { kind: 'broken', status, error, classification, tap, usage, result, isPaid };
}
