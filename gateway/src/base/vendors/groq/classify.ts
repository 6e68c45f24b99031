import { refusedCredential } from '../classify.ts';
import { failureFields } from '../failure-fields.ts';
import { classifyOpenAi } from '../openai/index.ts';
import type { Classification, UpstreamFailure } from '../vendor.ts';

/**
 * 400, as for a bad request, when the account has spent what it may (https://console.groq.com/docs/spend-limits) or
 * was closed: another channel may answer.
 */
const closedAccount: ReadonlySet<string> = new Set([
  'blocked_api_access',
  'organization_restricted',
]);

export function classifyGroq(failure: UpstreamFailure): Classification {
  return closedAccount.has(failureFields(failure).code)
    ? refusedCredential()
    : classifyOpenAi(failure);
}
