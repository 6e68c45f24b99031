import { describe, expect, test } from 'vitest';
import { classifyFailure } from './classify.ts';
import { failureFields, faultTables } from './find-fault.ts';
import type { Fault } from './vendor.ts';

/*
 * What vendors and servers really send, and what it means. A new line in a table needs a sample here: words are tried by
 * themselves, texts by those below.
 */

type Meaning =
  | Fault
  /** The operator's, by words that may quote a request: nothing is taken out of use. */
  | 'account, unblamed'
  | 'account, of the channel'
  | 'quota, unblamed'
  | 'model_missing, unblamed'
  /** Nothing explains it. */
  | 'unexplained';

const openAi = (fields: object) => ({ error: { message: '', type: '', code: null, ...fields } });
const says = (message: string) => openAi({ message });
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message } });
const google = (code: number, status: string, message: string, reason?: string) => ({
  error: { code, status, message, ...(reason !== undefined && { details: [{ reason }] }) },
});
const flat = (code: string, message = '') => ({ code, message, request_id: 'r' });

/** By where they come from: the status (null: inside of a stream), the body, what it means. */
const samples: Readonly<Record<string, readonly (readonly [number | null, unknown, Meaning])[]>> = {
  OpenAI: [
    [
      400,
      says('Invalid content type. image_url is only supported by certain models.'),
      'capability',
    ],
    [400, says('Country, region, or territory not supported'), 'account, unblamed'],
    [400, openAi({ code: 'context_length_exceeded' }), 'context_overflow'],
    [null, openAi({ code: 'context_length_exceeded' }), 'context_overflow'],
    [400, says("This model's maximum context length is 8192 tokens."), 'context_overflow'],
    [400, says('Your input exceeds the context window of this model.'), 'context_overflow'],
    [400, says('Input tokens exceed the configured limit of 272000 tokens.'), 'context_overflow'],
    [429, openAi({ type: 'insufficient_quota', code: 'insufficient_quota' }), 'account'],
    [400, openAi({ code: 'billing_hard_limit_reached' }), 'account'],
    [400, says('Billing hard limit has been reached'), 'account, unblamed'],
    [
      400,
      openAi({
        code: 'unsupported_value',
        message: 'Your organization must be verified to stream.',
      }),
      'account, unblamed',
    ],
    [
      400,
      says('Your account is not active, please check your billing details.'),
      'account, unblamed',
    ],
    [403, openAi({ code: 'unsupported_country_region_territory' }), 'account'],
    [400, says('OpenAI is not available in your country.'), 'account, unblamed'],
    [429, openAi({ code: 'rate_limit_exceeded' }), 'quota'],
    [404, openAi({ code: 'model_not_found' }), 'model_missing'],
    [400, openAi({ code: 'moderation_blocked' }), 'content_policy'],
    [400, says('Your request was rejected as a result of our safety system.'), 'content_policy'],
    [400, openAi({ code: 'invalid_prompt' }), 'content_policy'],
    [null, openAi({ code: 'image_too_large' }), 'client'],
    [400, openAi({ code: 'invalid_value', param: 'size' }), 'unexplained'],
    [
      400,
      openAi({ code: 'unsupported_parameter', message: 'Unsupported parameter.' }),
      'unexplained',
    ],
  ],
  Azure: [
    [
      400,
      { error: { code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
      'content_policy',
    ],
    [400, says("triggering Azure OpenAI's content management policy."), 'content_policy'],
    [404, openAi({ code: 'DeploymentNotFound' }), 'model_missing'],
    [400, openAi({ code: 'OperationNotSupported' }), 'model_missing'],
  ],
  'GitHub Models and Copilot': [
    [
      413,
      openAi({
        code: 'tokens_limit_reached',
        message: 'Request body too large for gpt-4o model. Max size: 8000 tokens.',
      }),
      'context_overflow',
    ],
    [
      400,
      says('Request body too large for gpt-4o model. Max size: 8000 tokens.'),
      'context_overflow',
    ],
    [400, openAi({ code: 'model_max_prompt_tokens_exceeded' }), 'context_overflow'],
    [400, says('prompt token count of 391491 exceeds the limit of 128000'), 'context_overflow'],
    [400, openAi({ code: 'model_not_supported' }), 'model_missing'],
  ],
  Anthropic: [
    [
      400,
      anthropic('invalid_request_error', 'This account has been disabled.'),
      'account, unblamed',
    ],
    [
      400,
      anthropic('invalid_request_error', 'prompt is too long: 213462 tokens > 200000 maximum'),
      'context_overflow',
    ],
    [
      400,
      anthropic(
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
      ),
      'context_overflow',
    ],
    [413, anthropic('request_too_large', 'Request exceeds the maximum size'), 'body_too_large'],
    [
      400,
      anthropic(
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API.',
      ),
      'account',
    ],
    [
      400,
      anthropic('invalid_request_error', 'You have reached your specified API usage limits.'),
      'account, unblamed',
    ],
    [
      400,
      anthropic('invalid_request_error', 'This organization has been disabled.'),
      'account, unblamed',
    ],
    [
      400,
      anthropic(
        'invalid_request_error',
        'Third-party apps now draw from your extra usage, not your plan limits.',
      ),
      'account, unblamed',
    ],
    [
      400,
      anthropic(
        'invalid_request_error',
        'This credential is only authorized for use with Claude Code.',
      ),
      'account, unblamed',
    ],
    [
      400,
      anthropic(
        'invalid_request_error',
        'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum',
      ),
      'client',
    ],
    [400, anthropic('invalid_request_error', 'messages: roles must alternate'), 'unexplained'],
  ],
  'Gemini and Vertex AI': [
    [
      400,
      google(400, 'INVALID_ARGUMENT', 'Request payload size exceeds the limit: 20971520 bytes.'),
      'body_too_large',
    ],
    [
      400,
      google(400, 'INVALID_ARGUMENT', 'Function calling is not enabled for models/m'),
      'capability',
    ],
    [403, google(403, 'PERMISSION_DENIED', 'Your API key was reported as leaked.'), 'account'],
    [
      400,
      google(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
      ),
      'context_overflow',
    ],
    [
      400,
      [google(400, 'INVALID_ARGUMENT', 'The input token count (9) exceeds the maximum.')],
      'context_overflow',
    ],
    [
      null,
      google(400, 'INVALID_ARGUMENT', 'The input token count (9) exceeds the maximum.'),
      'context_overflow',
    ],
    [400, google(400, 'INVALID_ARGUMENT', 'API key not valid.', 'API_KEY_INVALID'), 'account'],
    [400, google(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.'), 'account'],
    [403, google(403, 'PERMISSION_DENIED', '', 'BILLING_DISABLED'), 'account'],
    [
      403,
      google(403, 'PERMISSION_DENIED', 'This API method requires billing to be enabled.'),
      'account',
    ],
    [
      400,
      google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
      'account, unblamed',
    ],
    [429, google(429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.'), 'account'],
    [
      400,
      google(400, 'FAILED_PRECONDITION', 'Project `1` is not allowed to use Publisher Model `m`'),
      'model_missing, unblamed',
    ],
    [
      400,
      google(400, 'FAILED_PRECONDITION', 'The File x is not in an ACTIVE state.'),
      'unexplained',
    ],
    // A limit per minute, in the words of an empty account.
    [
      429,
      google(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details.',
      ),
      'quota',
    ],
  ],
  Bedrock: [
    [
      400,
      { __type: 'ValidationException', message: 'Input is too long for requested model.' },
      'context_overflow',
    ],
    [
      400,
      { message: 'Input Tokens Exceeded: Number of input tokens exceeds maximum length.' },
      'context_overflow',
    ],
    [
      400,
      {
        __type: 'com.amazon.coral.service#ThrottlingException',
        message: 'Too many tokens, please wait',
      },
      'quota',
    ],
    [400, { message: 'The provided model identifier is invalid.' }, 'model_missing, unblamed'],
    [
      400,
      { message: 'Invocation of model ID m with on-demand throughput isn’t supported.' },
      'model_missing, unblamed',
    ],
    [
      400,
      { message: 'Access to this model is not available for channel program accounts.' },
      'account, unblamed',
    ],
    [400, { message: 'Operation not allowed' }, 'account'],
    [
      403,
      { __type: 'UnrecognizedClientException', message: 'The security token is invalid.' },
      'account',
    ],
    [
      400,
      { __type: 'ValidationException', message: 'messages: at least one message is required' },
      'unexplained',
    ],
  ],
  vLLM: [
    [
      400,
      {
        object: 'error',
        message: 'The decoder prompt (length 9) is longer than the maximum model length of 8.',
        type: 'BadRequestError',
        code: 400,
      },
      'context_overflow',
    ],
    [
      400,
      says("You passed 9 input tokens. However, the model's context length is only 8 tokens."),
      'context_overflow',
    ],
    [
      400,
      says('The engine prompt length 227861 exceeds the max_model_len 131072.'),
      'context_overflow',
    ],
    [
      400,
      says(
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      ),
      'capability',
    ],
    [400, says('m is not a multimodal model'), 'capability'],
    [
      422,
      {
        detail: [
          { type: 'missing', loc: ['body'], msg: 'Field required', input: 'prompt is too long' },
        ],
      },
      'unexplained',
    ],
  ],
  'SGLang, Together': [
    [
      400,
      says("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
      'context_overflow',
    ],
    [402, says('Credit limit exceeded, please navigate to billing.'), 'account'],
  ],
  'llama.cpp, LM Studio, TabbyAPI': [
    [
      400,
      {
        error:
          'Reached context length of 4096 tokens with model that does not currently support it',
      },
      'context_overflow',
    ],
    [400, openAi({ code: 400, type: 'exceed_context_size_error' }), 'context_overflow'],
    [
      500,
      says('the request exceeds the available context size, try increasing it'),
      'context_overflow',
    ],
    [
      400,
      {
        error:
          'The number of tokens to keep from the initial prompt is greater than the context length.',
      },
      'context_overflow',
    ],
    [
      400,
      { error: 'Trying to keep the first 9000 tokens when context the overflows.' },
      'context_overflow',
    ],
    [400, { detail: 'Prompt length 9000 is greater than max_seq_len 8192' }, 'context_overflow'],
  ],
  Ollama: [
    [400, says('the input length exceeds the context length'), 'context_overflow'],
    [400, says('registry.ollama.ai/library/gemma3:4b does not support tools'), 'capability'],
    [429, { error: "you've reached your hourly usage limit, please upgrade to continue" }, 'quota'],
  ],
  'TGI, TensorRT-LLM, DeepInfra': [
    [
      422,
      {
        error: '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000',
        error_type: 'validation',
      },
      'context_overflow',
    ],
    [429, { error: 'Model is overloaded', error_type: 'overloaded' }, 'overloaded'],
    [400, says('Prompt length (9000) exceeds maximum input length (8192).'), 'context_overflow'],
    [
      400,
      says('The sum of prompt length (9), query length (0) should not exceed max_num_tokens (8)'),
      'context_overflow',
    ],
  ],
  'Fireworks, Cohere, Cerebras, watsonx, SiliconFlow': [
    [
      400,
      says('The prompt is too long: 300000, model maximum context length: 131072'),
      'context_overflow',
    ],
    [
      412,
      says('Account acct is suspended, possibly due to reaching the monthly spending limit.'),
      'account',
    ],
    [
      400,
      { message: 'too many tokens: total number of tokens in the prompt cannot exceed 4081' },
      'context_overflow',
    ],
    [400, { message: 'Current length is 9000 while limit is 8192' }, 'context_overflow'],
    [
      400,
      {
        errors: [
          {
            code: 'invalid_input_argument',
            message:
              'the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model',
          },
        ],
      },
      'context_overflow',
    ],
    [
      403,
      { code: 30001, message: 'Sorry, your account balance is insufficient', data: null },
      'account',
    ],
    [
      400,
      {
        code: 20015,
        message: 'length of prompt_tokens (9000) must be less than max_seq_len (8192).',
      },
      'context_overflow',
    ],
    [400, { code: 20012, message: 'Model does not exist.' }, 'model_missing'],
  ],
  Groq: [
    [400, says('`tool calling` is not supported with this model'), 'capability'],
    [400, says('Please reduce the length of the messages or completion.'), 'context_overflow'],
    [
      413,
      openAi({
        code: 'rate_limit_exceeded',
        type: 'tokens',
        message: 'Request too large for model on tokens per minute (TPM)',
      }),
      'quota',
    ],
    [400, openAi({ code: 'organization_restricted' }), 'account'],
    [400, openAi({ code: 'tool_use_failed' }), 'unexplained'],
    [400, openAi({ code: 'model_decommissioned' }), 'model_missing'],
  ],
  DeepSeek: [
    [402, says('Insufficient Balance'), 'account'],
    [
      400,
      says('Failed to deserialize: unknown variant `image_url`, expected `text`'),
      'capability',
    ],
  ],
  Moonshot: [
    [400, says('Invalid request: Input token length too long'), 'context_overflow'],
    [
      400,
      says('Invalid request: Your request exceeded model token limit: 262144'),
      'context_overflow',
    ],
    [429, openAi({ type: 'exceeded_current_quota_error' }), 'account'],
    [429, openAi({ type: 'engine_overloaded_error' }), 'overloaded'],
  ],
  xAI: [
    [
      400,
      {
        code: 'invalid-argument',
        error:
          "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      },
      'context_overflow',
    ],
    [400, { code: 'invalid-argument', error: 'Incorrect API key provided: xa***.' }, 'account'],
    [
      429,
      {
        code: 'exhausted',
        error:
          'Your team has either used all available credits or reached its monthly spending limit.',
      },
      'account',
    ],
  ],
  GLM: [
    [429, openAi({ code: '1113' }), 'account'],
    [400, openAi({ code: '1261', message: 'Prompt exceeds max length' }), 'context_overflow'],
    [400, says('Prompt exceeds max length'), 'context_overflow'],
    [400, openAi({ code: '1301' }), 'content_policy'],
  ],
  MiniMax: [
    [500, says('insufficient balance (1008)'), 'account'],
    [
      null,
      { choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
      'account',
    ],
    [null, { base_resp: { status_code: 1002, status_msg: 'rate limit' } }, 'quota'],
    [400, says('invalid params, context window exceeds limit (2013)'), 'context_overflow'],
  ],
  'Model Studio': [
    [403, flat('AccessDenied.Unpurchased'), 'account'],
    [403, flat('Model.AccessDenied'), 'model_missing'],
    [400, flat('InvalidParameter', 'Model not exist.'), 'model_missing, unblamed'],
    [
      400,
      flat('Arrearage', 'Access denied, please make sure your account is in good standing.'),
      'account',
    ],
    [400, openAi({ code: 'Arrearage', type: 'Arrearage' }), 'account'],
    [403, flat('AllocationQuota.FreeTierOnly'), 'account'],
    [403, says('The free tier of the model has been exhausted.'), 'account'],
    [
      400,
      flat('InvalidParameter', 'Range of input length should be [1, 30720]'),
      'context_overflow',
    ],
    [400, flat('DataInspectionFailed'), 'content_policy'],
    [400, says('data_inspection_failed'), 'content_policy'],
  ],
  'Ark, Qianfan, Hunyuan': [
    [403, openAi({ code: 'AccountOverdueError' }), 'account'],
    [429, openAi({ code: 'ServerOverloaded' }), 'overloaded'],
    [404, openAi({ code: 'ModelNotOpen' }), 'model_missing'],
    [404, openAi({ code: 'InvalidEndpointOrModel.NotFound' }), 'model_missing'],
    [403, openAi({ code: 'OperationDenied.ServiceOverdue' }), 'account'],
    [400, openAi({ code: 'InputVideoSensitiveContentDetected' }), 'content_policy'],
    [400, says('Total tokens of image and text exceed max message tokens.'), 'context_overflow'],
    [400, openAi({ code: 'tokens_too_long' }), 'context_overflow'],
    [400, openAi({ code: 'ResourceUnavailable.InArrears' }), 'account'],
  ],
  'other gateways': [
    [
      400,
      says('prompt has 9 tokens, but the configured context size is 8 tokens'),
      'context_overflow',
    ],
    [
      502,
      says("upstream: This model's maximum context length is 8192 tokens."),
      'context_overflow',
    ],
    [429, says('Request too large: maximum context length, tokens per minute'), 'quota'],
    [
      403,
      says('m requires moderation on OpenRouter. Your input was flagged for "violence".'),
      'content_policy',
    ],
    [400, openAi({ code: 'model_not_available' }), 'model_missing'],
    [
      400,
      says('The model `x` does not exist or you do not have access to it.'),
      'model_missing, unblamed',
    ],
    [400, says('litellm.ContextWindowExceededError: BadRequestError'), 'context_overflow'],
    [
      400,
      says(
        "litellm.BadRequestError: OpenAIException - Error code: 400 - {'error': {'code': 'context_length_exceeded'}}",
      ),
      'context_overflow',
    ],
    [
      400,
      openAi({
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: '{"message":"maximum context length"}' },
      }),
      'context_overflow',
    ],
    [
      400,
      openAi({
        message: 'Provider returned error',
        metadata: { raw: '{"error":{"code":"AccountOverdueError"}}' },
      }),
      'account, unblamed',
    ],
    [400, says("upstream: {'code': 'insufficient_quota'}"), 'account, unblamed'],
    [400, says('rate_limit_exceeded by the provider'), 'quota, unblamed'],
    [
      402,
      says('Insufficient credits. Add more using https://openrouter.ai/settings/credits'),
      'account',
    ],
    [404, says('No endpoints found that support tool use.'), 'capability'],
    [400, says('gpt-9 is not a valid model ID'), 'model_missing, unblamed'],
    [400, says('Budget has been exceeded! Current cost: 1, Max budget: 1'), 'account, unblamed'],
    [403, says('该令牌额度已用尽'), 'account'],
    [503, says('当前分组 default 下对于模型 m 无可用渠道'), 'model_missing'],
  ],
  // No client takes anything out of use by what it writes.
  'a quoted request': [
    [400, says("Invalid value: 'insufficient balance (1008)'"), 'account, unblamed'],
    [400, says('messages[0]: no such word: your credit balance is too low'), 'unexplained'],
    [422, says('Invalid input: "Incorrect API key"'), 'unexplained'],
    [500, says('Failed to parse input at pos 9: insufficient balance'), 'account, of the channel'],
    [null, says('Failed to parse input at pos 9: insufficient balance'), 'account, unblamed'],
  ],
};

const meanings: Readonly<Record<Meaning, object>> = {
  account: { kind: 'failover', as: 'abnormal', blame: 'credential' },
  'account, unblamed': { kind: 'failover', as: 'abnormal', blame: 'none' },
  'account, of the channel': { kind: 'failover', as: 'abnormal', blame: 'channel' },
  quota: { kind: 'failover', as: 'rate-limited', blame: 'quota' },
  'quota, unblamed': { kind: 'failover', as: 'rate-limited', blame: 'none' },
  overloaded: { kind: 'failover', as: 'overloaded', blame: 'channel' },
  model_missing: { kind: 'failover', as: 'model-missing', blame: 'model' },
  'model_missing, unblamed': { kind: 'failover', as: 'model-missing', blame: 'none' },
  context_overflow: { kind: 'client', error: 'context_too_long' },
  content_policy: { kind: 'client', error: 'content_policy' },
  body_too_large: { kind: 'client', error: 'body_too_large' },
  previous_response_not_found: { kind: 'client', error: 'previous_response_not_found' },
  capability: { kind: 'client', error: 'upstream_rejected', isExplained: true },
  client: { kind: 'client', error: 'upstream_rejected', isExplained: true },
  unexplained: { kind: 'client', error: expect.stringMatching(/^upstream_rejected(_field)?$/) },
};

describe.each(Object.entries(samples))('%s', (_, own) => {
  test.each(own)('%s %j is %s', (status, body, meaning) => {
    const classification = classifyFailure({ status, body, retryAfter: null });
    expect(classification).toMatchObject(meanings[meaning]);
    if (meaning === 'unexplained') expect(classification).not.toHaveProperty('isExplained');
  });
});

test('each word means what its table says, beside its status and inside of a stream', () => {
  for (const [key, fault] of faultTables.flatMap(({ words }) => Object.entries(words))) {
    const [word = '', beside = '400'] = key.split(' ').toReversed();
    if (typeof fault === 'number') continue;
    const body = openAi({ code: word });
    const classify = (status: number | null) => classifyFailure({ status, body, retryAfter: null });
    const status = beside === '200' ? null : Number(beside);
    expect([key, classify(status)]).toMatchObject([key, meanings[fault]]);
    if (!key.includes(' ')) expect([key, classify(null)]).toMatchObject([key, meanings[fault]]);
  }
});

test('each text has a sample, and is bound to the beginning as a whole or not at all', () => {
  const said = Object.values(samples)
    .flat()
    .map(([, body]) => failureFields({ body }))
    .flatMap(({ words, message }) => [...words, message]);
  for (const [part] of faultTables.flatMap(({ texts }) => texts)) {
    expect([part, said.some((text) => part.test(text))]).toEqual([part, true]);
    expect(part.source.slice(1)).not.toContain('^');
  }
});
