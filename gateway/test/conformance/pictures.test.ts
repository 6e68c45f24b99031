import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { createImage } from 'simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const common = { provider: 'simulator', base_url: 'SIMULATOR' };
  const channels = [
    {
      ...common,
      name: 'own',
      protocols: ['generate-content'],
      models: [{ name: 'own', upstream: 'gemini-3-pro-image' }],
    },
    {
      ...common,
      name: 'images',
      protocols: ['images'],
      models: [{ name: 'images', upstream: 'gpt-image-1' }],
    },
  ];
  const models = ['own', 'images'].map((id) => ({
    id,
    type: 'image',
    capabilities: ['edits'],
    price: { input: 2, output: 12, output_image: 120 },
  }));
  // JSON is YAML.
  gateway = await startTestGateway({
    config: `channels: ${JSON.stringify(channels)}\nmodels: ${JSON.stringify(models)}`,
  });
});
afterAll(() => gateway.close());

const png = createImage({ type: 'png', width: 64, height: 64 }).toString('base64');
const isImage = (base64 = ''): boolean =>
  Buffer.from(base64, 'base64').subarray(1, 4).toString() === 'PNG';

describe.each(['own', 'images'])(
  'pictures with the official SDKs, at an upstream of %s',
  (model) => {
    const google = () =>
      new GoogleGenAI({ apiKey: testKey, httpOptions: { baseUrl: gateway.url } });
    const openai = () =>
      new OpenAI({ apiKey: testKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

    it('@google/genai: a picture', async () => {
      const { candidates, usageMetadata } = await google().models.generateContent({
        model,
        contents: 'a house',
        config: { imageConfig: { aspectRatio: '16:9' } },
      });
      const parts = candidates?.[0]?.content?.parts ?? [];
      expect(parts.some(({ inlineData }) => isImage(inlineData?.data))).toBe(true);
      expect(candidates?.[0]?.finishReason).toBe('STOP');
      const images = usageMetadata?.candidatesTokensDetails?.find(
        ({ modality }) => String(modality) === 'IMAGE',
      );
      expect(images?.tokenCount).toBeGreaterThan(0);
    });

    it('@google/genai: an edit', async () => {
      const { candidates } = await google().models.generateContent({
        model,
        contents: [{ text: 'make it blue' }, { inlineData: { mimeType: 'image/png', data: png } }],
      });
      const parts = candidates?.[0]?.content?.parts ?? [];
      expect(parts.some(({ inlineData }) => isImage(inlineData?.data))).toBe(true);
    });

    it('@google/genai: a stream', async () => {
      const stream = await google().models.generateContentStream({ model, contents: 'a house' });
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
      expect(parts.some(({ inlineData }) => isImage(inlineData?.data))).toBe(true);
      expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
    });

    it('openai: a picture in a chat', async () => {
      const { choices, usage } = await openai().chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'a house' }],
      });
      const [, base64] =
        /^!\[image\]\(data:image\/png;base64,(.+)\)$/.exec(choices[0]?.message.content ?? '') ?? [];
      expect(isImage(base64)).toBe(true);
      expect(usage?.total_tokens).toBeGreaterThan(1000);
    });

    it('openai: a streamed chat', async () => {
      const stream = openai().chat.completions.stream({
        model,
        messages: [{ role: 'user', content: 'a house' }],
        stream_options: { include_usage: true },
      });
      const { choices, usage } = await stream.finalChatCompletion();
      expect(choices[0]?.finish_reason).toBe('stop');
      expect(choices[0]?.message.content).toMatch(/^!\[image\]\(data:image\/png;base64,.+\)$/);
      expect(usage?.total_tokens).toBeGreaterThan(1000);
    });

    it('openai: a picture and an edit', async () => {
      const made = await openai().images.generate({ model, prompt: 'a house' });
      expect(isImage(made.data?.[0]?.b64_json)).toBe(true);
      const image = new File([new Uint8Array(Buffer.from(png, 'base64'))], 'a.png', {
        type: 'image/png',
      });
      const edited = await openai().images.edit({ model, prompt: 'make it blue', image });
      expect(isImage(edited.data?.[0]?.b64_json)).toBe(true);
    });
  },
);
