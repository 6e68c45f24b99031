import type { ImageProtocolName } from '#canonical/index.ts';
import type { ImageClient } from '#protocols/index.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { images, imageCodecs, UnreadableResponse } from '#protocols/index.ts';
import { convertImageRequest, fetchImages, inspectImages, MediaRefused } from '../index.ts';

/* Whatever clients and upstreams send ends in a request, a response, or an error for them. */

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x04\0\0\0\x04', 'latin1');
const word = fc.constantFrom(
  'A cat',
  '',
  'user',
  'model',
  '1024x1024',
  '2K',
  '16:9',
  '0:0',
  'https://example.com/a',
  'data:image/png;base64,',
  `data:image/png;base64,${png.toString('base64')}`,
  png.toString('base64'),
  png.toString('base64').repeat(200),
  'data:,x',
  'image/png',
  'x\r\ny: z',
  '"}],"model":"other"',
  `${png.toString('base64').repeat(200)}"}],"model":"other"`,
  `${png.toString('base64url').repeat(200)}"}],"model":"other"`,
  'STOP',
  'IMAGE_SAFETY',
  '\u0000',
  '__proto__',
);
const leaf = fc.oneof(word, word, fc.double(), fc.nat(12), fc.boolean(), fc.constant(null));
const names = `model messages role content type text image_url url n size quality background
  output_format moderation stream stream_options contents parts inlineData inline_data mimeType data
  fileData fileUri generationConfig generation_config candidateCount imageConfig aspectRatio
  imageSize responseModalities serviceTier systemInstruction prompt image images mask file_id
  b64_json error usage usageMetadata promptTokenCount candidatesTokensDetails modality tokenCount
  candidates finishReason promptFeedback blockReason thought revised_prompt`.split(/\s+/);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, depthSize: 'large' },
    leaf,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('tree'), { maxKeys: 6 }),
  ),
}));
const some = (value: fc.Arbitrary<unknown>) => fc.array(value, { minLength: 1, maxLength: 2 });
const part = fc.record(
  {
    text: word,
    type: word,
    image_url: fc.oneof(word, fc.record({ url: word })),
    inlineData: fc.oneof(
      fc.constant({ mimeType: 'image/png', data: png.toString('base64') }),
      fc.record({ mimeType: word, data: word }),
      tree,
    ),
  },
  { requiredKeys: ['text'] },
);
/** Often close to what the protocols mean. */
const body = fc
  .tuple(
    fc.record({
      model: word,
      prompt: word,
      messages: some(fc.record({ role: fc.constant('user'), content: fc.oneof(word, some(part)) })),
      contents: some(fc.record({ parts: some(part) })),
      candidates: some(fc.record({ content: fc.record({ parts: some(part) }) })),
      data: some(fc.record({ b64_json: word, size: word }, { requiredKeys: [] })),
    }),
    fc.dictionary(fc.constantFrom(...names), tree, { maxKeys: 4 }),
  )
  .map(([meant, more]) => Buffer.from(JSON.stringify({ ...meant, ...more })));

const options = {
  model: 'm',
  asksForBytes: true,
  boundary: 'B',
  strict: false,
  fetchImage: (url: string) =>
    url.endsWith('a')
      ? Promise.resolve({ mime: 'image/png', bytes: png })
      : Promise.reject(new MediaRefused('no')),
};
const all = ['edits', 'multi_reference', 'layers', 'streaming'];
const read = {
  chat: (bytes: Buffer) => imageCodecs.chat.decodeRequest(bytes).request,
  'generate-content': (bytes: Buffer) => imageCodecs.contents.decodeRequest(bytes),
  images: (bytes: Buffer) => {
    const opened = images.openGeneration(bytes);
    images.readRequest(opened, new Set(all));
    return imageCodecs.images.decodeRequest(opened);
  },
} satisfies Record<ImageClient, unknown>;

describe('whatever comes', () => {
  test.each(Object.keys(read) as ImageClient[])(
    'a request of %s is converted or refused',
    async (client) => {
      let converted = 0;
      await fc.assert(
        fc.asyncProperty(body, fc.subarray(all), async (bytes, can) => {
          for (const upstream of ['images', 'generate-content'] satisfies ImageProtocolName[]) {
            const target = { ...options, client, upstream, capabilities: new Set(can) };
            try {
              const result = await convertImageRequest(read[client](bytes), target);
              converted += 1;
              if (result.form === 'edit') images.openEdit(result.body, result.contentType);
              else JSON.parse(result.body.toString());
            } catch (error) {
              if (!(error instanceof GatewayError)) throw error;
              expect(error.entry.status).toBe(400);
            }
          }
        }),
        { numRuns: 400 },
      );
      expect(converted).toBeGreaterThan(10);
    },
  );

  test('a request of generate-content keeps its other bytes', () => {
    fc.assert(
      fc.property(body, (bytes) => {
        try {
          const own = imageCodecs.contents.ownRequest(bytes);
          JSON.parse(imageCodecs.contents.ownBody(bytes, own, 'm').toString());
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
        }
      }),
      { numRuns: 400 },
    );
  });

  const decode = {
    images: (bytes: Buffer) => imageCodecs.images.decodeResponse(bytes, null),
    'generate-content': (bytes: Buffer) => imageCodecs.contents.decodeResponse(bytes),
  } satisfies Record<ImageProtocolName, unknown>;
  const told = { requestId: 'req_1', model: 'm', createdAt: 1 };
  test.each(Object.keys(decode) as ImageProtocolName[])(
    'a response of %s is converted or unreadable',
    async (upstream) => {
      let converted = 0;
      await fc.assert(
        fc.asyncProperty(body, async (bytes) => {
          try {
            const decoded = decode[upstream](bytes);
            const found = await inspectImages(await fetchImages(decoded, options.fetchImage));
            converted += 1;
            for (const client of Object.values(imageCodecs)) {
              JSON.parse(Buffer.concat(client.encodeResponse(found, told)).toString());
            }
          } catch (error) {
            expect(error).toBeInstanceOf(UnreadableResponse);
          }
        }),
        { numRuns: 400 },
      );
      expect(converted).toBeGreaterThan(10);
    },
  );
});
