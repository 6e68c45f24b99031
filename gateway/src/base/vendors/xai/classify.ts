import { refusedCredential } from '../classify.ts';
import { failureFields } from '../failure-fields.ts';
import { classifyOpenAi } from '../openai/index.ts';
import type { Classification, UpstreamFailure } from '../vendor.ts';

/** An empty account gets 403 or 429, and only the message says why. */
const emptyAccount = /used all available credits|monthly spending limit|have any credits/i;

export function classifyXai(failure: UpstreamFailure): Classification {
  const isRefused = failure.status === 403 || failure.status === 429;
  return isRefused && emptyAccount.test(failureFields(failure).message)
    ? refusedCredential()
    : classifyOpenAi(failure);
}
