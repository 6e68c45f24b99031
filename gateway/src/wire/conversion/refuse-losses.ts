import type { Loss, Unconvertible } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';

/** The client's name for what a loss names. */
type FieldName = (what: string) => string;

/** The error for a part that cannot be converted. */
export function refusalOf(error: Unconvertible, fieldName: FieldName): GatewayError {
  const param = error.param ?? fieldName(error.what);
  const reason = `${error.message} (${param})`;
  const details = error.what === 'thread' ? noThreads : undefined;
  return new GatewayError('invalid_value', {
    values: { reason },
    param,
    cause: error,
    ...(details !== undefined && { details }),
  });
}

/** With this the SDK sends the whole conversation instead. */
const noThreads = Object.freeze({
  error_code: 'thread_unsupported_request',
  unsupported: Object.freeze(['model']),
});

/** @throws GatewayError `invalid_value` for the first loss, if there is one. */
export function refuseLosses([first]: readonly Loss[], fieldName: FieldName): void {
  if (first === undefined) return;
  const param = fieldName(first.what);
  const what = first.how === 'dropped' ? 'cannot be passed on' : 'can only be approximated';
  const reason = `'${param}' ${what} to this model, and this key does not permit lossy conversion`;
  throw new GatewayError('invalid_value', { values: { reason }, param });
}
