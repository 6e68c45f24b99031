import type { Permit } from './breaker.ts';
import type { ChannelState } from './channel-state.ts';
import type { Credential } from './credential.ts';

/** Permission for one attempt with one credential. Always return it by passing it to `reportOutcome` exactly once. */
export interface ChannelLease extends Permit {
  readonly admitted: true;
  readonly secret: string | null;
  readonly retry: boolean;
  /** The attempt probes whether a credential that was refused works again. */
  readonly trial: boolean;
  readonly credential: Credential;
  readonly state: ChannelState;
}

/** Why a channel could not respond. If all attempts have the same kind, it decides the client's final error. */
export type FailureKind =
  | 'abnormal'
  | 'credential-refused'
  | 'overloaded'
  | 'rate-limited'
  | 'model-missing';

/** Why a channel is skipped. Null: nothing is wrong with it, but it has too many retries in flight. */
export interface Refusal {
  readonly admitted: false;
  readonly kind: FailureKind | null;
  /** The same in more detail, as usage rows name it. */
  readonly reason: RefusalReason;
}

export type RefusalReason =
  | 'ejected'
  | 'credential-refused'
  | 'overloaded'
  | 'rate-limited'
  | 'model-missing'
  | 'retry-budget';

export const refusals = {
  abnormal: refusal('abnormal', 'ejected'),
  'credential-refused': refusal('credential-refused', 'credential-refused'),
  overloaded: refusal('overloaded', 'overloaded'),
  'rate-limited': refusal('rate-limited', 'rate-limited'),
  'model-missing': refusal('model-missing', 'model-missing'),
  outOfBudget: refusal(null, 'retry-budget'),
} satisfies Record<FailureKind | 'outOfBudget', Refusal>;

function refusal(kind: FailureKind | null, reason: RefusalReason): Refusal {
  return Object.freeze({ admitted: false, kind, reason });
}
