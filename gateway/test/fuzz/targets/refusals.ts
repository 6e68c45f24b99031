import { Unconvertible } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { UnreadableAnswer } from '#protocols/index.ts';

/** What a client is answered because of what it sent. */
export function isClientError(error: unknown): boolean {
  return (
    error instanceof Unconvertible || (error instanceof GatewayError && error.entry.status < 500)
  );
}

/** What becomes of an answer that cannot be read. */
export function isUpstreamError(error: unknown): boolean {
  return error instanceof UnreadableAnswer;
}
