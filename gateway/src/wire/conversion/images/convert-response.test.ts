import type { ImageResponse } from '#canonical/index.ts';
import { classifyFailure } from '#vendors/classify.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { imageCodecs, UnreadableResponse } from '#protocols/index.ts';
import { fetchImages, inspectImages, MediaRefused } from '../index.ts';

/** The header of an image, and bytes enough to keep it out of strings. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(9000, 7);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 0, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}
const square = png(1024, 1024).toString('base64');
const wide = png(1248, 832).toString('base64');
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]).toString('base64');

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const contents = imageCodecs.contents;
const told = { requestId: 'req_abcdefghijklmnopqrstuvwx', model: 'mine', createdAt: 1_790_000_000 };
const inline = (data: string) => ({ inlineData: { mimeType: 'image/png', data } });

/** The row of generate-content in the worked table of charges. */
const usageMetadata = {
  promptTokenCount: 326,
  candidatesTokenCount: 2340,
  thoughtsTokenCount: 337,
  totalTokenCount: 3003,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 326 }],
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 2000 }],
};

function drawn(more: object = {}): ImageResponse {
  return contents.decodeResponse(
    bytesOf({
      candidates: [
        {
          content: {
            parts: [
              { text: 'I think', thought: true },
              { ...inline(wide), thought: true },
              { text: 'Here it is' },
              inline(square),
            ],
          },
        },
        { content: { parts: [inline(wide)] }, finishReason: 'STOP' },
      ],
      usageMetadata,
      ...more,
    }),
  );
}

describe('a response of generate-content', () => {
  test('has pictures without drafts, and tokens by modality', () => {
    const { images: found, usage, others } = drawn();
    expect(found).toHaveLength(2);
    expect(others).toEqual(['text']);
    expect(usage).toMatchObject({
      implausible: false,
      tokens: { input: 326, output: 2677, outputImage: 2000, reasoning: 337 },
    });
  });

  test.each([
    [
      'images in the prompt',
      { promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 300 }] },
      { input: 326, inputImage: 300 },
    ],
    ['no details', { candidatesTokensDetails: undefined }, { output: 2677 }],
    [
      'more images than candidates',
      { candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 9000 }] },
      { output: 2677, outputImage: 2340 },
    ],
  ])('with %s', (_, more, tokens) => {
    expect(drawn({ usageMetadata: { ...usageMetadata, ...more } }).usage?.tokens).toMatchObject(
      tokens,
    );
  });

  test('has parts of tokens that are never below zero and add up', () => {
    const count = fc.nat(5000);
    fc.assert(
      fc.property(
        count,
        count,
        count,
        count,
        count,
        (prompt, candidates, thoughts, inImages, outImages) => {
          const usage = drawn({
            usageMetadata: {
              promptTokenCount: prompt,
              candidatesTokenCount: candidates,
              thoughtsTokenCount: thoughts,
              promptTokensDetails: [{ modality: 'IMAGE', tokenCount: inImages }],
              candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: outImages }],
            },
          }).usage!;
          const { input, inputImage = 0, output, outputImage = 0 } = usage.tokens;
          expect([input, output]).toEqual([prompt, candidates + thoughts]);
          expect(inputImage).toBe(Math.min(inImages, prompt));
          expect(outputImage).toBe(Math.min(outImages, candidates));
        },
      ),
    );
  });

  test.each([
    [{ promptFeedback: { blockReason: 'SAFETY' } }],
    [{ candidates: [{ finishReason: 'IMAGE_SAFETY' }] }],
    [{ candidates: [{ content: {}, finishReason: 'PROHIBITED_CONTENT' }] }],
    [{ candidates: [{ finishReason: 'IMAGE_RECITATION' }, { finishReason: 'STOP' }] }],
  ])('%j is a refusal of the content', (response) => {
    const error = errorOf(() => contents.decodeResponse(bytesOf({ ...response, usageMetadata })));
    expect(error.usage?.tokens.input).toBe(326);
    const failure = { status: 200, body: error.body, retryAfter: null, retryReset: null };
    expect(classifyFailure(failure as never)).toMatchObject({ error: 'content_policy' });
  });

  test.each([
    [{ candidates: [] }],
    [{ candidates: [{ content: { parts: [{ text: 'No.' }] }, finishReason: 'STOP' }] }],
    [{ candidates: [{ finishReason: 'NO_IMAGE' }] }],
    [{ candidates: [{ content: { parts: [{ inlineData: {} }] } }] }],
    [[]],
  ])('%j has no picture', (response) => {
    expect(errorOf(() => contents.decodeResponse(bytesOf(response))).body).toBeNull();
  });

  test('becomes one of images, with the sizes of the pictures themselves', async () => {
    const body = Buffer.concat(
      imageCodecs.images.encodeResponse(await inspectImages(drawn()), told),
    );
    expect(JSON.parse(body.toString())).toEqual({
      created: 1_790_000_000,
      output_format: 'png',
      data: [
        { b64_json: square, size: '1024x1024', output_format: 'png' },
        { b64_json: wide, size: '1248x832', output_format: 'png' },
      ],
      usage: {
        total_tokens: 3003,
        input_tokens: 326,
        output_tokens: 2677,
        input_tokens_details: { text_tokens: 326, image_tokens: 0 },
        output_tokens_details: { text_tokens: 677, image_tokens: 2000 },
      },
    });
  });
});

/** The row of images priced by tokens in the worked table of charges. */
const imagesUsage = {
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
};

const answered = (data: readonly object[], more: object = {}): ImageResponse =>
  imageCodecs.images.decodeResponse(bytesOf({ created: 1, data, ...more }), imagesUsage);

describe('a response of images', () => {
  test('is read without its failed entries', () => {
    const response = answered(
      [
        { b64_json: square, revised_prompt: 'A cat' },
        { error: { code: 'x' } },
        { url: 'https://example.com/a', size: '2x2' },
        { b64_json: Buffer.from('unknown').toString('base64'), output_format: 'avif' },
      ],
      { size: '1x1' },
    );
    expect(response.images.map(({ source, ...rest }) => ({ kind: source.kind, ...rest }))).toEqual([
      { kind: 'base64', size: '1x1', revisedPrompt: 'A cat' },
      { kind: 'url', size: '2x2', revisedPrompt: null },
      { kind: 'base64', size: '1x1', revisedPrompt: null },
    ]);
  });

  test.each([[{}], [{ b64_json: '' }], [{ url: 'nonsense' }]])(
    'with the entry %j is unreadable',
    (entry) => {
      expect(errorOf(() => answered([entry])).body).toBeNull();
    },
  );

  test('becomes a chat completion', () => {
    const response = answered([{ b64_json: square }, { b64_json: jpeg }]);
    const completion: unknown = JSON.parse(
      Buffer.concat(imageCodecs.chat.encodeResponse(response, told)).toString(),
    );
    expect(completion).toMatchObject({
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'mine',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: `![image](data:image/png;base64,${square})\n\n![image](data:image/jpeg;base64,${jpeg})`,
          },
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 312,
        completion_tokens: 1156,
        total_tokens: 1468,
        prompt_tokens_details: { image_tokens: 300 },
        completion_tokens_details: { image_tokens: 1056 },
      },
    });
  });

  test.each([true, false])('becomes the stream of a chat, with its usage: %s', (wantsUsage) => {
    const large = png(8, 8).toString('base64').repeat(80);
    const response = answered([{ b64_json: large }, { b64_json: jpeg }]);
    const text = Buffer.concat([
      ...imageCodecs.chat.encodeStream(response, told, wantsUsage),
    ]).toString();
    const chunks = text
      .trimEnd()
      .split('\n\n')
      .map((frame) => JSON.parse(frame.slice('data: '.length)) as Chunk);
    const deltas = chunks.flatMap(({ choices }) => choices);
    expect(deltas[0]?.delta.role).toBe('assistant');
    expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe(
      `![image](data:image/png;base64,${large})\n\n![image](data:image/jpeg;base64,${jpeg})`,
    );
    expect(deltas.map(({ finish_reason: reason }) => reason).filter(Boolean)).toEqual(['stop']);
    expect(deltas.at(-1)?.finish_reason).toBe('stop');
    expect(chunks.at(-1)?.usage?.total_tokens).toBe(wantsUsage ? 1468 : undefined);
    expect(imageCodecs.chat.streamEnd.toString()).toBe('data: [DONE]\n\n');
  });

  test('becomes one of generate-content', () => {
    const body = Buffer.concat(
      contents.encodeResponse(answered([{ b64_json: square }, { b64_json: jpeg }]), told),
    );
    expect(JSON.parse(body.toString())).toEqual({
      candidates: [
        { content: { role: 'model', parts: [inline(square)] }, finishReason: 'STOP', index: 0 },
        {
          content: {
            role: 'model',
            parts: [{ inlineData: { mimeType: 'image/jpeg', data: jpeg } }],
          },
          finishReason: 'STOP',
          index: 1,
        },
      ],
      usageMetadata: {
        promptTokenCount: 312,
        candidatesTokenCount: 1156,
        totalTokenCount: 1468,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 12 },
          { modality: 'IMAGE', tokenCount: 300 },
        ],
        candidatesTokensDetails: [
          { modality: 'TEXT', tokenCount: 100 },
          { modality: 'IMAGE', tokenCount: 1056 },
        ],
      },
      modelVersion: 'mine',
      responseId: told.requestId,
    });
  });

  test('has its addresses fetched, three at a time', async () => {
    const addresses = Array.from({ length: 10 }, (_, index) => `https://example.com/${index}`);
    let running = 0;
    let most = 0;
    const fetched = await fetchImages(answered(addresses.map((url) => ({ url }))), async (url) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running -= 1;
      return { mime: 'image/png', bytes: png(Number(url.slice(-1)) + 1, 5) };
    });
    expect(most).toBe(3);
    expect((await inspectImages(fetched)).images.map(({ size }) => size)).toEqual(
      addresses.map((_, index) => `${index + 1}x5`),
    );
  });

  test.each([
    ['refused', () => Promise.reject(new MediaRefused('its host has no public address'))],
    ['no image', () => Promise.resolve({ mime: 'application/pdf', bytes: png(1, 1) })],
  ])('with an address that is %s is unreadable', async (_, fetchImage) => {
    const response = answered([{ url: 'https://example.com/a' }]);
    await expect(fetchImages(response, fetchImage)).rejects.toMatchObject({
      body: null,
      usage: imagesUsage,
    });
  });
});

interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly role?: string; readonly content?: string };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly total_tokens: number } | null;
}

function errorOf(read: () => unknown): UnreadableResponse {
  try {
    read();
  } catch (error) {
    if (error instanceof UnreadableResponse) return error;
    throw error;
  }
  throw new Error('it was read');
}
