import type { GatewayError } from '#errors/index.ts';
import type { StreamTap } from '#protocols/index.ts';
import type { Classification } from '#vendors/index.ts';
import { errorOfFailure } from '../attempts/error-of-failure.ts';
import {
  brokenAttempt,
  reachOf,
  type AttemptFailure,
  type AttemptOutcome,
} from '../attempts/outcome.ts';

/** What there was of a streamed answer when it ended. */
export interface StreamSoFar {
  /** 0: the upstream had not answered. */
  readonly status: number;
  /** The upstream may have seen the request. */
  readonly sent: boolean;
  readonly tap: StreamTap;
  /** The client has seen some of it. */
  readonly shown: boolean;
  /** For a while the upstream had been waiting for the client to read. */
  readonly heldUp: boolean;
}

/** The upstream failed, in whatever way: another channel may answer while the client has seen nothing. */
export function failedStream(soFar: StreamSoFar, failure: AttemptFailure): AttemptOutcome {
  const { status, tap, shown } = soFar;
  if (shown) {
    const { result, classification } = failure;
    return brokenStream(soFar, errorOfFailure(failure, null), result, classification);
  }
  return { ...failure, status: status === 0 ? null : status, usage: tap.usage };
}

/** The answer stopped without its protocol's ending. */
export function cutStream(soFar: StreamSoFar, result: string): AttemptOutcome {
  return failedStream(soFar, cutAttempt(soFar, result));
}

/** Given up for a reason that no channel has caused. */
export function endedStream(
  soFar: StreamSoFar,
  error: GatewayError,
  result: string,
): AttemptOutcome {
  if (soFar.shown) return brokenStream(soFar, error, result, null);
  return { ...cutAttempt(soFar, result), final: error };
}

export function leftStream({ status, sent, tap, shown }: StreamSoFar): AttemptOutcome {
  const { usage, outputBytes, finished, webSearches } = tap;
  const known = status === 0 ? null : status;
  const seen = { usage, outputBytes, webSearches, whole: finished };
  return { kind: 'left', asked: sent, status: known, ...seen, shown };
}

function cutAttempt({ status, sent }: StreamSoFar, result: string): AttemptFailure {
  return brokenAttempt(status, reachOf(status, sent), result);
}

function brokenStream(
  { status, tap, heldUp }: StreamSoFar,
  error: GatewayError,
  result: string,
  classification: Classification | null,
): AttemptOutcome {
  const { usage } = tap;
  return { kind: 'broken', status, error, classification, tap, usage, result, heldUp };
}
