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
 * The errors of responses for Codex (measured with 0.171). It repeats a request up to 30 times, whatever the headers say,
 * and then shows status and message, so 402 and 529 need no form of their own. At 429 it hides the message, but stops
 * at once for `usage_limit_reached`, and shows the text of a header.
 */
export const codexShape: ErrorShape = Object.freeze({
  headersOf(error): readonly string[] {
    return isSpent(error) ? ['x-codex-promo-message', error.message] : [];
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

/** Is a budget spent, or a limit that waiting a minute does not cure? */
function isSpent({ entry, retryAfter }: GatewayError): boolean {
  if (entry.status !== 429) return false;
  return entry.code === 'insufficient_quota' || (retryAfter !== null && retryAfter > longestWait);
}
