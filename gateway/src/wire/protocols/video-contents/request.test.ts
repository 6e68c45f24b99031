import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openRequest } from './request.ts';

const text = (words: string) => ({ type: 'text', text: words });
const image = (url = 'https://a.example/b.png', more: object = {}) => ({
  type: 'image_url',
  image_url: { url },
  ...more,
});
const video = (url = 'https://a.example/b.mp4') => ({ type: 'video_url', video_url: { url } });
const sound = (url = 'https://a.example/b.mp3') => ({ type: 'audio_url', audio_url: { url } });

const bodyOf = (changes: object = {}) => ({ model: 'm', content: [text('a cat')], ...changes });
const readText = (body: string) => openRequest(Buffer.from(body)).read();
const read = (changes: object = {}) => readText(JSON.stringify(bodyOf(changes)));

/** The body as it is sent to a channel that calls the model `up`. */
function sentText(body: string): string {
  const { before, after } = readText(body).body;
  return Buffer.concat([before, Buffer.from('"up"'), after]).toString();
}
const sent = (changes: object = {}) => JSON.parse(sentText(JSON.stringify(bodyOf(changes))));
const usual = { model: 'up', resolution: '720p', duration: 5, execution_expires_after: 86_400 };
const prompts = (words: string, more: object = {}) => ({
  content: undefined,
  prompt: words,
  ...more,
});

test.each([
  '{"model":"a","model":"b"}',
  '{"model":"a","Content":[],"content":[]}',
  '{"model":"a","duration":4,"duration":15}',
])('what can be read in two ways is refused: %s', (body) => {
  expect(() => openRequest(Buffer.from(body))).toThrow('duplicate key');
});

test.each([
  '{"type":"text","type":"video_url","text":"x","video_url":{"url":"https://a.example/b"}}',
  '{"type":"image_url","image_url":{"url":"https://a.example/b","url":"https://a.example/c"}}',
])('so is an element: %s', (element) => {
  expect(() => readText(`{"model":"a","content":[${element}]}`)).toThrow('duplicate key');
});

test.each<[string, object]>([
  ['content', { content: undefined }],
  ['content', { content: null }],
  ['content', { content: [] }],
  ['content', { content: 'a cat' }],
  ['prompt', { prompt: 'a cat' }],
  ['images', { images: ['https://a.example/b.png'] }],
  ['prompt', prompts(7 as never)],
  ['prompt.text', prompts('')],
  ['images', prompts('a cat', { images: 'https://a.example/b.png' })],
  ['images[0]', prompts('a cat', { images: [7] })],
  ['images[0].image_url.url', prompts('a cat', { images: ['http://10.0.0.1/b'] })],
  ['content[0]', { content: ['a cat'] }],
  ['content[0].type', { content: [{ type: 'draft_task' }] }],
  ['content[0].type', { content: [{ type: 'constructor' }] }],
  ['content[0].type', { content: [{}] }],
  ['content[0].text', { content: [text('')] }],
  ['content[0].text', { content: [{ type: 'text' }] }],
  ['content[1].image_url.url', { content: [text('a'), { type: 'image_url' }] }],
  ['content[0].image_url.url', { content: [image('ftp://a.example/b')] }],
  ['content[0].image_url.url', { content: [image('http://localhost/b')] }],
  ['content[0].image_url.url', { content: [image('data:video/mp4;base64,abcd')] }],
  ['content[0].video_url.url', { content: [video('data:image/png;base64,abcd')] }],
  ['content[0].audio_url.url', { content: [sound('data:audio/mp3;base64,%')] }],
  // Charged as one kind and used as another.
  [
    'content[0].video_url',
    { content: [{ ...text('a'), video_url: { url: 'https://a.example' } }] },
  ],
  ...['2K', '540P', '', 720, true].map(
    (resolution) => ['resolution', { resolution }] as [string, object],
  ),
  ...['16x9', '16:0', '0:9', '1.5:1', '', 7, 'ADAPTIV'].map(
    (ratio) => ['ratio', { ratio }] as [string, object],
  ),
  ...[3, 16, -1, 0, 5.5, '5', true, 1e18].map(
    (duration) => ['duration', { duration }] as [string, object],
  ),
  ...[25, 72, 361, 0, -97, 97.5, '97', 1e300].map(
    (frames) => ['frames', { frames }] as [string, object],
  ),
  ...[-2, 2_147_483_648, 1.5, '7', true].map((seed) => ['seed', { seed }] as [string, object]),
  ['frames', { frames: 97, duration: 4 }],
  ['n', { n: 2 }],
  ['video_count', { video_count: 3 }],
  ['tools', { tools: [] }],
  ['tools', { tools: [{ type: 'web_search' }] }],
  // Shorthands.
  ['resolution', { content: [text('a --rs 480p')], resolution: '720P' }],
  ['resolution', { content: [text('a --rs 480p'), text('b --rs 720p')] }],
  ['duration', { content: [text('a --dur 5')], duration: 6 }],
  ['frames', { content: [text('a --frames 97')], duration: 6 }],
  ['frames', { content: [text('a --frames 97')], frames: 98 }],
  ['ratio', { content: [text('a --rt 1:1 --ratio 16:9')] }],
  ['seed', { content: [text('a --seed 1')], seed: 2 }],
  ['--duration', { content: [text('a --dur 16')] }],
  ['--duration', { content: [text('a --dur 5s')] }],
  ['--resolution', { content: [text('a --rs 2k')] }],
  ['--frames', { content: [text('a --frames 25')] }],
  ['--fps', { content: [text('a --fps 30')] }],
  ['content[0].text', { content: [text('a --dur')] }],
  ['content', { content: [text('--dur 5')] }],
  ['content', prompts('--dur 5')],
])('refused: %s in %j', (param, changes) => {
  expect(() => read(changes)).toThrow(
    expect.objectContaining({ param, entry: expect.objectContaining({ status: 400 }) }),
  );
});

test.each<[object, object]>([
  [{}, { resolution: '720P', seconds: 5, withVideo: false }],
  [
    { resolution: '2160p', duration: 15 },
    { resolution: '4K', seconds: 15, withVideo: false },
  ],
  [{ resolution: '4k' }, { resolution: '4K', seconds: 5, withVideo: false }],
  [{ resolution: '480' }, { resolution: '480P', seconds: 5, withVideo: false }],
  [{ frames: 97 }, { resolution: '720P', seconds: 5, withVideo: false }],
  [
    { frames: 96, duration: 4 },
    { resolution: '720P', seconds: 4, withVideo: false },
  ],
  [{ frames: 360 }, { resolution: '720P', seconds: 15, withVideo: false }],
  [{ frames: 73 }, { resolution: '720P', seconds: 4, withVideo: false }],
  [{ content: [text('a'), video()] }, { resolution: '720P', seconds: 5, withVideo: true }],
  [
    { content: [sound('data:audio/wav;base64,abcd'), image()] },
    { resolution: '720P', seconds: 5, withVideo: false },
  ],
  [
    { content: [text('a --rs 1080p --dur 7')], resolution: '1080', duration: 7 },
    { resolution: '1080P', seconds: 7, withVideo: false },
  ],
  [
    { content: [text('a --frames 97 --dur 5')] },
    { resolution: '720P', seconds: 5, withVideo: false },
  ],
  [
    { resolution: null, duration: null, frames: null, ratio: null, seed: null, tools: null },
    { resolution: '720P', seconds: 5, withVideo: false },
  ],
])('%j asks for %j', (changes, demand) => expect(read(changes).demand).toEqual(demand));

describe('what is sent', () => {
  const cat = [text('a cat')];
  test.each<[object, object]>([
    [{}, { ...usual, content: cat }],
    [{ resolution: '4K' }, { ...usual, resolution: '4k', content: cat }],
    [
      { resolution: null, duration: null, tools: null },
      { ...usual, content: cat },
    ],
    [
      { frames: 97, callback_url: 'https://a.example' },
      { ...usual, content: cat },
    ],
    [
      { execution_expires_after: 3_600 },
      { ...usual, execution_expires_after: 3_600, content: cat },
    ],
    [prompts('a cat'), { ...usual, content: cat }],
    [
      prompts('a cat', { images: ['https://a.example/b.png'], content: null }),
      { ...usual, content: [text('a cat'), image()] },
    ],
    [
      prompts('--dur 6', { images: ['https://a.example/b.png'] }),
      { ...usual, duration: 6, content: [image()] },
    ],
    [
      { content: [text('a cat --rs 1080p --seed 7 —ratio 1:1 --cf true')] },
      { ...usual, resolution: '1080p', seed: 7, ratio: '1:1', content: [text('a cat --cf true')] },
    ],
    [
      { content: [text('--dur 6'), image(undefined, { role: 'first_frame', x: 1 })] },
      { ...usual, duration: 6, content: [image(undefined, { role: 'first_frame', x: 1 })] },
    ],
    [
      { seed: -1, ratio: 'adaptive', watermark: 'x' },
      { ...usual, seed: -1, ratio: 'adaptive', watermark: 'x', content: cat },
    ],
  ])('%j is sent as %j', (changes, expected) => expect(sent(changes)).toEqual(expected));

  test('everything else is sent byte for byte', () => {
    const body =
      '{ "content": [ {"text":"\\u0063at","type":"text", "n":12345678901234567890} ],\n"x":{"b":1,"a":1.0} ,"model" : "m","seed":1e1,"resolution":"720p","duration":5,"execution_expires_after":3600 }';
    expect(sentText(body)).toBe(body.replace('"m"', '"up"'));
  });

  test('of a text with a shorthand, only that text changes', () => {
    const body =
      '{"model":"m","content":[ {"n":1.0,"type":"text","text":"a --dur 6"} , {"type":"text", "text":"b"}],"resolution":"720p","duration":6,"execution_expires_after":3600}';
    expect(sentText(body)).toBe(body.replace('"m"', '"up"').replace('a --dur 6', 'a'));
  });

  test('what is priced is what is sent, wherever it was asked for', () => {
    const words = fc.constantFrom('a cat', 'runs', '--cf true', '');
    const resolution = fc.constantFrom('480P', '720p', '1080', '4k', '2160P');
    const seconds = fc.integer({ min: 4, max: 15 });
    const places = fc.record({
      resolution,
      seconds,
      inField: fc.boolean(),
      inText: fc.boolean(),
      asFrames: fc.boolean(),
      texts: fc.array(words, { minLength: 1, maxLength: 3 }),
      others: fc.dictionary(
        fc.constantFrom('watermark', 'x', 'callback_url', 'generate_audio', 'seed2'),
        fc.jsonValue(),
      ),
      isModelLast: fc.boolean(),
    });
    fc.assert(
      fc.property(
        places,
        ({
          resolution: asked,
          seconds: long,
          inField,
          inText,
          asFrames,
          texts,
          others,
          isModelLast,
        }) => {
          const shorthand = `--rs ${asked} ${asFrames ? `--frames ${long * 24 - 3}` : `--dur ${long}`}`;
          const content = texts.map((words_, at) =>
            text(`x ${words_} ${inText && at === 0 ? shorthand : ''} y`),
          );
          const fields = inField
            ? { resolution: asked, ...(asFrames ? { frames: long * 24 - 3 } : { duration: long }) }
            : {};
          const body = isModelLast
            ? { ...others, ...fields, content, model: 'm' }
            : { model: 'm', content, ...fields, ...others };
          const json = JSON.stringify(body);
          const { demand } = readText(json);
          const up = JSON.parse(sentText(json));
          expect(up.duration).toBe(demand.seconds);
          expect(up.resolution).toBe(demand.resolution.toLowerCase());
          expect(up).not.toHaveProperty('frames');
          expect(up).not.toHaveProperty('callback_url');
          if (inField || inText) expect(demand.seconds).toBe(long);
          expect(JSON.stringify(up.content)).not.toMatch(/--(?:rs|dur|frames)/);
          for (const [name, value] of Object.entries(others)) {
            if (name !== 'callback_url')
              expect(up[name]).toEqual(JSON.parse(JSON.stringify(value)));
          }
        },
      ),
    );
  });
});
