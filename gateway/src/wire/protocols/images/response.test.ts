import { describe, expect, test } from 'vitest';
import { UnreadableResponse } from '../protocol.ts';
import { images } from './index.ts';

const same = { clientModel: 'mine', upstreamModel: 'mine' };
const mapped = { clientModel: 'mine', upstreamModel: 'theirs' };
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const b64 = png.toString('base64');

const read = (response: unknown, echo = same) =>
  images.readResponse(
    Buffer.from(typeof response === 'string' ? response : JSON.stringify(response)),
    echo,
  );

describe('a response', () => {
  test('of OpenAI is read', () => {
    const body = {
      created: 1,
      size: '1024x1024',
      data: [{ b64_json: b64, revised_prompt: 'a' }, { url: 'https://example.com/a' }],
      usage: {
        total_tokens: 1468,
        input_tokens: 312,
        output_tokens: 1156,
        input_tokens_details: { text_tokens: 12, image_tokens: 300 },
        output_tokens_details: { text_tokens: 100, image_tokens: 1056 },
      },
    };
    const { body: bytes, ...response } = read(body);
    expect(JSON.parse(bytes.toString())).toEqual(body);
    expect(response).toEqual({
      entries: [
        { size: null, zIndex: null, isFailed: false, imageStart: png },
        { size: null, zIndex: null, isFailed: false, imageStart: null },
      ],
      size: '1024x1024',
      inputImages: null,
      usage: {
        implausible: false,
        tokens: {
          input: 312,
          inputImage: 300,
          cacheRead: 0,
          cacheWrite: 0,
          cacheWrite1h: 0,
          output: 1156,
          outputImage: 1056,
          reasoning: 0,
        },
      },
    });
  });

  test('of Ark is read', () => {
    const response = read({
      model: 'mine',
      data: [
        { url: 'u', size: '2048x2048', z_index: 0 },
        { url: 'u', size: '1000x265', z_index: 1 },
        { error: { code: 'OutputImageSensitiveContentDetected', message: 'no' } },
      ],
      usage: { input_images: 1, generated_images: 2, output_tokens: 23107, total_tokens: 23107 },
    });
    expect(response.entries).toEqual([
      { size: '2048x2048', zIndex: 0, isFailed: false, imageStart: null },
      { size: '1000x265', zIndex: 1, isFailed: false, imageStart: null },
      { size: null, zIndex: null, isFailed: true, imageStart: null },
    ]);
    expect(response).toMatchObject({
      size: null,
      inputImages: 1,
      usage: { tokens: { input: 0, output: 23107, outputImage: 23107 } },
    });
  });

  test.each([
    ['no usage', undefined, null],
    ['an empty usage', {}, null],
    ['pictures alone', { generated_images: 2 }, null],
    ['one side alone', { output_tokens: 5 }, null],
    [
      'cached tokens beside those of the details',
      {
        input_tokens: 412,
        output_tokens: 7,
        input_tokens_details: { text_tokens: 12, image_tokens: 300, cached_tokens: 100 },
      },
      { input: 312, inputImage: 300, cacheRead: 100, output: 7, outputImage: 7 },
    ],
    [
      'tokens of pictures beside the sum',
      { input_tokens: 12, output_tokens: 7, input_tokens_details: { image_tokens: 300 } },
      { input: 312, inputImage: 300 },
    ],
    [
      'text alone in the output',
      { input_tokens: 1, output_tokens: 7, output_tokens_details: { text_tokens: 7 } },
      { output: 7 },
    ],
  ])('reports %s', (_, usage, tokens) => {
    const reported = read({ data: [], usage }).usage;
    if (tokens === null) expect(reported).toBeNull();
    else expect(reported).toMatchObject({ tokens, implausible: false });
  });

  const withImageTokens = (count: unknown) => {
    const details = { image_tokens: count };
    const usage = { input_tokens: 5, output_tokens: 7, output_tokens_details: details };
    return read({ data: [], usage }).usage;
  };

  test.each([-1, 0.5, 'x', true])('is doubtful with %j tokens of pictures', (count) => {
    // All of the output is that of images then.
    const tokens = { output: 7, outputImage: 7 };
    expect(withImageTokens(count)).toMatchObject({ tokens, isDoubtful: true });
  });

  test('reads counts as text, and more tokens of pictures than there can be', () => {
    expect(withImageTokens('7')).toMatchObject({ tokens: { outputImage: 7 }, implausible: false });
    expect(withImageTokens(2 ** 60)).toMatchObject({ implausible: true });
  });

  test.each([
    ['no JSON', '{"data":[}'],
    ['no object', '[]'],
    ['no data', { created: 1 }],
    ['data that is not a list', { data: {} }],
    ['an entry that is not an object', { data: [null] }],
    ['a text that does not end', '{"data":[{"b64_json":"AAAA'],
  ])('with %s cannot be read', (_, body) => {
    expect(() => read(body)).toThrow(UnreadableResponse);
  });

  test('with an error cannot be read, and the error is kept', () => {
    const error = { code: 'sensitive', message: 'no' };
    try {
      read({ error, usage: { input_tokens: 1, output_tokens: 2 } });
      expect.unreachable();
    } catch (thrown) {
      expect(thrown).toMatchObject({ body: { error }, usage: { tokens: { input: 1 } } });
    }
  });

  test('has the client’s name of the model, and is otherwise unchanged', () => {
    const long = 'A'.repeat(200_000);
    const text = ` { "data":[{"b64_json":"${long}","model":"theirs"}], "model" : "theirs-2026" ,"x":1.0}`;
    expect(read(text, mapped).body.toString()).toBe(text.replace('"theirs-2026"', '"mine"'));
    expect(read(text).body.toString()).toBe(text);
    expect(read('{"data":[],"model":7}', mapped).body.toString()).toBe('{"data":[],"model":7}');
    expect(read('{"mod\\u0065l":"theirs","data":[]}', mapped).body.toString()).toContain('"mine"');
  });

  test('has the first bytes of its pictures, however they are written', () => {
    const escaped = b64.replaceAll('/', '\\/');
    const text = `{"data":[{"b64_json":"${escaped}"},{"b64_json":"data:image/png;base64,${b64}"},{"b64_json":""}]}`;
    expect(read(text).entries.map(({ imageStart }) => imageStart)).toEqual([png, png, null]);
    const large = Buffer.concat([png, Buffer.alloc(1_000_000)]).toString('base64');
    const [entry] = read({ data: [{ b64_json: large }] }).entries;
    expect(entry?.imageStart?.length).toBe(48 * 1024);
  });
});
