import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openRequest } from './request.ts';

const image = (first: readonly number[], type: string) =>
  `data:image/${type};base64,${Buffer.from([...first, ...Array(20).fill(1)]).toString('base64')}`;
const png = image([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], 'png');
const jpeg = image([0xff, 0xd8, 0xff], 'jpeg');

const bodyOf = (changes: object = {}) => ({
  model: 'wan2.6-i2v',
  input: { prompt: 'a cat' },
  ...changes,
});
const readText = (text: string) => openRequest(Buffer.from(text)).read();
const read = (changes: object = {}) => readText(JSON.stringify(bodyOf(changes)));

/** The body as it is sent to a channel that calls the model `up`. */
function sentText(text: string): string {
  const { before, after } = readText(text).body;
  return Buffer.concat([before, Buffer.from('"up"'), after]).toString();
}
const sent = (changes: object = {}) => JSON.parse(sentText(JSON.stringify(bodyOf(changes))));

describe('the model', () => {
  test('is read first, whatever else is wrong', () => {
    expect(openRequest(Buffer.from('{"model":"m","input":7}')).model).toBe('m');
  });

  test.each(['{}', '{"model":""}', '{"model":7}'])('is required: %s', (text) => {
    expect(() => openRequest(Buffer.from(text))).toThrow('model is required');
  });

  test.each(['', '[]', '{"model":"m"', 'null', '{"model":"m"} x'])('not JSON: %s', (text) => {
    expect(() => openRequest(Buffer.from(text))).toThrow('invalid request body');
  });

  test.each([
    '{"model":"a","model":"b"}',
    '{"model":"a","Model":"b"}',
    '{"model":"a","input":{"prompt":"x","prompt":"y"}}',
    '{"model":"a","parameters":{"duration":3,"duration":15}}',
    '{"model":"a","input":{"prompt":"x"},"n":1,"n":2}',
    '{"model":"a","parameters":{"shot_type":1,"shot_type":2}}',
  ])('what can be read in two ways is refused: %s', (text) => {
    expect(() => openRequest(Buffer.from(text))).toThrow('duplicate key');
  });
});

test.each<[string, object]>([
  ['input', { input: undefined }],
  ['input', { input: null }],
  ['input', { input: 'a cat' }],
  ['input', { input: [] }],
  ['input', { input: {} }],
  ['input.prompt', { input: { prompt: 7 } }],
  ['input.img_url', { input: { img_url: 7 } }],
  ['input.img_url', { input: { img_url: ['https://a.example/b.png'] } }],
  ['input.img_url', { input: { img_url: '' } }],
  ['input.img_url', { input: { img_url: 'http://10.0.0.1/a.png' } }],
  ['input.img_url', { input: { img_url: 'oss://bucket/a.png' } }],
  ['input.img_url', { input: { img_url: 'data:image/png;base64,%%%%' } }],
  ['input.img_url', { input: { img_url: png.replace('image/png', 'text/plain') } }],
  ['input.img_url', { input: { img_url: image([...Buffer.from('GIF89a')], 'gif') } }],
  ['input.img_url', { input: { img_url: image([...Buffer.from('GIF89a')], 'png') } }],
  ['input.img_url', { input: { img_url: image([...Buffer.from('RIFF0000WAVE')], 'webp') } }],
  ['n', { n: 2 }],
  ['input.video_count', { input: { prompt: 'a cat', video_count: 2 } }],
  ['parameters.n', { parameters: { n: '2' } }],
  ['parameters.sampleCount', { parameters: { sampleCount: 4 } }],
  ['input.audio_url', { input: { audio_url: 'http://localhost/a.mp3' } }],
  ['input.audio_url', { input: { audio_url: 'data:audio/mp3;base64,abcd' } }],
  ['parameters', { parameters: 'x' }],
  ['parameters', { parameters: [] }],
  ...[2, 16, 5.5, -1, 0, 1e18, '5', true, [], {}].map(
    (duration) => ['parameters.duration', { parameters: { duration } }] as [string, object],
  ),
  ...['4K', '720', 'p', '', 720, true, []].map(
    (resolution) => ['parameters.resolution', { parameters: { resolution } }] as [string, object],
  ),
  ...['9000*9000', '0*5', '1280', '1280*720*2', 'x*y', 7].map(
    (size) => ['parameters.size', { parameters: { size } }] as [string, object],
  ),
  ['parameters.prompt_extend', { parameters: { prompt_extend: 'true' } }],
  ['parameters.prompt_extend', { parameters: { prompt_extend: 1 } }],
])('refused: %s in %j', (param, changes) => {
  expect(() => read(changes)).toThrow(
    expect.objectContaining({ errorName: 'invalid_value', param }),
  );
});

test.each([
  { input: { prompt: 'a cat' } },
  { input: { template: 'flying' } },
  { input: { img_url: 'https://a.example/b.png' } },
  { input: { img_url: png } },
  { input: { img_url: jpeg } },
  { input: { img_url: jpeg.replace('jpeg', 'jpg') } },
  // Clients label every image as the type that they know.
  { input: { img_url: png.replace('png', 'jpeg') } },
  { input: { img_url: jpeg.replace('jpeg', 'png') } },
  { n: 1, parameters: { n: 1, video_count: null } },
  { input: { img_url: image([0x42, 0x4d], 'bmp') } },
  {
    input: {
      img_url: image([...Buffer.from('RIFF'), 1, 1, 1, 1, ...Buffer.from('WEBP')], 'webp'),
    },
  },
  { input: { prompt: 'x', audio_url: null }, parameters: null },
  { parameters: { prompt_extend: false, shot_type: 'multi', watermark: 'whatever' } },
])('taken: %j', (changes) => expect(read(changes).demand.seconds).toBe(5));

test.each<[object, number, string]>([
  [{}, 5, '720P'],
  [{ duration: 3 }, 3, '720P'],
  [{ duration: 15, resolution: '1080p' }, 15, '1080P'],
  [{ resolution: '480P' }, 5, '480P'],
  [{ size: '832*480' }, 5, '480P'],
  [{ size: '1280*720' }, 5, '720P'],
  [{ size: '1920*1080' }, 5, '1080P'],
  [{ size: '1080x1920' }, 5, '1080P'],
  [{ size: '1920*1080', resolution: '480P' }, 5, '1080P'],
  [{ size: '832*480', resolution: '1080P' }, 5, '1080P'],
  [{ duration: null, resolution: null, size: null }, 5, '720P'],
])('%j is %d s at %s', (parameters, seconds, resolution) => {
  expect(read({ parameters }).demand).toEqual({ seconds, resolution, withVideo: false });
});

test('sound is named, so that it can be checked', () => {
  expect(read({ input: { audio_url: 'https://a.example/b.mp3' } }).audioUrl).toBe(
    'https://a.example/b.mp3',
  );
});

describe('what is sent', () => {
  test.each<[object, object]>([
    [{}, { parameters: { duration: 5, resolution: '720P' } }],
    [{ parameters: null }, { parameters: { duration: 5, resolution: '720P' } }],
    [{ parameters: {} }, { parameters: { duration: 5, resolution: '720P' } }],
    [{ parameters: { a: 1 } }, { parameters: { duration: 5, resolution: '720P', a: 1 } }],
    [{ parameters: { size: '1280*720' } }, { parameters: { duration: 5, size: '1280*720' } }],
    [
      { parameters: { resolution: '1080p', duration: null } },
      { parameters: { resolution: '1080P', duration: 5 } },
    ],
  ])('%j is sent as it is priced: %j', (changes, expected) => {
    expect(sent(changes)).toEqual({ model: 'up', input: { prompt: 'a cat' }, ...expected });
  });

  test('everything else is sent byte for byte', () => {
    const text =
      '{ "input":{"prompt":"\\u0063at","k":12345678901234567890, "x":{"b":1,"a":1.0}} ,"model" : "m",\n"parameters":{"seed":1e2,"resolution":"720P","duration":5},"y":[ ]}';
    expect(sentText(text)).toBe(text.replace('"m"', '"up"'));
  });

  test('whatever else is in a request, it is sent as it is, with what is priced', () => {
    const more = fc.dictionary(
      fc
        .string({ minLength: 1 })
        .filter((key) => !/^(?:model|input|parameters|n)$/i.test(key) && key !== '__proto__'),
      fc.jsonValue(),
    );
    const parameters = fc.record(
      {
        duration: fc.integer({ min: 3, max: 15 }),
        resolution: fc.constantFrom('480P', '720p', '1080P'),
        seed: fc.integer(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(more, parameters, fc.boolean(), (others, given, isModelLast) => {
        const body = isModelLast
          ? { ...others, input: { prompt: 'p' }, parameters: given, model: 'm' }
          : { model: 'm', parameters: given, input: { prompt: 'p' }, ...others };
        const text = JSON.stringify(body);
        const { demand } = readText(text);
        const { parameters: sentParameters, ...rest } = JSON.parse(sentText(text));
        expect(sentParameters).toEqual({
          ...given,
          duration: demand.seconds,
          resolution: demand.resolution,
        });
        expect(rest).toEqual(
          JSON.parse(JSON.stringify({ ...others, model: 'up', input: { prompt: 'p' } })),
        );
      }),
    );
  });
});
