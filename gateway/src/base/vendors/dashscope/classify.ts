import { classifyStatus, refusedCredential, statusOf } from '../classify.ts';
import { failureFields } from '../failure-fields.ts';
import type { Classification, UpstreamFailure } from '../vendor.ts';

/** The first words of Model Studio's codes, for errors that come without a status. */
const statusByCode: Readonly<Record<string, number>> = {
  InvalidParameter: 400,
  InvalidURL: 400,
  DataInspectionFailed: 400,
  InvalidApiKey: 401,
  AccessDenied: 403,
  ModelNotFound: 404,
  Throttling: 429,
  LimitRequests: 429,
  InternalError: 500,
  ModelUnavailable: 503,
};

/** The account owes money, or has used up what was free. */
const emptyAccount = new Set(['Arrearage', 'AllocationQuota']);

/** Model Studio's flat error object; codes may have a detail after a dot. */
export function classifyDashscope(failure: UpstreamFailure): Classification {
  const fields = failureFields(failure);
  const [code = ''] = fields.code.split('.', 1);
  if (emptyAccount.has(code)) return refusedCredential();
  const status = statusOf(failure, { ...fields, code }, statusByCode);
  return classifyStatus(status, failure.retryAfter, fields);
}
