import type { ReportedUsage } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { AttemptClass } from '#usage/index.ts';
import type { StreamTap } from '#protocols/index.ts';
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
  /** What the upstream says it used all the same: the operator's loss. */
  readonly usage?: ReportedUsage | null;
  /** Nothing of the channel's doing: no other one is tried and the client is told just this. */
  readonly final?: GatewayError;
}

/** How one attempt ended. */
export type AttemptOutcome =
  | AttemptFailure
  /** A complete answer. `body`: what the client has not been given yet, to be sent once the row is durable. */
  | {
      readonly kind: 'complete';
      readonly status: number;
      readonly usage: ReportedUsage | null;
      /** Null for an answer that was not streamed. */
      readonly tap: StreamTap | null;
      readonly body: readonly (Buffer | string)[];
      /** An estimate, made with the answer where it was read; absent: nobody has made one. */
      readonly outputTokens?: number | null;
    }
  /** Broke after the client had seen content. */
  | {
      readonly kind: 'broken';
      readonly status: number;
      readonly error: GatewayError;
      /** What it says about the channel; null when the end was nothing of its doing. */
      readonly classification: Classification | null;
      /** What the error frame must repeat of the answer it ends. */
      readonly tap: StreamTap;
      readonly usage: ReportedUsage | null;
      readonly result: string;
      /** For a while the upstream had been waiting for the client to read. */
      readonly heldUp: boolean;
    }
  /** The client left before the end; the upstream was cancelled, or its answer read on for what it costs. */
  | {
      readonly kind: 'left';
      /** The upstream had the request, though perhaps it had not answered. */
      readonly asked: boolean;
      readonly status: number | null;
      readonly usage: ReportedUsage | null;
      /** Bytes of text, reasoning and tool arguments that had come by then. */
      readonly outputBytes: number;
      /** Searches of the upstream's seen by then; absent: none. */
      readonly webSearches?: number;
      /** Its end was read all the same, so that `usage` is the whole answer's. */
      readonly whole: boolean;
      readonly shown: boolean;
    };

const abnormal: Classification = Object.freeze({
  kind: 'failover',
  as: 'abnormal',
  blame: 'channel',
});

/** Another channel's answer may not meet what is wrong here; this one is not left alone for it. */
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
