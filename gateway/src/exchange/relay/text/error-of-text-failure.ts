import type { GatewayError } from '#errors/index.ts';
import type { WireRequest } from '#protocols/index.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import type { AttemptFailure } from '../attempts/outcome.ts';
import { stateNotFound } from '../exchange/state/judge-names.ts';

/**
 * Like `errorOfFailure`.
 * @param request null when its text may be gone.
 */
export function errorOfTextFailure(
  failure: Pick<AttemptFailure, 'classification'>,
  request: Pick<WireRequest, 'json'> | null,
): GatewayError {
  const { classification } = failure;
  return classification.kind === 'client' && classification.error === 'previous_response_not_found'
    ? stateNotFound({ kind: 'response', param: 'previous_response_id' })
    : errorOfFailure(failure, request?.json ?? null);
}
