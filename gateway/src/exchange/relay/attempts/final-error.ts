import { GatewayError } from '#errors/index.ts';
import type { FailureKind } from '#routing/index.ts';

/** Why an attempt failed. `state-missing`: the channel does not have what the request names, or the model. */
export type Failure = FailureKind | 'state-missing';

/**
 * The error for the client when no channel responded. One kind of failure among all of them has its own status;
 * several kinds together are a 503.
 */
export function finalError(
  failures: readonly Failure[],
  /** Milliseconds until the first rate-limited channel is usable again; null when none is rate-limited. */
  shortestWaitMs: number | null,
  clientModel: string,
  /** For what the request names and no channel has; absent where requests name nothing. */
  stateError?: GatewayError,
): GatewayError {
  const kinds = new Set(failures);
  if (kinds.size !== 1) return new GatewayError('unavailable');
  switch (failures[0]) {
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
