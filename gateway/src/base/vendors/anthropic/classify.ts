import { classifyStatus, refusedCredential, statusOf } from '../classify.ts';
import { failureFields } from '../failure-fields.ts';
import type { Classification, UpstreamFailure } from '../vendor.ts';

/** Error types of the Messages API (its "Errors" page), for events inside a stream. */
const statusByType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

export function classifyAnthropic(failure: UpstreamFailure): Classification {
  const fields = failureFields(failure);
  const status = statusOf(failure, fields, statusByType);
  // An empty account answers 400 in words only.
  if (status === 400 && /credit balance is too low/i.test(fields.message)) {
    return refusedCredential();
  }
  const details = threadDetails(failure.body);
  if (details !== null)
    return { kind: 'client', error: 'upstream_rejected', isExplained: true, details };
  return classifyStatus(status, failure.retryAfter, fields);
}

/** Why a thread cannot be continued. The SDK then sends the whole conversation by itself. */
const threadErrors: ReadonlySet<unknown> = new Set([
  'thread_already_continued',
  'thread_continue_in_flight',
  'thread_fingerprint_mismatch',
  'thread_not_found',
  'thread_unsupported_request',
]);

function threadDetails(body: unknown): Readonly<Record<string, unknown>> | null {
  const details = recordIn(recordIn(body, 'error'), 'details');
  const { error_code: code, unsupported } = details;
  if (!threadErrors.has(code)) return null;
  const names = Array.isArray(unsupported) ? unsupported.filter(isWord) : [];
  return { error_code: code, ...(names.length > 0 && { unsupported: names }) };
}

function recordIn(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const found: unknown =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : null;
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
}

/** The name of a field or setting, and nothing that could be a sentence. */
function isWord(name: unknown): boolean {
  return typeof name === 'string' && /^[a-z_]{1,40}$/.test(name);
}
