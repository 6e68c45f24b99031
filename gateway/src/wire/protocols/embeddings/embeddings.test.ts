import { describe, expect, test } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { UnreadableResponse } from '../protocol.ts';
import { embeddings } from './index.ts';
import { readExtent } from './request.ts';

const echo = { clientModel: 'mine', upstreamModel: 'mine' };

function read(body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return embeddings.readRequest(embeddings.openRequest(Buffer.from(text)));
}

describe('a request', () => {
  test.each([
    ['a text', 'hello', { items: 1, tokens: null, unseen: false }],
    ['texts', ['a', 'b'], { items: 2, tokens: null, unseen: false }],
    ['a list of tokens', [1, 2, 3], { items: 1, tokens: 3, unseen: false }],
    ['lists of tokens', [[1, 2], [3]], { items: 2, tokens: 3, unseen: false }],
    ['texts beside tokens', ['a', [1, 2]], { items: 2, tokens: null, unseen: false }],
    ['an empty list', [], { items: 1, tokens: null, unseen: false }],
    ['an empty list in a list', [[], [1]], { items: 2, tokens: null, unseen: true }],
    ['an object', { image: 'https://…' }, { items: 1, tokens: null, unseen: true }],
    ['an object in a list', ['a', { image: 'x' }], { items: 2, tokens: null, unseen: true }],
    ['a number', 7, { items: 1, tokens: null, unseen: true }],
  ])('with %s', (_, input, expected) => {
    expect(readExtent(input)).toEqual(expected);
  });

  test('knows the bytes of its input', () => {
    expect(read('{"model":"m", "input": [1, 2] ,"user":"u"}')).toMatchObject({
      model: 'm',
      inputBytes: '[1, 2]'.length,
    });
  });

  test.each([
    ['no model', { input: 'a' }, 'model_required'],
    ['no input', { model: 'm' }, 'missing_parameter'],
    ['null as input', { model: 'm', input: null }, 'missing_parameter'],
    ['a list as body', '[]', 'invalid_body'],
    ['no JSON', '{"model":"m","input":nonsense}', 'invalid_body'],
    ['a member twice', '{"model":"m","input":"a","input":"b"}', 'duplicate_key'],
    ['a member in another spelling', '{"model":"m","Input":"a"}', 'duplicate_key'],
  ])('with %s is refused', (_, body, expected) => {
    expect(() => read(body)).toThrow(
      expect.toSatisfy(
        (error: unknown) => error instanceof GatewayError && error.errorName === expected,
      ),
    );
  });

  test('reaches the upstream with nothing but the name of its model changed', () => {
    const text = '{ "input":["a",1.0],"model" : "mine","user":"u","encoding_format":"base64" }';
    const request = read(text);
    expect(embeddings.patchRequest(request, 'theirs').toString()).toBe(
      text.replace('"mine"', '"theirs"'),
    );
    expect(embeddings.patchRequest(request, 'mine')).toBe(request.body);
  });
});

describe('a response', () => {
  const readText = (text: string, names = echo) =>
    embeddings.readResponse(Buffer.from(text), names);
  const withUsage = (usage: unknown) =>
    readText(JSON.stringify({ object: 'list', data: [{}], usage })).usage;

  test('is passed on byte for byte when no name was mapped', () => {
    const body = Buffer.from('{"data":[{"embedding":[0.10,-1e-3]}],"model":"x"}');
    expect(embeddings.readResponse(body, echo).body).toBe(body);
  });

  test('names the model as the client did when the channel maps it', () => {
    const text = '{"model" : "theirs","data":[{"embedding":[0.10],"model":"theirs"}]}';
    expect(readText(text, { clientModel: 'mine', upstreamModel: 'theirs' }).body.toString()).toBe(
      '{"model" : "mine","data":[{"embedding":[0.10],"model":"theirs"}]}',
    );
  });

  test.each([
    [{ prompt_tokens: 5, total_tokens: 5 }, 5],
    [{ prompt_tokens: 5, total_tokens: 9 }, 5],
    [{ input_tokens: 6 }, 6],
    [{ total_tokens: 7 }, 7],
    [{ prompt_tokens: 0, total_tokens: 0 }, 0],
    [{ prompt_tokens: null, total_tokens: 4 }, 4],
    [{ prompt_tokens: '5' }, 5],
  ])('with usage %j has %i input tokens', (usage, input) => {
    expect(withUsage(usage)).toMatchObject({ tokens: { input, output: 0 }, implausible: false });
  });

  test.each([
    undefined,
    null,
    {},
    5,
    ...[-7, 0.5, '1e3', 'x', true, {}, []].map((count) => ({ prompt_tokens: count })),
  ])('with usage %j reports none', (usage) => {
    expect(withUsage(usage)).toBeNull();
  });

  test.each([1e15, 2 ** 53, 1e308])(
    'with a count that no request has (%j) is not believed',
    (count) => {
      expect(withUsage({ prompt_tokens: count })?.implausible).toBe(true);
    },
  );

  test('with a total beside something else than a count has the total, and is doubtful', () => {
    expect(withUsage({ prompt_tokens: true, total_tokens: 9 })).toMatchObject({
      tokens: { input: 9 },
      isDoubtful: true,
    });
  });

  test('without vectors is empty', () => {
    expect(readText('{"data":[ ]}').isEmpty).toBe(true);
    expect(readText('{"data":[{}]}').isEmpty).toBe(false);
  });

  test.each([
    ['no JSON', 'nonsense'],
    ['a list', '[]'],
    ['no data', '{"object":"list"}'],
    ['data that is not a list', '{"data":{}}'],
    ['an end too early', '{"data":[{"embedding":[1,2'],
    ['something behind it', '{"data":[]}{}'],
    ['an error', '{"data":[],"error":{"message":"no"}}'],
  ])('with %s is unreadable', (_, text) => {
    expect(() => readText(text)).toThrow(UnreadableResponse);
  });

  test('with an error gives the error, to be judged', () => {
    const text = '{"error":{"code":"rate_limit_exceeded"},"usage":{"prompt_tokens":3}}';
    expect(() => readText(text)).toThrow(
      expect.objectContaining({
        body: { error: { code: 'rate_limit_exceeded' } },
        usage: expect.objectContaining({ implausible: false }),
      }),
    );
  });

  test('with an empty error is a response', () => {
    expect(readText('{"data":[],"error":null}').isEmpty).toBe(true);
  });
});
