import { refusedCredential } from '../classify.ts';
import { failureFields } from '../failure-fields.ts';
import { classifyOpenAi } from '../openai/index.ts';
import type { Classification, UpstreamFailure } from '../vendor.ts';

/** An empty account gets 429, and the type says so: https://forum.moonshot.ai/t/429-insufficient-balance/244 */
export function classifyMoonshot(failure: UpstreamFailure): Classification {
  return failureFields(failure).type === 'exceeded_current_quota_error'
    ? refusedCredential()
    : classifyOpenAi(failure);
}
