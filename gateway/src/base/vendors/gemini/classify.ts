import { classifyStatus, rateLimited, refusedCredential, statusOf } from '../classify.ts';
import { failureFields } from '../failure-fields.ts';
import type { Classification, UpstreamFailure } from '../vendor.ts';

/** google.rpc.Code names, as they stand in `error.status`. */
const statusByType: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
};

export function classifyGemini(failure: UpstreamFailure): Classification {
  const fields = failureFields(failure);
  const status = statusOf(failure, fields, statusByType);
  // A bad key is a 400 here; only the detail's reason tells it from a bad request.
  if (status === 400 && /API_KEY_INVALID|API key (not valid|expired)/.test(detailText(failure))) {
    return refusedCredential();
  }
  // https://github.com/googleapis/googleapis/blob/master/google/api/error_reason.proto
  if (status === 403 && /"BILLING_DISABLED"/.test(detailText(failure))) return refusedCredential();
  if (status === 429) return rateLimited(failure.retryAfter ?? retryDelay(failure));
  return classifyStatus(status, failure.retryAfter, fields);
}

/** Seconds of a `google.rpc.RetryInfo` detail, `{"retryDelay":"12s"}`. */
function retryDelay(failure: UpstreamFailure): number | null {
  const match = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(detailText(failure));
  return match?.[1] === undefined ? null : Number(match[1]);
}

function detailText(failure: UpstreamFailure): string {
  return failure.body === null ? '' : JSON.stringify(failure.body).slice(0, 20_000);
}
