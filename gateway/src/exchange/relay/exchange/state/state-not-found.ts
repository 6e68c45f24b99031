import { GatewayError } from '#errors/index.ts';
import type { NamedState } from '#protocols/index.ts';

/** The error for a request that names state that does not exist or is not the caller's; both in the same words. */
export function stateNotFound({ kind, param }: Pick<NamedState, 'kind' | 'param'>): GatewayError {
  if (param === 'previous_response_id' && kind === 'response') {
    return new GatewayError('previous_response_not_found', { param });
  }
  // With this the SDK sends the whole conversation instead.
  const details = param.endsWith('previous_message_id') ? { error_code: 'thread_not_found' } : null;
  return new GatewayError('state_not_found', {
    values: { param },
    param,
    ...(details !== null && { details }),
  });
}
