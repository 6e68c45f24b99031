import type { GatewayError } from '#errors/index.ts';
import { streamCodeOf } from '../shared/text/error-object.ts';
import { frame } from '../shared/text/events.ts';
import type { StreamTap } from '../protocol.ts';
import { type BegunResponse, ResponsesStreamTap } from './native/stream-tap.ts';

/**
 * A broken stream ends with `response.failed`, whose response the official parser accepts. Before the announcement no
 * response exists that could fail, so the `error` event comes alone.
 */
export function encodeStreamError(
  error: GatewayError,
  _requestId: string,
  tap: StreamTap | null,
): string {
  const own = tap instanceof ResponsesStreamTap ? tap : null;
  return failureFrame(error, own?.begun ?? null, (own?.lastSequenceNumber ?? -1) + 1);
}

/** The frame that ends a broken stream. `begun` is null if no response was announced. */
export function failureFrame(
  error: GatewayError,
  begun: BegunResponse | null,
  sequenceNumber: number,
): string {
  const code = streamCodeOf(error) ?? 'server_error';
  const message = withDelay(error);
  const sequence_number = sequenceNumber;
  if (begun === null) {
    const event = { type: 'error', sequence_number, code, message, param: error.param };
    return frame('error', JSON.stringify(event));
  }
  const response = failedResponse(begun, { code, message });
  const event = { type: 'response.failed', sequence_number, response };
  return frame('response.failed', JSON.stringify(event));
}

function failedResponse(begun: BegunResponse, error: { code: string; message: string }): object {
  return {
    id: begun.id,
    object: 'response',
    created_at: begun.createdAt,
    status: 'failed',
    error,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: begun.model,
    output: [],
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: null,
  };
}

/** Coding agents read the delay from this sentence. */
function withDelay(error: GatewayError): string {
  if (error.entry.status !== 429 || error.retryAfter === null) return error.message;
  return `${error.message}. Please try again in ${error.retryAfter}s.`;
}
