import OpenAI, { toFile } from 'openai';
import { createImage } from 'simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import { canary, failureOf, received, textOf } from './conformance-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const served = {
    pictures: 'demo-image',
    gpt: 'gpt-image-1',
    limited: 'demo-image+fault(status=429;retry-after=7)',
    refusing: 'demo-image+fault(status=400)',
    failing: 'demo-image+fault(status=500)',
  };
  const channels = Object.entries(served).map(([name, upstream]) => ({
    provider: 'simulator',
    base_url: 'SIMULATOR',
    name,
    models: [{ name, upstream }],
  }));
  const models = Object.keys(served).map((id) => ({
    id,
    type: 'image',
    capabilities: ['edits'],
    price: { input: 5, output: 40 },
  }));
  // JSON is YAML.
  gateway = await startTestGateway({
    config: `channels: ${JSON.stringify(channels)}\nmodels: ${JSON.stringify(models)}`,
  });
});
afterAll(() => gateway.close());

const client = () => new OpenAI({ apiKey: testKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

const draw = (params: Partial<OpenAI.ImageGenerateParamsNonStreaming> = {}) =>
  client().images.generate({ model: 'pictures', prompt: 'a house', size: '1024x1024', ...params });

const picture = (seed: number) =>
  toFile(createImage({ type: 'png', width: 64, height: 64, seed }), `${seed}.png`, {
    type: 'image/png',
  });

/** The first bytes of a picture, as text. */
const beginningOf = (image: OpenAI.Image | undefined): string =>
  Buffer.from(image?.b64_json ?? '', 'base64').toString('latin1', 0, 4);

describe('images with the official SDK: answers', () => {
  it('a picture', async () => {
    const response = await draw();
    expect(response.data).toHaveLength(1);
    expect(beginningOf(response.data?.[0])).toBe('\u0089PNG');
    expect(response.usage?.output_tokens).toBeGreaterThan(0);
    expect(received(gateway).json).toEqual({
      model: 'demo-image',
      prompt: 'a house',
      size: '1024x1024',
    });
  });

  it('several, with every member that the vendor has', async () => {
    const response = await draw({
      model: 'gpt',
      n: 3,
      quality: 'low',
      background: 'opaque',
      output_format: 'jpeg',
      output_compression: 70,
      moderation: 'low',
      user: 'somebody',
    });
    expect(response.data?.map((each) => beginningOf(each).slice(0, 2))).toEqual(
      Array(3).fill('\u00ff\u00d8'),
    );
    expect(response).toMatchObject({ output_format: 'jpeg', quality: 'low', background: 'opaque' });
  });

  it('an edit of one picture, with a mask', async () => {
    const mask = createImage({ type: 'png', width: 64, height: 64, transparent: true });
    const response = await client().images.edit({
      model: 'gpt',
      prompt: 'a red door',
      image: await picture(1),
      mask: await toFile(mask, 'mask.png', { type: 'image/png' }),
    });
    expect(beginningOf(response.data?.[0])).toBe('\u0089PNG');
    expect(
      received(gateway)
        .form?.map(({ name }) => name)
        .toSorted(),
    ).toEqual(['image', 'mask', 'model', 'prompt']);
  });

  it('an edit of several', async () => {
    const image = await Promise.all([picture(1), picture(2), picture(3)]);
    const response = await client().images.edit({ model: 'gpt', prompt: 'a street', image, n: 2 });
    expect(response.data).toHaveLength(2);
    const files = received(gateway).form?.filter(({ filename }) => filename !== null);
    expect(files?.map(({ name, filename }) => [name, filename])).toEqual([
      ['image[]', '1.png'],
      ['image[]', '2.png'],
      ['image[]', '3.png'],
    ]);
  });
});

describe('images with the official SDK: errors', () => {
  it('what is refused here', async () => {
    const error = await failureOf(draw({ n: 11 }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, code: 'invalid_value', param: 'n' });
  });

  it.each([
    ['limited', OpenAI.RateLimitError, 429],
    ['refusing', OpenAI.BadRequestError, 400],
    ['failing', OpenAI.InternalServerError, 502],
  ])('%s', async (model, type, status) => {
    const error = await failureOf(draw({ model }));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ status });
    expect(textOf(error)).not.toContain(canary);
  });
});
