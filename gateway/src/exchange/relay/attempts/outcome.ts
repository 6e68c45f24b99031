import type { ReportedUsage } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { AttemptClass } from '#usage/index.ts';
import type { Classification } from '#vendors/index.ts';

/** An attempt that failed before the client saw any of it: another channel may still answer. */
export interface AttemptFailure {
  readonly kind: 'failed';
  readonly class: Exclude<AttemptClass, 'shown'>;
  readonly classification: Classification;
  readonly status: number | null;
  /** A short word for the usage row. */
  readonly result: string;
  /** The upstream closed an idle connection under our hands: the same channel deserves one more try. */
  readonly stale: boolean;
  /** What the upstream says it used nevertheless: the operator's loss. */
  readonly usage?: ReportedUsage | null;
  /** Nothing of the channel's doing: no other one is tried, and this is the client's error. */
  readonly final?: GatewayError;
}

/** A complete response. */
export interface CompleteAttempt {
  readonly kind: 'complete';
  readonly status: number;
}

/** Broke after the client had seen content. */
export interface BrokenAttempt {
  readonly kind: 'broken';
  readonly status: number;
  readonly error: GatewayError;
  /** What it says about the channel; null when the channel had no part in the end. */
  readonly classification: Classification | null;
  readonly usage: ReportedUsage | null;
  readonly result: string;
}

/** The client left before the end; the upstream was cancelled, or its response read on for what it costs. */
export interface LeftAttempt {
  readonly kind: 'left';
  /** The upstream had the request, though perhaps it had not answered. */
  readonly asked: boolean;
  readonly status: number | null;
  readonly shown: boolean;
}

/** How one attempt ended. Operations add what they know of their responses. */
export type AttemptOutcome = AttemptFailure | CompleteAttempt | BrokenAttempt | LeftAttempt;

const abnormal: Classification = Object.freeze({
  kind: 'failover',
  as: 'abnormal',
  blame: 'channel',
});

/** Another channel's response may not meet what is wrong here; this one is not left alone for it. */
const ourDefect: Classification = Object.freeze({ ...abnormal, blame: 'none' });

/** How far an attempt got of which the client has seen nothing. `status` 0: the upstream had not answered. */
export function reachOf(status: number, sent: boolean): AttemptFailure['class'] {
  if (status !== 0) return 'started';
  return sent ? 'uncertain' : 'not-sent';
}

/** The upstream broke or answered what its protocol does not allow. `status` 0: it had not answered. */
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
