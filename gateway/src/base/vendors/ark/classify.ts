import { classifyStatus, overloaded, refusedCredential, statusOf } from '../classify.ts';
import { failureFields } from '../failure-fields.ts';
import type { Classification, UpstreamFailure } from '../vendor.ts';

/** The first words of Ark's codes, for errors that come without a status. */
const statusByCode: Readonly<Record<string, number>> = {
  InvalidParameter: 400,
  MissingParameter: 400,
  InputTextSensitiveContentDetected: 400,
  InputImageSensitiveContentDetected: 400,
  OutputImageSensitiveContentDetected: 400,
  AuthenticationError: 401,
  AccessDenied: 403,
  InvalidEndpointOrModel: 404,
  RateLimitExceeded: 429,
  ServerOverloaded: 503,
};

/** Ark's error object: OpenAI's with codes of its own, some of them with a detail after a dot. */
export function classifyArk(failure: UpstreamFailure): Classification {
  const fields = failureFields(failure);
  const [code = ''] = fields.code.split('.', 1);
  // With 403: the account owes money.
  if (code === 'AccountOverdueError') return refusedCredential();
  // With 429, although no client of ours was too fast.
  if (code === 'ServerOverloaded') return overloaded(failure.retryAfter);
  const status = statusOf(failure, { ...fields, code }, statusByCode);
  return classifyStatus(status, failure.retryAfter, fields);
}
