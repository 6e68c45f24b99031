import { Unconvertible } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { UnreadableResponse } from '#protocols/index.ts';

/** Whether the error reports a fault of the client's input. */
export function isClientError(error: unknown): boolean {
  return (
    error instanceof Unconvertible || (error instanceof GatewayError && error.entry.status < 500)
  );
}

/** Whether the error reports an unreadable response. */
export function isUpstreamError(error: unknown): boolean {
  return error instanceof UnreadableResponse;
}
