import { refusedCredential } from '../classify.ts';
import { failureFields } from '../failure-fields.ts';
import { classifyOpenAi } from '../openai/index.ts';
import type { Classification, UpstreamFailure } from '../vendor.ts';

/**
 * Codes of a 400 that concern the account: its spend limit is reached (https://console.groq.com/docs/spend-limits), or it
 * was closed. Another channel may succeed.
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
