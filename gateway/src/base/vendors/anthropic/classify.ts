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
  return classifyStatus(status, failure.retryAfter, fields);
}
