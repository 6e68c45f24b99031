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

/** One frozen object per healthy credential, shared by all its attempts, which need no state of their own. */
const plain = new WeakMap<Credential, ChannelLease>();

/**
 * Admits one attempt with the credential at this index; the next credential's turn follows.
 * @param probe the attempt tests, for all others, whether an ejected channel works again
 * @param retry another channel has already been tried for this request
 */
export function enter(
  state: ChannelState,
  index: number,
  probe: boolean,
  retry: boolean,
): ChannelLease {
  const credential = state.credentials[index]!;
  const { breaker } = state;
  state.turn = index + 1 === state.credentials.length ? 0 : index + 1;
  state.budget.enter(retry);
  if (probe) breaker.beginProbe();
  const trial = credential.refusals > 0;
  if (trial) credential.probing = true;
  const ordinary = !probe && !retry && !trial;
  const sharedLease = ordinary ? plain.get(credential) : undefined;
  if (sharedLease?.generation === breaker.generation) return sharedLease;
  const lease: ChannelLease = Object.freeze({
    admitted: true,
    secret: credential.secret,
    generation: breaker.generation,
    probe,
    retry,
    trial,
    credential,
    state,
  });
  if (ordinary) plain.set(credential, lease);
  return lease;
}
