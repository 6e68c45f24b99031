import { classifyStatus, refusedCredential, statusOf } from '../classify.ts';
import { failureFields, type FailureFields } from '../failure-fields.ts';
import type { Classification, UpstreamFailure } from '../vendor.ts';

/** Codes and types of OpenAI's error object, for events inside a stream that carry no status. */
const statusByType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  content_policy_violation: 400,
  image_generation_user_error: 400,
  moderation_blocked: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  overloaded_error: 529,
  server_is_overloaded: 503,
  slow_down: 503,
};

/**
 * Codes and types that concern the account, with whatever status: waiting does not cure that. OpenAI's first four
 * (https://platform.openai.com/docs/guides/error-codes); Model Studio's on its chat endpoint.
 */
const closedAccount: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'account_deactivated',
  'Arrearage',
]);

/** OpenAI's error object and the many servers that imitate it. */
export function classifyOpenAi(failure: UpstreamFailure): Classification {
  const fields = failureFields(failure);
  if (closedAccount.has(fields.code) || closedAccount.has(fields.type)) return refusedCredential();
  if (isEmptyAccount(failure, fields)) return refusedCredential();
  // With 400 or 404, depending on the server.
  if (fields.code === 'previous_response_not_found') {
    return { kind: 'client', error: 'previous_response_not_found' };
  }
  const status = statusOf(failure, fields, statusByType);
  // xAI refuses a wrong key with 400, in words only.
  if (status === 400 && /^incorrect api key/i.test(fields.message)) return refusedCredential();
  return classifyStatus(status, failure.retryAfter, fields);
}

/**
 * Servers that imitate the API say with other statuses that the operator's account is empty: Zhipu's GLM 429 with the code
 * 1113, MiniMax 500 with `insufficient balance (1008)`. Only with these statuses: a 400 may quote what the client wrote,
 * and no client may take a credential out of use.
 */
function isEmptyAccount({ status }: UpstreamFailure, { code, message }: FailureFields): boolean {
  if (status === 429) return code === '1113';
  return status === 500 && /insufficient balance \(1008\)/i.test(message);
}
