import { GatewayError } from '#errors/index.ts';
import type { WireRequest } from '#protocols/index.ts';
import { stateNotFound } from '../state/state-not-found.ts';
import { finalError } from './final-error.ts';
import type { AttemptFailure } from './outcome.ts';

/** The client's error for one failed attempt: the catalogue's words, never the upstream's. */
export function errorOfFailure(failure: AttemptFailure, request: WireRequest | null): GatewayError {
  const { classification } = failure;
  if (classification.kind === 'failover') return finalError([classification.as], null, '');
  const { error, param } = classification;
  if (error === 'previous_response_not_found') {
    return stateNotFound({ kind: 'response', param: 'previous_response_id' });
  }
  if (error !== 'upstream_rejected_field') return new GatewayError(error);
  // Name the field only when it is one the client itself sent.
  const field = param?.split(/[.[]/, 1)[0] ?? '';
  return request !== null && param !== undefined && Object.hasOwn(request.json, field)
    ? new GatewayError(error, { values: { param }, param })
    : new GatewayError('upstream_rejected');
}
