import { GatewayError } from '#errors/index.ts';

/** Says what is wrong with a form. */
export function broken(reason: string): GatewayError {
  return new GatewayError('invalid_value', {
    values: { reason: `invalid request body: ${reason}` },
  });
}
