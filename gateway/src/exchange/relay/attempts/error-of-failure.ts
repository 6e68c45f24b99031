import { GatewayError } from '#errors/index.ts';
import { finalError } from './final-error.ts';
import type { AttemptFailure } from './outcome.ts';

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
  if (details !== undefined) return new GatewayError(error, { details });
  if (error !== 'upstream_rejected_field') return new GatewayError(error);
  // Only fields that the client itself sent are named.
  const field = param?.split(/[.[]/, 1)[0] ?? '';
  return request !== null && param !== undefined && Object.hasOwn(request, field)
    ? new GatewayError(error, { values: { param }, param })
    : new GatewayError('upstream_rejected');
}
