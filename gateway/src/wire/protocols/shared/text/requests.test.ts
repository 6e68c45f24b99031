import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { type PatchTarget, type RequestPath, textProtocols } from '../../index.ts';

const generate: RequestPath = { operation: 'generate', model: null, stream: null };
const count: RequestPath = { ...generate, operation: 'count-tokens' };
const inPath = (model: string): RequestPath => ({ ...generate, model, stream: true });

const read = (protocol: TextProtocolName, text: string, path = generate) => {
  const { openRequest, readRequest } = textProtocols[protocol];
  return readRequest(openRequest(Buffer.from(text), path));
};

function patch(
  protocol: TextProtocolName,
  text: string,
  target: Partial<PatchTarget> = {},
  path = generate,
) {
  const request = read(protocol, text, path);
  const whole = { upstreamModel: request.model, maxOutputTokens: null, ...target };
  const patched = textProtocols[protocol].patchRequest(request, whole);
  return { ...patched, text: patched.body.toString('utf8'), same: patched.body === request.body };
}

function refusal(protocol: TextProtocolName, text: string, path = generate) {
  try {
    read(protocol, text, path);
  } catch (error) {
    if (error instanceof GatewayError) return [error.errorName, error.param];
    throw error;
  }
  return null;
}

describe('what the gateway itself insists on', () => {
  it.each<[TextProtocolName, string, string, string | null]>([
    ['chat', '{"messages":[]}', 'model_required', 'model'],
    ['chat', '{"model":"","messages":[]}', 'model_required', 'model'],
    ['chat', '{"model":7,"messages":[]}', 'model_required', 'model'],
    ['chat', '{"model":"m"}', 'missing_parameter', 'messages'],
    ['chat', '{"model":"m","messages":null}', 'missing_parameter', 'messages'],
    ['chat', '{"model":"m","messages":[],"temperature":2.1}', 'invalid_value', 'temperature'],
    ['chat', '{"model":"m","messages":[],"temperature":-0.1}', 'invalid_value', 'temperature'],
    ['chat', '{"model":"m","messages":[],"temperature":"1"}', 'invalid_value', 'temperature'],
    ['chat', '{"model":"m","messages":[],"stream":"true"}', 'invalid_value', 'stream'],
    ['chat', '{"model":"m","messages":[],"stream":1}', 'invalid_value', 'stream'],
    ['chat', '{"model":"m","messages":[],"n":2,"n":1}', 'duplicate_key', 'n'],
    ['responses', '{"model":"m"}', 'missing_parameter', 'input'],
    ['messages', '{"model":"m"}', 'missing_parameter', 'messages'],
    ['messages', '{"model":"m","messages":[],"Max_Tokens":1}', 'duplicate_key', 'Max_Tokens'],
    ['generate-content', '{"contents":[]}', 'model_required', null],
    ['generate-content', '[]', 'invalid_body', null],
  ])('%s refuses %s', (protocol, text, name, param) => {
    expect(refusal(protocol, text)).toEqual([name, param]);
  });

  const numbers = [
    '-1',
    '1.5',
    '1e400',
    '9007199254740993',
    '18446744073709551615',
    '"1e3"',
    'true',
  ];
  const fields: [TextProtocolName, (value: string) => string][] = [
    ['chat', (value) => `{"model":"m","messages":[],"max_tokens":${value}}`],
    ['chat', (value) => `{"model":"m","messages":[],"max_completion_tokens":${value}}`],
    ['chat', (value) => `{"model":"m","messages":[],"n":${value}}`],
    ['responses', (value) => `{"model":"m","input":"","max_output_tokens":${value}}`],
    ['messages', (value) => `{"model":"m","messages":[],"max_tokens":${value}}`],
    [
      'generate-content',
      (value) => `{"contents":[],"generationConfig":{"maxOutputTokens":${value}}}`,
    ],
    [
      'generate-content',
      (value) => `{"contents":[],"generation_config":{"candidate_count":${value}}}`,
    ],
  ];
  it.each(fields)('%s refuses invalid counts: %s', (protocol, body) => {
    for (const value of numbers) {
      expect(refusal(protocol, body(value), inPath('m'))?.[0]).toBe('invalid_value');
    }
    for (const value of ['null', '1', '1e3', '1.0']) {
      expect(refusal(protocol, body(value), inPath('m'))).toBe(null);
    }
  });

  it('refuses n of 0 and takes max_tokens of 0', () => {
    expect(refusal('chat', '{"model":"m","messages":[],"n":0}')).toEqual(['invalid_value', 'n']);
    expect(read('messages', '{"model":"m","messages":[],"max_tokens":0}').maxOutputTokens).toBe(0);
  });

  it.each(['"text"', '{}', '7', 'true'])(
    'refuses messages of a chat that are not a list: %s',
    (messages) => {
      const body = `{"model":"m","messages":${messages}}`;
      expect(refusal('chat', body)).toEqual(['invalid_value', 'messages']);
    },
  );

  it('leaves everything else to the upstream', () => {
    const open = '{"model":"m","messages":[7],"temperature":2,"tools":7,"new":{"a":1,"a":1}}';
    expect(refusal('chat', open)).toBe(null);
    expect(refusal('responses', '{"model":"m","prompt":{"id":"p"}}')).toBe(null);
  });

  it('reads what bounds the cost', () => {
    const both = read(
      'chat',
      '{"model":"m","messages":[],"max_tokens":9,"max_completion_tokens":4,"n":3}',
    );
    expect([both.maxOutputTokens, both.choices, both.stream]).toEqual([9, 3, false]);
    const config = '{"contents":[],"generationConfig":{"maxOutputTokens":5,"candidateCount":2}}';
    const request = read('generate-content', config, inPath('g'));
    expect(request).toMatchObject({ model: 'g', maxOutputTokens: 5, choices: 2, stream: true });
  });
});

describe('patches', () => {
  it('change nothing without need', () => {
    expect(patch('chat', '{ "model":"m","messages":[] }').same).toBe(true);
    const asked =
      '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}';
    expect(patch('chat', asked)).toMatchObject({ same: true, usageInjected: false });
    expect(patch('responses', '{"model":"m","input":[]}').same).toBe(true);
    const plain = '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":10}';
    expect(patch('messages', plain, { maxOutputTokens: 10 }).same).toBe(true);
    expect(
      patch('generate-content', '{"contents":[]}', { upstreamModel: 'u' }, inPath('g')).same,
    ).toBe(true);
  });

  it('name the upstream’s model and keep every other byte', () => {
    const text = '{"seed":9007199254740993, "t":1.0,\n"mod\\u0065l" : "m" ,"input":"\\u00e9"}';
    expect(patch('responses', text, { upstreamModel: 'vendor/"x"' }).text).toBe(
      '{"seed":9007199254740993, "t":1.0,\n"mod\\u0065l" : "vendor/\\"x\\"" ,"input":"\\u00e9"}',
    );
  });

  it.each([
    ['', '{"stream_options":{"include_usage":true},"model":"m","messages":[],"stream":true}'],
    [',"stream_options":null', undefined],
    [',"stream_options":{}', undefined],
    [',"stream_options":{"include_usage":false}', undefined],
    [',"stream_options":{"include_usage":null}', undefined],
    [',"stream_options":{"include_obfuscation":false}', undefined],
  ])('ask for usage on a chat stream with %j', (options, exact) => {
    const text = `{"model":"m","messages":[],"stream":true${options}}`;
    const patched = patch('chat', text);
    expect(patched.usageInjected).toBe(true);
    const before = JSON.parse(text) as { stream_options?: object };
    expect(JSON.parse(patched.text)).toEqual({
      ...before,
      stream_options: { ...before.stream_options, include_usage: true },
    });
    if (exact !== undefined) expect(patched.text).toBe(exact);
  });

  it('remove temperature from messages (b1) and fill or cut max_tokens (b2)', () => {
    const both = patch(
      'messages',
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":1}',
    );
    expect(both).toMatchObject({
      text: '{"max_tokens":8192,"model":"m","messages":[{"role":"user","content":"hi"}]}',
      rewrites: ['b1', 'b2'],
    });
    const filled = patch('messages', '{"model":"m","messages":[{"role":"user","content":"hi"}]}', {
      maxOutputTokens: 64000,
    });
    expect(JSON.parse(filled.text)).toMatchObject({ max_tokens: 64000 });
    const nulled = patch(
      'messages',
      '{"max_tokens":null,"model":"m","messages":[{"role":"user","content":"hi"}]}',
    );
    expect(nulled.text).toBe(
      '{"max_tokens":8192,"model":"m","messages":[{"role":"user","content":"hi"}]}',
    );
    const cut = patch(
      'messages',
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":99}',
      {
        maxOutputTokens: 50,
      },
    );
    expect(cut).toMatchObject({
      text: '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":50}',
      rewrites: ['b2'],
    });
  });

  it('leave max_tokens out of token counts', () => {
    const counted = patch(
      'messages',
      '{"model":"m","messages":[{"role":"user","content":"hi"}]}',
      {},
      count,
    );
    expect(counted).toMatchObject({ same: true, rewrites: [] });
  });

  it('make the model in a generate-content body the one that was authorised', () => {
    const text = '{"model":"models/dear","contents":[]}';
    expect(patch('generate-content', text, {}, inPath('cheap')).text).toBe(
      '{"model":"models/cheap","contents":[]}',
    );
    const counted = '{"generateContentRequest":{"model":"models/g","contents":[]}}';
    const path = { ...inPath('g'), operation: 'count-tokens' } as const;
    expect(patch('generate-content', counted, {}, path).same).toBe(true);
    expect(patch('generate-content', counted, { upstreamModel: 'u' }, path).text).toBe(
      '{"generateContentRequest":{"model":"models/u","contents":[]}}',
    );
  });
});
