import type { GatewayError } from '#errors/index.ts';
import type { ErrorShape, RequestHead } from '#http/index.ts';
import { textProtocols } from '#protocols/index.ts';
import { clientOf } from '#usage/index.ts';

/** Codex waits in silence for as long as it is asked to. Seconds. */
const longestWait = 60;

/** Does Codex send the request? Its programs differ in the user agent, and products built on it name themselves here. */
export function isCodex({ headers }: RequestHead): boolean {
  return headers.originator !== undefined || clientOf(headers['user-agent'] ?? null) === 'codex';
}

/**
 * The errors of responses in the two forms that Codex (measured with 0.169) tells apart from any other failure. It
 * repeats everything else up to 30 times, whatever the headers say: at 503 with `server_is_overloaded` it stops after
 * five requests and says that the model is at capacity, and at 429 with `usage_limit_reached` it stops at once.
 */
export const codexShape: ErrorShape = Object.freeze({
  statusOf(error) {
    if (isOverload(error)) return 503;
    return isSpent(error) ? 429 : error.entry.status;
  },
  encodeError(error, requestId) {
    if (!isSpent(error)) return textProtocols.responses.encodeError(error, requestId);
    const { message, param, entry, retryAfter } = error;
    const wait = retryAfter === null ? null : Math.ceil(retryAfter);
    const reset =
      wait === null
        ? {}
        : { resets_at: Math.ceil(Date.now() / 1000) + wait, resets_in_seconds: wait };
    return JSON.stringify({
      error: { message, type: 'usage_limit_reached', param, code: entry.code, ...reset },
    });
  },
} satisfies ErrorShape);

function isOverload({ entry }: GatewayError): boolean {
  return entry.code === 'server_is_overloaded';
}

/** Is money spent, or a limit that waiting a minute does not cure? */
function isSpent({ entry, retryAfter }: GatewayError): boolean {
  if (entry.code === 'insufficient_quota') return true;
  return entry.status === 429 && retryAfter !== null && retryAfter > longestWait;
}
