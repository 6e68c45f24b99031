import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createImage, startSimulator, type Simulator } from '../src/index.ts';
import { readImage } from '../src/image-files/read-image.ts';
import { eventsOf, type Json } from './client.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

interface Wanted {
  readonly model?: string;
  readonly text?: string;
  readonly config?: Record<string, unknown>;
  readonly fault?: string;
  readonly action?: string;
  readonly body?: Record<string, unknown>;
}

async function send(wanted: Wanted): Promise<{ status: number; text: string; json: Json }> {
  const {
    model = 'demo-image',
    text = 'a red square',
    config,
    action = 'generateContent',
  } = wanted;
  const response = await fetch(`${simulator.url}/v1beta/models/${model}:${action}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'key', 'x-simulator-fault': wanted.fault ?? '' },
    body: JSON.stringify({
      contents: [{ parts: [{ text }] }],
      ...(config && { generationConfig: config }),
      ...wanted.body,
    }),
  });
  const body = await response.text();
  const json = action.includes('alt=sse') ? null : JSON.parse(body);
  return { status: response.status, text: body, json };
}

const only = { responseModalities: ['Image'] };
const headOf = ({ inlineData }: Json) => readImage(Buffer.from(inlineData.data, 'base64'));
const source = {
  inlineData: {
    mimeType: 'image/png',
    data: createImage({ type: 'png', width: 5, height: 5 }).toString('base64'),
  },
};

describe('an image model', () => {
  test('draws', async () => {
    const { status, json } = await send({ config: only });
    expect(status).toBe(200);
    const [candidate] = json.candidates;
    expect(candidate).toMatchObject({ finishReason: 'STOP', index: 0, content: { role: 'model' } });
    expect(candidate.content.parts).toHaveLength(1);
    expect(candidate.content.parts[0].inlineData.mimeType).toBe('image/png');
    expect(headOf(candidate.content.parts[0])).toMatchObject({
      type: 'png',
      width: 1024,
      height: 1024,
    });
    expect(json.usageMetadata).toEqual({
      promptTokenCount: 3,
      candidatesTokenCount: 1120,
      totalTokenCount: 1123,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 3 }],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
    });
  });

  test.each([
    ['without modalities', {}],
    ['with both', { responseModalities: ['TEXT', 'IMAGE'] }],
    ['in any case and spelling', { response_modalities: ['text', 'Image'] }],
  ])('adds words %s', async (_, config) => {
    const { json } = await send({ config });
    const { parts } = json.candidates[0].content;
    expect(parts.map((part: Json) => Object.keys(part)[0])).toEqual(['text', 'inlineData']);
    expect(json.usageMetadata).toMatchObject({
      candidatesTokenCount: 1120 + 7,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
    });
  });

  test.each([
    ['16:9', undefined, 1344, 768],
    ['9:16', '2K', 1536, 2688],
    ['1:1', '4K', 4096, 4096],
    [undefined, '2K', 2048, 2048],
  ])('draws in ratio %s and size %s', async (aspectRatio, imageSize, width, height) => {
    const { json } = await send({ config: { ...only, imageConfig: { aspectRatio, imageSize } } });
    expect(headOf(json.candidates[0].content.parts[0])).toMatchObject({ width, height });
    expect(json.usageMetadata.candidatesTokenCount).toBe(imageSize === '4K' ? 2000 : 1120);
  });

  test('draws several, in the sizes and the type of the prompt', async () => {
    const text = '2 pictures as webp, sizes 30x20 40x20';
    const { json } = await send({ text, config: { ...only, candidateCount: 2 } });
    const heads = json.candidates.map(({ content }: Json) => content.parts.map(headOf));
    expect(heads).toMatchObject([
      [{ type: 'webp', width: 30 }, { width: 40 }],
      [{ width: 40 }, { width: 40 }],
    ]);
    expect(json.usageMetadata.candidatesTokenCount).toBe(4 * 1120);
  });

  test('counts its sources', async () => {
    const contents = [{ parts: [{ text: 'make it red!' }, source, source] }];
    const { json } = await send({ config: only, body: { contents } });
    expect(json.usageMetadata).toMatchObject({
      promptTokenCount: 3 + 170,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 3 },
        { modality: 'IMAGE', tokenCount: 170 },
      ],
    });
  });

  test('signs what it drew, and verifies it in the next turn', async () => {
    const model = 'demo-reasoning-image';
    const { json } = await send({ model, config: only });
    expect(json.usageMetadata.thoughtsTokenCount).toBeGreaterThan(0);
    const { content } = json.candidates[0];
    expect(content.parts[0].thoughtSignature).toEqual(expect.any(String));
    const next = { parts: [{ text: 'now in green' }] };
    const first = { parts: [{ text: 'a red square' }] };
    const contents = [first, content, next];
    expect((await send({ model, body: { contents } })).status).toBe(200);
    const foreign = { ...content, parts: [{ ...content.parts[0], thoughtSignature: 'YWJj' }] };
    expect((await send({ model, body: { contents: [first, foreign, next] } })).status).toBe(400);
  });

  test('is on the list of models', async () => {
    const headers = { 'x-goog-api-key': 'key' };
    const list = (await (
      await fetch(`${simulator.url}/v1beta/models`, { headers })
    ).json()) as Json;
    expect(list.models.map(({ name }: Json) => name)).toContain('models/demo-image');
  });

  test('of the 2.5 generation counts every picture alike', async () => {
    const config = { ...only, imageConfig: { aspectRatio: '1:1' } };
    const { json } = await send({ model: 'gemini-2.5-flash-image', config });
    expect(json.usageMetadata.candidatesTokenCount).toBe(1290);
  });
});

describe('the filter', () => {
  test('stops a prompt', async () => {
    const { status, json } = await send({ text: 'refuse prompt', config: only });
    expect(status).toBe(200);
    expect(json).not.toHaveProperty('candidates');
    expect(json.promptFeedback.blockReason).toBe('SAFETY');
    expect(json.usageMetadata).toMatchObject({ promptTokenCount: 4, candidatesTokenCount: 0 });
  });

  test.each([
    ['refuse', 'IMAGE_SAFETY'],
    ['refuse IMAGE_RECITATION', 'IMAGE_RECITATION'],
    ['refuse NO_IMAGE', 'NO_IMAGE'],
  ])('stops a picture: %s', async (text, reason) => {
    const { json } = await send({ text, config: only });
    expect(json.candidates).toEqual([
      { content: {}, finishReason: reason, finishMessage: expect.any(String), index: 0 },
    ]);
    expect(json.usageMetadata.candidatesTokenCount).toBe(0);
    expect(json.usageMetadata).not.toHaveProperty('candidatesTokensDetails');
  });

  test('may leave words alone', async () => {
    const { json } = await send({ text: 'no picture', config: only });
    expect(json.candidates[0]).toMatchObject({
      finishReason: 'STOP',
      content: { parts: [{ text: 'Here are words only.' }] },
    });
  });
});

describe('a stream', () => {
  const both = { responseModalities: ['TEXT', 'IMAGE'] };

  test('has every part, then its end with the usage', async () => {
    const { text } = await send({ action: 'streamGenerateContent?alt=sse', config: both });
    const events = eventsOf(text);
    expect(
      events.map(({ candidates }) => Object.keys(candidates[0].content.parts?.[0] ?? {})),
    ).toEqual([['text'], ['inlineData'], []]);
    expect(events[2].candidates).toEqual([{ content: {}, finishReason: 'STOP', index: 0 }]);
    expect(events.map(({ usageMetadata }) => usageMetadata !== undefined)).toEqual([
      false,
      false,
      true,
    ]);
    const { json } = await send({ config: both });
    expect(events[2].usageMetadata).toEqual(json.usageMetadata);
  });

  test('may be an array', async () => {
    const { json } = await send({ action: 'streamGenerateContent', config: both });
    expect(json).toHaveLength(3);
  });

  test('of a stopped prompt is one event', async () => {
    const action = 'streamGenerateContent?alt=sse';
    const { text } = await send({ action, text: 'refuse prompt', config: both });
    expect(eventsOf(text)).toMatchObject([{ promptFeedback: { blockReason: 'SAFETY' } }]);
  });
});

describe('the vendor refuses', () => {
  test.each<[string, Wanted, RegExp]>([
    [
      'a picture of a text model',
      { model: 'demo-chat', config: only },
      /response modalities: image/,
    ],
    [
      'words only of an image model',
      { config: { responseModalities: ['TEXT'] } },
      /\(TEXT\) is not/,
    ],
    ['an unknown modality', { config: { responseModalities: ['SMELL'] } }, /"SMELL"/],
    [
      'a modality without a list',
      { config: { responseModalities: 'IMAGE' } },
      /response_modalities/,
    ],
    ['an unknown ratio', { config: { imageConfig: { aspectRatio: '7:5' } } }, /aspect_ratio/],
    ['an unknown size', { config: { imageConfig: { imageSize: '2k' } } }, /image_size/],
    ['a configuration in words', { config: { imageConfig: '1:1' } }, /image_config/],
    [
      'candidates of Gemini',
      { model: 'gemini-3-image', config: { candidateCount: 2 } },
      /Multiple/,
    ],
    ['tools', { body: { tools: [{ functionDeclarations: [{ name: 'a' }] }] } }, /Function calling/],
    ['JSON', { config: { responseMimeType: 'application/json' } }, /JSON mode/],
  ])('%s', async (_, wanted, message) => {
    const { status, json } = await send(wanted);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ status: 'INVALID_ARGUMENT' });
    expect(json.error.message).toMatch(message);
  });
});

test('faults change the usage, the size and the file', async () => {
  const usageWith = async (fault: string) =>
    (await send({ fault, config: only })).json.usageMetadata;
  expect(await usageWith('usage=missing')).toBeUndefined();
  expect(await usageWith('usage=zero')).toMatchObject({ candidatesTokenCount: 0 });
  expect(await usageWith('usage=absurd')).toMatchObject({ candidatesTokenCount: 1e15 });
  const { json } = await send({ fault: 'size=9000x8000;picture-bytes=10000000', config: only });
  const [part] = json.candidates[0].content.parts;
  expect(headOf(part)).toMatchObject({ width: 9000, height: 8000 });
  expect(Buffer.from(part.inlineData.data, 'base64').length).toBe(10_000_000);
});
