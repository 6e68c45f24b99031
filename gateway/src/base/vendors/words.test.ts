import { expect, test } from 'vitest';
import { cleanWords, wordsOf } from './words.ts';

const secret = 'sk-canary-0123456789abcdef';
const host = 'canary.example.test';
/** None of these may be left of any vendor's words. */
const canaries = ['canary', 'CANARY', '7f3a9c1e', '481516234299', 'person@', '10.1.2.3', 'sk-'];

/** As the vendors write them, with the canaries where they put names, keys and addresses. */
const forms: readonly (readonly [vendor: string, body: unknown, expected: RegExp])[] = [
  [
    'openai, a wrong key',
    {
      error: {
        message:
          'Incorrect API key provided: sk-canar*************cdef. You can find your API key at https://platform.openai.com/account/api-keys/canary.',
        type: 'invalid_request_error',
        code: 'invalid_api_key',
      },
    },
    /^invalid_api_key: Incorrect API key provided: \[key\]/,
  ],
  [
    'openai, a limit',
    {
      error: {
        message:
          'Rate limit reached for gpt-5 in organization org-CANARYab12 on tokens per min (TPM): Limit 30000, Used 29000. Project proj_CANARYx1.',
        code: 'rate_limit_exceeded',
      },
    },
    /gpt-5 in organization \[organisation\] on tokens per min \(TPM\): Limit 30000/,
  ],
  [
    'groq, a limit',
    {
      error: {
        message:
          'Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_01canary7x` service tier `on_demand`',
      },
    },
    /llama-3\.3-70b-versatile.*organization `\[organisation\]` service tier/,
  ],
  [
    'anthropic',
    {
      type: 'error',
      error: {
        type: 'rate_limit_error',
        message:
          'This request would exceed the rate limit for your organization (7f3a9c1e-1111-2222-3333-444455556666) of 50 requests per minute',
      },
    },
    /^rate_limit_error: .*your organization \(\[id\]\) of 50 requests per minute$/,
  ],
  [
    'google',
    {
      error: {
        code: 403,
        status: 'PERMISSION_DENIED',
        message:
          "Consumer 'projects/481516234299' has been suspended. API key AIzaSyCANARYcanary12 not valid",
      },
    },
    /^PERMISSION_DENIED: Consumer 'projects\/\[organisation\]' has been suspended/,
  ],
  [
    'azure',
    {
      error: {
        code: 'DeploymentNotFound',
        message:
          'The API deployment for this resource does not exist. Check https://canary.openai.azure.com/deployments.',
      },
    },
    /^DeploymentNotFound: The API deployment for this resource does not exist\. Check \[address\]/,
  ],
  [
    'aws',
    {
      __type: 'AccessDeniedException',
      message:
        'User: arn:aws:iam::481516234299:user/canary is not authorized to perform: bedrock:InvokeModel',
    },
    /^AccessDeniedException: User: \[organisation\] is not authorized/,
  ],
  [
    'moonshot',
    {
      error: {
        type: 'exceeded_current_quota_error',
        message: 'Your account org-canary12345<ak-f01canary9> is suspended, please check your plan',
      },
    },
    /is suspended, please check your plan$/,
  ],
  [
    'xai',
    {
      code: 'The caller does not have permission',
      error:
        'Your team 7f3a9c1e-1111-2222-3333-444455556666 has either used all available credits or reached its limit. person@canary.example.test',
    },
    /Your team \[\w+\] has either used all available credits/,
  ],
  [
    'ark',
    {
      error: {
        code: 'AccountOverdueError',
        message: 'The account 481516234299 is overdue. Request id: 0217canary4815162342990000000',
      },
    },
    /^AccountOverdueError: The account \[organisation\] is overdue/,
  ],
  [
    'dashscope',
    {
      code: 'Arrearage',
      message: 'Access denied, account person@canary.test is in arrears at 10.1.2.3:8080',
      request_id: 'canary',
    },
    /^Arrearage: Access denied, account \[e-mail\] is in arrears at \[address\]$/,
  ],
  [
    'ark, in Chinese',
    {
      error: {
        code: 'AccountOverdueError',
        message: '账户481516234299已欠费，请联系person@canary.test。',
      },
    },
    /^AccountOverdueError: 账户\[id\]已欠费，请联系\[e-mail\]。$/,
  ],
  [
    'mistral',
    { object: 'error', message: `Unauthorized: Bearer ${secret}`, type: 'invalid_request_error' },
    /^invalid_request_error: Unauthorized: Bearer \[key\]$/,
  ],
  [
    'vllm',
    {
      error: {
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'x'), 'msg': 'Extra inputs are not permitted', 'input': 'canary'}]",
        code: 400,
      },
    },
    /Extra inputs are not permitted', 'input': …$/,
  ],
  [
    'a proxy',
    { detail: `no healthy upstream at ${host}:8443/v1, key ${secret}` },
    /no healthy upstream at \[address\]/,
  ],
  [
    'llama.cpp, with what the client wrote',
    { error: { message: `cannot parse "${'canary '.repeat(30)}"`, type: 'server_error' } },
    /^server_error: cannot parse "…"$/,
  ],
];

test.each(forms)('%s: nothing is left that is nobody’s business', (_, body, expected) => {
  const text = cleanWords(wordsOf(body) ?? '', [secret], host);
  expect(text).toMatch(expected);
  for (const canary of canaries) expect(text).not.toContain(canary);
});

test.each([
  'model_not_found: The model `claude-sonnet-4-5-20250929` does not exist',
  "messages.1.content.0.text: Input should be a valid string, 'max_tokens' must be at most 128000",
  'context_length_exceeded: 200000 tokens > 131072 maximum at 12:30:05',
])('what helps an operator stays: %s', (text) => {
  expect(cleanWords(text, [secret], host)).toBe(text);
});

test.each([null, '<html>canary</html>', 'canary', {}, [], { error: {} }])(
  'what is in no form of an error is not repeated: %j',
  (body) => {
    expect(wordsOf(body)).toBeNull();
  },
);

test('at most 2 KiB of it', () => {
  const text = cleanWords('ü '.repeat(5_000), [], host);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_048);
  expect(text).toMatch(/^(?:ü ){600,}ü?…$/);
});
