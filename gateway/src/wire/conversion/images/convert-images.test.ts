import { describe, expect, test } from 'vitest';
import { images, imageCodecs } from '#protocols/index.ts';
import { convertImageRequest, MediaRefused, type ImageConversion } from '../index.ts';

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(30_000, 7)]);
const base64 = png.toString('base64');
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]).toString('base64');

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const chatRequest = (value: unknown) =>
  imageCodecs.chat.decodeRequest(bytesOf({ model: 'mine', ...(value as object) })).request;
const contentsRequest = (value: unknown) => imageCodecs.contents.decodeRequest(bytesOf(value));
const imagesRequest = (value: Record<string, unknown>) =>
  imageCodecs.images.decodeRequest(images.openGeneration(bytesOf({ model: 'm', ...value })));

const target: ImageConversion = {
  client: 'chat',
  upstream: 'images',
  model: 'theirs',
  capabilities: new Set(),
  asksForBytes: false,
  boundary: 'B',
  strict: false,
  fetchImage: () => Promise.reject(new MediaRefused('its host has no public address')),
};

async function convert(
  request: Parameters<typeof convertImageRequest>[0],
  options: Partial<Omit<ImageConversion, 'capabilities'>> & { can?: string } = {},
) {
  const capabilities = new Set((options.can ?? '').split(' '));
  const { body, ...rest } = await convertImageRequest(request, {
    ...target,
    ...options,
    capabilities,
  });
  const isForm = rest.contentType.startsWith('multipart');
  return {
    ...rest,
    body: isForm ? body.toString('latin1') : (JSON.parse(body.toString()) as unknown),
    losses: rest.losses.map(({ what, how }) => `${how}:${what}`),
  };
}

const user = (content: unknown) => ({ role: 'user', content });
const imageUrl = (url: string) => ({ type: 'image_url', image_url: { url } });

describe('a chat', () => {
  test('asks with the last message of the user, and the members of images alone', async () => {
    const request = chatRequest({
      model: 'mine',
      messages: [
        { role: 'system', content: 'Never.' },
        user('A dog'),
        { role: 'assistant', content: 'ok' },
        user([
          { type: 'text', text: 'A cat' },
          { type: 'text', text: 'on a mat' },
        ]),
        { role: 'assistant', content: 'so' },
      ],
      n: 2,
      size: '1024x1024',
      quality: 'high',
      background: 'opaque',
      output_format: 'webp',
      moderation: 'low',
      temperature: 5,
      max_tokens: 3,
      response_format: { type: 'json_object' },
      stream: true,
    });
    expect(await convert(request)).toEqual({
      form: 'generation',
      contentType: 'application/json',
      body: {
        model: 'theirs',
        prompt: 'A cat\non a mat',
        n: 2,
        size: '1024x1024',
        quality: 'high',
        background: 'opaque',
        output_format: 'webp',
        moderation: 'low',
      },
      losses: [],
    });
  });

  test('says whether it streams and wants the usage', () => {
    const read = (more: object) =>
      imageCodecs.chat.decodeRequest(
        bytesOf({ model: 'mine', messages: [user('A cat')], ...more }),
      );
    expect(read({})).toMatchObject({ stream: false, wantsUsage: false });
    expect(read({ stream: true, stream_options: { include_usage: true } })).toMatchObject({
      stream: true,
      wantsUsage: true,
    });
  });

  test.each([
    ['no messages', {}, 'messages'],
    ['no message of the user', { messages: [{ role: 'system', content: 'a' }] }, 'messages'],
    ['no text', { messages: [user([imageUrl(`data:image/png;base64,${base64}`)])] }, /^messages/],
    ['an empty text', { messages: [user(' ')] }, /^messages/],
    ['a text before, and none in the last', { messages: [user('a'), user([])] }, /^messages/],
    ['an unknown size', { messages: [user('a')], size: '1x' }, 'size'],
    ['an unknown quality', { messages: [user('a')], quality: 'best' }, 'quality'],
    ['too many', { messages: [user('a')], n: 11 }, 'n'],
    ['a part of one', { messages: [user('a')], n: 1.5 }, 'n'],
    [
      'transparent JPEG',
      { messages: [user('a')], background: 'transparent', output_format: 'jpeg' },
      'background',
    ],
    [
      'a text posing as a picture',
      { messages: [user([{ type: 'text', text: 'a' }, imageUrl('nonsense')])] },
      /^messages/,
    ],
  ])('with %s is refused', (_, body, param) => {
    expect(() => chatRequest(body)).toThrow(
      expect.objectContaining({
        entry: expect.objectContaining({ status: 400 }) as unknown,
        param: expect.stringMatching(param) as unknown,
      }),
    );
  });

  test('sends its pictures as a form to a model that edits', async () => {
    const request = chatRequest({
      messages: [
        user([
          { type: 'text', text: 'Blue' },
          imageUrl(`data:image/jpeg;base64,${base64}`),
          imageUrl(`data:image/jpeg;base64,${jpeg}`),
        ]),
      ],
      n: 2,
    });
    const field = (name: string, value: string) =>
      `--B\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const file = (name: string, mime: string, data: string) =>
      `--B\r\ncontent-disposition: form-data; name="image[]"; filename="${name}"\r\ncontent-type: ${mime}\r\n\r\n${Buffer.from(data, 'base64').toString('latin1')}\r\n`;
    expect(await convert(request, { can: 'edits multi_reference' })).toEqual({
      form: 'edit',
      contentType: 'multipart/form-data; boundary=B',
      body: [
        field('model', 'theirs'),
        field('prompt', 'Blue'),
        field('n', '2'),
        // Its own bytes say what it is.
        file('image-1.png', 'image/png', base64),
        file('image-2.jpeg', 'image/jpeg', jpeg),
        '--B--\r\n',
      ].join(''),
      losses: [],
    });
  });

  test('gives a form that images read', async () => {
    const request = chatRequest({
      messages: [user([{ type: 'text', text: 'é' }, imageUrl(`data:;base64,${base64}`)])],
    });
    const options = { ...target, capabilities: new Set(['edits']) };
    const { body, contentType } = await convertImageRequest(request, options);
    const opened = images.openEdit(body, contentType);
    expect(images.readRequest(opened, options.capabilities)).toMatchObject({
      model: 'theirs',
      sources: 1,
    });
    expect(opened.members).toMatchObject({ prompt: 'é' });
  });

  test('sends its pictures as references to a model that has them', async () => {
    const request = chatRequest({
      messages: [
        user([
          { type: 'text', text: 'Blue' },
          imageUrl(`data:image/png;base64,${base64}`),
          imageUrl('https://example.com/a.png'),
        ]),
      ],
    });
    expect(await convert(request, { can: 'multi_reference', asksForBytes: true })).toMatchObject({
      form: 'generation',
      body: {
        model: 'theirs',
        prompt: 'Blue',
        response_format: 'b64_json',
        image: [`data:image/png;base64,${base64}`, 'https://example.com/a.png'],
      },
    });
  });

  test('has the address of a picture fetched for a form', async () => {
    const request = chatRequest({
      messages: [user([{ type: 'text', text: 'a' }, imageUrl('https://example.com/a.png')])],
    });
    const fetchImage = () => Promise.resolve({ mime: 'image/png', bytes: png });
    const { body } = await convert(request, { can: 'edits', fetchImage });
    expect(body).toContain(png.toString('latin1'));
    await expect(convert(request, { can: 'edits' })).rejects.toMatchObject({
      errorName: 'invalid_value',
      param: 'messages',
    });
  });

  test('loses members that generate-content does not have', async () => {
    const request = chatRequest({
      messages: [user('a')],
      quality: 'high',
      moderation: 'low',
      output_format: 'png',
      n: 2,
    });
    expect(await convert(request, { upstream: 'generate-content' })).toMatchObject({
      body: { generationConfig: { responseModalities: ['IMAGE'], candidateCount: 2 } },
      losses: ['dropped:moderation', 'dropped:output_format', 'dropped:quality'],
    });
    await expect(
      convert(request, { upstream: 'generate-content', strict: true }),
    ).rejects.toMatchObject({ errorName: 'invalid_value', param: 'moderation' });
  });
});

describe('a request of generate-content', () => {
  const from = { client: 'generate-content' } as const;

  test('becomes a generation', async () => {
    const request = contentsRequest({
      contents: [{ parts: [{ text: 'A cat' }, { text: 'asleep' }] }],
      generation_config: { candidate_count: 3, responseModalities: ['Image'] },
    });
    expect(await convert(request, from)).toEqual({
      form: 'generation',
      contentType: 'application/json',
      body: { model: 'theirs', prompt: 'A cat\nasleep', n: 3 },
      losses: [],
    });
  });

  test.each([
    [{}, '', undefined, []],
    [{ imageSize: '1K' }, '', '1024x1024', []],
    [{ aspectRatio: '1:1' }, '', '1024x1024', []],
    [{ aspectRatio: '3:2', imageSize: '1K' }, '', '1536x1024', []],
    [{ aspectRatio: '16:9' }, '', '1536x1024', ['approximated:size']],
    [{ aspectRatio: '9:16' }, '', '1024x1536', ['approximated:size']],
    [{ imageSize: '2K' }, '', '1024x1024', ['approximated:size']],
    [{ aspectRatio: 'wide' }, '', '1024x1024', ['approximated:size']],
    [{ imageSize: '2K' }, 'multi_reference', '2K', []],
    [{ imageSize: '4K', aspectRatio: '16:9' }, 'multi_reference', '4K', ['approximated:size']],
    [
      { personGeneration: 'x' },
      '',
      undefined,
      ['dropped:generationConfig.imageConfig.personGeneration'],
    ],
  ])(
    'with imageConfig %j for a model with "%s" has the size %s',
    async (imageConfig, can, size, losses) => {
      const request = contentsRequest({
        contents: { parts: [{ text: 'a' }] },
        generationConfig: { imageConfig },
      });
      const converted = await convert(request, { ...from, can });
      expect((converted.body as { size?: string }).size).toBe(size);
      expect(converted.losses).toEqual(losses);
    },
  );

  test('loses all but the last turn of the user, and reports them', async () => {
    const request = contentsRequest({
      contents: [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [{ text: 'b' }] },
        { role: 'user', parts: [{ text: 'c' }] },
      ],
      systemInstruction: { parts: [{ text: 's' }] },
      safety_settings: [],
      generationConfig: { temperature: 1, seed: 4 },
    });
    const { body, losses } = await convert(request, from);
    expect(body).toEqual({ model: 'theirs', prompt: 'c' });
    expect(losses).toEqual([
      'dropped:contents',
      'dropped:generationConfig.seed',
      'dropped:generationConfig.temperature',
      'dropped:systemInstruction',
    ]);
    await expect(convert(request, { ...from, strict: true })).rejects.toMatchObject({
      param: 'contents',
    });
  });

  test.each(['', base64])(
    'with a quote after Base64 is refused: nothing ends the text early',
    (before) => {
      const data = `${before}"}}]}],"model":"other`;
      const inlineData = { mimeType: 'image/png', data };
      expect(() =>
        contentsRequest({ contents: [{ parts: [{ text: 'a' }, { inlineData }] }] }),
      ).toThrow(expect.objectContaining({ param: 'contents[0].parts[1].inlineData' }));
    },
  );

  test('with escaped slashes and line breaks in Base64 sends it without', async () => {
    const lines = base64.replaceAll('/', '\\/').replace(/.{1000}/g, '$&\\r\\n');
    const text = `{"contents":[{"parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"${lines}"}}]}]}`;
    const request = imageCodecs.contents.decodeRequest(Buffer.from(text));
    expect(await convert(request, { ...from, can: 'multi_reference' })).toMatchObject({
      body: { image: `data:image/png;base64,${base64}` },
    });
  });

  test('sends its pictures for an edit, or as references', async () => {
    const urlAlphabet = base64.replaceAll('+', '-').replaceAll('/', '_');
    const request = contentsRequest({
      contents: [
        {
          parts: [
            { text: 'a' },
            { inlineData: { mimeType: 'image/png', data: base64 } },
            { inline_data: { mime_type: 'image/png', data: urlAlphabet } },
          ],
        },
      ],
    });
    const uri = `data:image/png;base64,${base64}`;
    expect(await convert(request, { ...from, can: 'multi_reference' })).toMatchObject({
      body: { image: [uri, uri] },
    });
    const edit = await convert(request, { ...from, can: 'edits' });
    expect(edit.form).toBe('edit');
    expect((edit.body as string).split(png.toString('latin1'))).toHaveLength(3);
  });

  test.each([
    ['no contents', {}, 'contents'],
    ['no turn of the user', { contents: [{ role: 'model', parts: [{ text: 'a' }] }] }, 'contents'],
    ['no text', { contents: [{ parts: [] }] }, 'contents[0].parts'],
    [
      'too many candidates',
      { contents: [{ parts: [{ text: 'a' }] }], generationConfig: { candidateCount: 11 } },
      'generationConfig.candidateCount',
    ],
    [
      'data that are not a picture',
      {
        contents: [
          { parts: [{ text: 'a' }, { inlineData: { mimeType: 'text/plain', data: 'YQ==' } }] },
        ],
      },
      'contents[0].parts[1].inlineData',
    ],
  ])('with %s is refused', (_, body, param) => {
    expect(() => contentsRequest(body)).toThrow(
      expect.objectContaining({
        entry: expect.objectContaining({ status: 400 }) as unknown,
        param,
      }),
    );
  });
});

describe('a request for images at generate-content', () => {
  const to = { client: 'images', upstream: 'generate-content' } as const;

  test('has its text and its pictures as parts', async () => {
    const request = imagesRequest({
      prompt: 'a',
      n: 2,
      image: [`data:image/png;base64,${base64}`],
    });
    expect(await convert(request, to)).toEqual({
      form: 'generation',
      contentType: 'application/json',
      body: {
        contents: [
          {
            role: 'user',
            parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: base64 } }],
          },
        ],
        generationConfig: { responseModalities: ['IMAGE'], candidateCount: 2 },
      },
      losses: [],
    });
  });

  test.each([
    ['auto', undefined, true],
    ['1024x1024', { aspectRatio: '1:1', imageSize: '1K' }, true],
    ['2048x2048', { aspectRatio: '1:1', imageSize: '2K' }, true],
    ['1536x1024', { aspectRatio: '3:2', imageSize: '1K' }, false],
    ['1024x1536', { aspectRatio: '2:3', imageSize: '1K' }, false],
    ['1792x1024', { aspectRatio: '16:9', imageSize: '1K' }, false],
    ['3840x2160', { aspectRatio: '16:9', imageSize: '2K' }, false],
    ['99999x1', { aspectRatio: '21:9', imageSize: '1K' }, false],
    ['1K', { imageSize: '1K' }, true],
    ['4K', { imageSize: '4K' }, true],
    ['3K', { imageSize: '4K' }, false],
  ])('of size %s has imageConfig %j', async (size, imageConfig, isExact) => {
    const converted = await convert(imagesRequest({ prompt: 'a', size }), to);
    const { generationConfig } = converted.body as { generationConfig: { imageConfig?: unknown } };
    expect(generationConfig.imageConfig).toEqual(imageConfig);
    expect(converted.losses).toEqual(isExact ? [] : ['approximated:size']);
  });

  test('of a form has its whole prompt and its files', async () => {
    const prompt = 'a cat, '.repeat(3000);
    const form = await convertImageRequest(
      chatRequest({
        messages: [user([{ type: 'text', text: prompt }, imageUrl(`data:;base64,${base64}`)])],
        n: 2,
      }),
      { ...target, capabilities: new Set(['edits']) },
    );
    const request = imageCodecs.images.decodeRequest(images.openEdit(form.body, form.contentType));
    const { body } = await convert(request, to);
    expect(body).toMatchObject({
      contents: [
        { parts: [{ text: prompt }, { inlineData: { mimeType: 'image/png', data: base64 } }] },
      ],
      generationConfig: { candidateCount: 2 },
    });
  });

  test('loses what is not there', async () => {
    const request = imagesRequest({
      prompt: 'a',
      quality: 'low',
      user: 'u',
      response_format: 'b64_json',
      stream: false,
      style: null,
    });
    expect((await convert(request, to)).losses).toEqual(['dropped:quality', 'dropped:user']);
  });

  test.each([
    ['a transparent background', { background: 'transparent' }, 'background'],
    ['a mask', { mask: { image_url: `data:image/png;base64,${base64}` } }, 'mask'],
    ['a stored file', { images: [{ file_id: 'file-1' }] }, 'image'],
  ])('with %s is refused', async (_, more, param) => {
    await expect(convert(imagesRequest({ prompt: 'a', ...more }), to)).rejects.toMatchObject({
      errorName: 'invalid_value',
      param,
    });
  });
});

describe('declared modalities', () => {
  const edit = (text: string): string =>
    imageCodecs.contents.withImageModality(Buffer.from(text)).toString();

  test.each([
    ['{ "contents":[] }', '{"generationConfig":{"responseModalities":["Image"]}, "contents":[] }'],
    ['{}', '{"generationConfig":{"responseModalities":["Image"]}}'],
    ['{"generationConfig": null}', '{"generationConfig": {"responseModalities":["Image"]}}'],
    [
      '{"generation_config":{"seed":1.0}}',
      '{"generation_config":{"responseModalities":["Image"],"seed":1.0}}',
    ],
    [
      '{"generationConfig":{"responseModalities":["TEXT" ]}}',
      '{"generationConfig":{"responseModalities":["TEXT" ,"IMAGE"]}}',
    ],
    [
      '{"generation_config":{"response_modalities":["Text"]}}',
      '{"generation_config":{"response_modalities":["Text","Image"]}}',
    ],
    [
      '{"generationConfig":{"responseModalities":["text"]}}',
      '{"generationConfig":{"responseModalities":["text","image"]}}',
    ],
    [
      '{"generationConfig":{"responseModalities":[ ]}}',
      '{"generationConfig":{"responseModalities":["Image"]}}',
    ],
    [
      '{"generationConfig":{"responseModalities":null}}',
      '{"generationConfig":{"responseModalities":["Image"]}}',
    ],
  ])('%s becomes %s', (before, after) => {
    expect(edit(before)).toBe(after);
  });

  test.each([
    '{"generationConfig":{"responseModalities":["IMAGE"]}}',
    '{"generationConfig":{"responseModalities":["Text","Image"]}}',
    '{"generation_config":{"response_modalities":["iMaGe"]}}',
    '{"generationConfig":{"responseModalities":[1,2]}}',
    '{"generationConfig":7}',
    '{"generationConfig":{"responseModalities":"IMAGE"}}',
  ])('%s stays the same buffer', (text) => {
    const body = Buffer.from(text);
    expect(imageCodecs.contents.withImageModality(body)).toBe(body);
  });
});

test.each([
  ['{"contents":[]}', 1],
  ['{"contents":[],"generationConfig":{"candidateCount":12}}', 12],
  ['{"contents":[],"generation_config":{"candidate_count": 3 }}', 3],
  ['{"contents":[],"generationConfig":{"candidateCount":"3"}}', 3],
  ['{"contents":[],"generationConfig":{"candidateCount":"\\u0034"}}', 4],
  ['{"contents":[],"generationConfig":{"candidateCount":2e0}}', 2],
  ['{"contents":[],"generationConfig":{"candidateCount":"many"}}', 1],
  ['{"contents":[],"generationConfig":{"candidateCount":null}}', 1],
])('an own request of generate-content asks for so many responses: %s', (body, count) => {
  const own = imageCodecs.contents.ownRequest(Buffer.from(body));
  expect(own.candidates).toBe(count);
});

test.each([
  ['{"tools":[{"googleSearch":{}}]}', true],
  ['{"tools":[{"google_search":{}}]}', true],
  ['{"tools":[{"\\u0067oogleSearch":{}}]}', true],
  ['{"tools":[{"codeExecution":{}}]}', false],
])('an own request of generate-content may search: %s', (body, searches) => {
  expect(imageCodecs.contents.ownRequest(Buffer.from(body)).searches).toBe(searches);
});

test.each([
  [
    '{"model":"models/theirs","a":1.0}',
    '{"generationConfig":{"responseModalities":["Image"]},"model":"models/theirs","a":1.0}',
  ],
  [
    '{"model":"other"}',
    '{"generationConfig":{"responseModalities":["Image"]},"model":"models/theirs"}',
  ],
])('an own request of generate-content names only its own model: %s', (text, expected) => {
  const body = Buffer.from(text);
  const own = imageCodecs.contents.ownRequest(body);
  expect(imageCodecs.contents.ownBody(body, own, 'theirs').toString()).toBe(expected);
});
