import { describe, expect, test } from 'vitest';
import { classifyFailure } from './classify.ts';
import { gemini } from './gemini/index.ts';
import { simulator } from './simulator/index.ts';
import { pathOf, type Classification } from './vendor.ts';

const classify = (
  status: number | null,
  body: unknown = null,
  retryAfter: number | null = null,
): Classification => classifyFailure({ status, body, retryAfter });

const word = (classification: Classification): string =>
  classification.kind === 'client'
    ? classification.error
    : `${classification.as} ${classification.blame}`;

describe('openai', () => {
  const error = (fields: object) => ({
    error: { message: '', type: '', param: null, code: null, ...fields },
  });
  test.each([
    [null, error({ code: 'content_filter', status: 400 }), 'content_policy'],
    [
      null,
      error({ type: 'image_generation_user_error', param: 'size' }),
      'upstream_rejected_field',
    ],
    [400, error({ param: 'messages[0].role' }), 'upstream_rejected_field'],
    [400, error({ param: '<script>' }), 'upstream_rejected'],
    [400, null, 'upstream_rejected'],
    [401, error({}), 'abnormal credential'],
    [403, error({}), 'abnormal model'],
    [404, error({ code: 'model_not_found' }), 'model-missing model'],
    [400, error({ code: 'previous_response_not_found' }), 'previous_response_not_found'],
    [404, error({ code: 'previous_response_not_found' }), 'previous_response_not_found'],
    [408, null, 'abnormal none'],
    [413, null, 'body_too_large'],
    [429, error({ code: 'rate_limit_exceeded' }), 'rate-limited quota'],
    [500, error({ code: '1113' }), 'abnormal channel'],
    [500, '<html>', 'abnormal channel'],
    [503, null, 'overloaded channel'],
    [529, null, 'overloaded channel'],
    [302, null, 'abnormal channel'],
    [null, error({ code: 'rate_limit_exceeded' }), 'rate-limited quota'],
    [null, error({ code: 'server_error' }), 'abnormal channel'],
    [null, error({ code: 502 }), 'abnormal channel'],
  ])('%s %j is %s', (status, body, expected) => {
    expect(word(classify(status, body))).toBe(expected);
  });
});

describe('refusals that an edit cures', () => {
  const stateless = [
    'The encrypted content gAAA...DQ== could not be verified.',
    'The encrypted content for item rs_0a18 could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
    "Item 'rs_68d0' of type 'reasoning' was provided without its required following item.",
    "Item 'fc_68d0' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'messages.7.content.2: Invalid signature in thinking block',
    'messages.1.content.0: Invalid `data` in `redacted_thinking` block',
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.',
    'messages.3.content.8: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
    'messages.369.content.0.thinking.signature: Field required',
    'Corrupted thought signature.',
    'Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/',
    'Invalid thought signature.',
  ];
  const renamed = [
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'p8',
    ],
    ['Unrecognized request argument supplied: max_completion_tokens', 'p14'],
    [
      "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
      'p14',
    ],
    [
      "Input tag 'developer' found using 'role' does not match any of the expected tags: 'system', 'user'",
      'p17',
    ],
    ["developer is not one of ['system', 'assistant', 'user', 'tool', 'function']", 'p17'],
    ['messages[0].role: unknown variant `developer`, expected one of `system`, `user`', 'p17'],
    ['chat template rejected the request: Unexpected message role.', 'p17'],
  ];
  const cure = (message: string) => {
    const failure = classify(400, { error: { message, type: 'invalid_request_error' } });
    return failure.kind === 'client' ? failure.cure : undefined;
  };

  test.each(stateless)('%s', (message) => {
    expect(cure(message)).toEqual({ kind: 'without-state' });
  });

  test.each(renamed)('%s', (message, id) => {
    expect(cure(message)).toMatchObject({ id });
  });

  test.each([
    'The encrypted content for item cmp_34 could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
    "Item with id 'msg_1' not found.",
    "Invalid value: 'max_tokens'.",
    'messages.0.role: Input should be a developer',
  ])('nothing cures: %s', (message) => {
    expect(cure(message)).toBeUndefined();
  });

  test('a code without words', () => {
    const body = { error: { message: '', code: 'invalid_encrypted_content' } };
    expect(classify(null, body)).toMatchObject({ kind: 'failover' });
    expect(classify(400, body)).toMatchObject({ cure: { kind: 'without-state' } });
  });
});

test.each([
  [529, 'overloaded_error', 'overloaded channel'],
  [null, 'overloaded_error', 'overloaded channel'],
  [null, 'rate_limit_error', 'rate-limited quota'],
  [null, 'api_error', 'abnormal channel'],
  [402, 'billing_error', 'abnormal credential'],
])('anthropic %s %s is %s', (status, type, expected) => {
  const body = { type: 'error', error: { type, message: '' } };
  expect(word(classify(status, body))).toBe(expected);
});

describe('gemini', () => {
  const error = (code: number, status: string, message = '', details: unknown[] = []) => ({
    error: { code, status, message, details },
  });
  test('RetryInfo is the cool-down', () => {
    const body = error(429, 'RESOURCE_EXHAUSTED', '', [{ retryDelay: '12.4s' }]);
    expect(classify(429, body)).toMatchObject({ as: 'rate-limited', coolDownSeconds: 13 });
  });
  test('inside a stream the status word decides', () => {
    expect(word(classify(null, error(503, 'UNAVAILABLE')))).toBe('overloaded channel');
    expect(
      word(classify(null, error(400, 'INVALID_ARGUMENT', 'The input token count exceeds'))),
    ).toBe('context_too_long');
  });
});

test('the upstream names the cool-down, within reason', () => {
  expect(classify(429, null, 7)).toMatchObject({ coolDownSeconds: 7 });
  expect(classify(429, null, 86_000)).toMatchObject({ coolDownSeconds: 900 });
  expect(classify(429, null, 0)).toMatchObject({ coolDownSeconds: 1 });
});

test('the simulator is read as the vendor it plays', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: '' } };
  expect(word(classify(null, overloaded))).toBe('overloaded channel');
  const exhausted = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: '' } };
  expect(word(classify(null, exhausted))).toBe('rate-limited quota');
  expect(word(classify(500, { error: { type: 'server_error' } }))).toBe('abnormal channel');
});

describe('paths', () => {
  const target = { operation: 'generate', stream: true, model: '../../x?a#b' } as const;
  test('a model name is one path segment, whatever it holds', () => {
    expect(pathOf(gemini, { ...target, protocol: 'generate-content' })).toBe(
      '/models/..%2F..%2Fx%3Fa%23b:streamGenerateContent?alt=sse',
    );
  });
  test('each protocol of the simulator lies below its version', () => {
    expect(pathOf(simulator, { ...target, protocol: 'chat' })).toBe('/v1/chat/completions');
    expect(pathOf(simulator, { ...target, protocol: 'messages' })).toBe('/v1/messages');
    expect(
      pathOf(simulator, {
        ...target,
        protocol: 'generate-content',
        operation: 'count-tokens',
        model: 'm',
      }),
    ).toBe('/v1beta/models/m:countTokens');
  });
});
