import { GoogleGenAI } from '@google/genai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createImage, startSimulator, type Simulator } from '../src/index.ts';
import { readImage } from '../src/image-files/read-image.ts';

let simulator: Simulator;
let openai: OpenAI;
let google: GoogleGenAI;
beforeAll(async () => {
  simulator = await startSimulator();
  openai = new OpenAI({ apiKey: 'key', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
  google = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: simulator.url } });
});
afterAll(() => simulator.close());

const image = createImage({ type: 'png', width: 30, height: 20 });
const file = (name: string) => toFile(image, name, { type: 'image/png' });
const widthOf = (data: string | undefined) =>
  readImage(Buffer.from(data ?? '', 'base64'))?.width ?? null;
const gpt = { model: 'gpt-image-1', prompt: 'a red square' };

describe('the client of OpenAI', () => {
  test('generates', async () => {
    const { data, usage } = await openai.images.generate({ ...gpt, size: '1536x1024' });
    expect(widthOf(data?.[0]?.b64_json)).toBe(1536);
    expect(usage?.output_tokens).toBe(1568);
  });

  test('edits one picture, and several with a mask', async () => {
    const one = await openai.images.edit({ ...gpt, image: await file('a.png') });
    expect(one.usage?.input_tokens_details.image_tokens).toBe(300);
    const mask = createImage({ type: 'png', width: 30, height: 20, transparent: true });
    const several = await openai.images.edit({
      ...gpt,
      image: [await file('a.png'), await file('b.png')],
      mask: await toFile(mask, 'm.png', { type: 'image/png' }),
      n: 2,
      quality: 'low',
    });
    expect(several.data).toHaveLength(2);
    expect(
      simulator
        .requests()
        .at(-1)
        ?.form?.map(({ name }) => name),
    ).toContain('image[]');
  });

  test('streams', async () => {
    const types: string[] = [];
    const streamed = { ...gpt, stream: true, partial_images: 1 } as const;
    for await (const event of await openai.images.generate(streamed)) types.push(event.type);
    const image = await file('a.png');
    for await (const event of await openai.images.edit({ ...streamed, image })) {
      types.push(event.type);
    }
    expect(types).toEqual([
      'image_generation.partial_image',
      'image_generation.completed',
      'image_edit.partial_image',
      'image_edit.completed',
    ]);
  });

  test('sees what the vendor refuses', async () => {
    await expect(openai.images.generate({ ...gpt, response_format: 'url' })).rejects.toMatchObject({
      status: 400,
      code: 'unknown_parameter',
      param: 'response_format',
    });
    const stream = await openai.images.generate({
      ...gpt,
      prompt: 'refuse',
      stream: true,
      partial_images: 1,
    });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toMatchObject({ code: 'moderation_blocked' });
  });
});

describe('the client of Google', () => {
  const model = 'demo-image';

  test('draws and edits', async () => {
    const inlineData = { mimeType: 'image/png', data: image.toString('base64') };
    const drawn = await google.models.generateContent({
      model,
      contents: [{ text: 'make it red' }, { inlineData }],
      config: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9' } },
    });
    expect(widthOf(drawn.data)).toBe(1344);
    expect(drawn.usageMetadata?.candidatesTokensDetails).toEqual([
      { modality: 'IMAGE', tokenCount: 1120 },
    ]);
  });

  test('streams', async () => {
    const kinds: string[] = [];
    const stream = await google.models.generateContentStream({ model, contents: 'a red square' });
    for await (const { candidates } of stream) {
      const [part] = candidates?.[0]?.content?.parts ?? [];
      kinds.push(Object.keys(part ?? {})[0] ?? candidates?.[0]?.finishReason ?? '');
    }
    expect(kinds).toEqual(['text', 'inlineData', 'STOP']);
  });
});
