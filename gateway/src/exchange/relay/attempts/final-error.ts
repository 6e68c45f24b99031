import { GatewayError } from '#errors/index.ts';
import type { FailureKind } from '#routing/index.ts';
import { stateNotFound } from '../admission/named-state.ts';
import type { AttemptFailure } from './outcome.ts';

/** Why an attempt failed. `state-missing`: the channel lacks the model, or something that the request names. */
export type Failure = FailureKind | 'state-missing';

/**
 * The client's error when no channel responded. If all failures are of one kind, the error has that kind's status;
 * otherwise it is 503.
 */
export function finalError(
  failures: readonly Failure[],
  /** Milliseconds until the first rate-limited channel is usable again; null when none is rate-limited. */
  shortestWaitMs: number | null,
  clientModel: string,
  /** For a request that names something that no channel has; absent if requests of this operation name nothing. */
  stateError?: GatewayError,
): GatewayError {
  if (failures.length > 0 && failures.every((kind) => kind === 'credential-refused')) {
    return new GatewayError('upstream_credential_refused', {
      headers: { 'x-should-retry': 'false' },
    });
  }
  const kinds = new Set(
    failures.map((kind) => (kind === 'credential-refused' ? 'abnormal' : kind)),
  );
  const [only] = kinds;
  if (kinds.size !== 1) return new GatewayError('unavailable');
  switch (only) {
    case 'rate-limited':
      return new GatewayError('channels_rate_limited', {
        retryAfter: Math.max(1, Math.ceil((shortestWaitMs ?? 1000) / 1000)),
      });
    case 'overloaded':
      return new GatewayError('upstream_overloaded');
    case 'model-missing':
      return new GatewayError('model_not_available', {
        values: { model: clientModel },
        param: 'model',
      });
    case 'state-missing':
      return stateError ?? new GatewayError('upstream_abnormal');
    default:
      return new GatewayError('upstream_abnormal');
  }
}

/**
 * The client's error for one failed attempt: in the words of the catalogue, never in the upstream's.
 * @param request the members of the request; null when they are no longer known.
 */
export function errorOfFailure(
  { classification }: Pick<AttemptFailure, 'classification'>,
  request: Readonly<Record<string, unknown>> | null,
): GatewayError {
  if (classification.kind === 'failover') return finalError([classification.as], null, '');
  const { error, param, details } = classification;
  if (error === 'previous_response_not_found') {
    return stateNotFound({ kind: 'response', param: 'previous_response_id' });
  }
  if (details !== undefined) return new GatewayError(error, { details });
  if (error !== 'upstream_rejected_field') return new GatewayError(error);
  // Only fields that the client itself sent are named.
  const field = param?.split(/[.[]/, 1)[0] ?? '';
  return request !== null && param !== undefined && Object.hasOwn(request, field)
    ? new GatewayError(error, { values: { param }, param })
    : new GatewayError('upstream_rejected');
}
