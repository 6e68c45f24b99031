import { GatewayError } from '#errors/index.ts';
import type { NamedState } from '#protocols/index.ts';

/** What a client reads whose request names something that is not there, or not its own: the same words for both. */
export function stateNotFound({ kind, param }: Pick<NamedState, 'kind' | 'param'>): GatewayError {
  if (param === 'previous_response_id' && kind === 'response') {
    return new GatewayError('previous_response_not_found', { param });
  }
  return new GatewayError('state_not_found', { values: { param }, param });
}
