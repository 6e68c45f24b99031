import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import { canary, failureOf, received, textOf } from './conformance-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const served = {
    vectors: 'demo-embedding',
    limited: 'demo-embedding+fault(status=429;retry-after=7)',
    refusing: 'demo-embedding+fault(status=400)',
    garbled: 'demo-embedding+fault(garbage)',
    lost: 'missing-embedding',
  };
  const common = { provider: 'simulator', base_url: 'SIMULATOR' };
  const channels = Object.entries(served).map(([name, upstream]) => ({
    ...common,
    name,
    models: [{ name, upstream }],
  }));
  channels.push({ ...common, name: 'chat', models: [{ name: 'talks', upstream: 'demo-chat' }] });
  const models = Object.keys(served).map((id) => ({ id, type: 'embedding', price: { input: 1 } }));
  const talks = { id: 'talks', type: 'chat', price: { input: 1, output: 1 } };
  // JSON is YAML.
  gateway = await startTestGateway({
    config: `channels: ${JSON.stringify(channels)}\nmodels: ${JSON.stringify([...models, talks])}`,
  });
});
afterAll(() => gateway.close());

function client(options: { apiKey?: string } = {}): OpenAI {
  return new OpenAI({ apiKey: testKey, baseURL: `${gateway.url}/v1`, maxRetries: 0, ...options });
}

const embed = (params: Partial<OpenAI.EmbeddingCreateParams> = {}) =>
  client().embeddings.create({ model: 'vectors', input: 'hello', ...params });

describe('embeddings with the official SDK: answers', () => {
  it('a text, in base64 as the SDK asks for it', async () => {
    const { data: response, request_id } = await client()
      .embeddings.create({ model: 'vectors', input: 'hello' })
      .withResponse();
    expect(received(gateway).json).toMatchObject({ encoding_format: 'base64' });
    expect(response.object).toBe('list');
    expect(response.model).toBe('vectors');
    expect(response.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
    expect(response.data).toHaveLength(1);
    expect(response.data[0]?.embedding).toHaveLength(1536);
    expect(Math.hypot(...(response.data[0]?.embedding ?? []))).toBeCloseTo(1, 5);
    expect(request_id).toMatch(/^req_.{24}$/);
  });

  it('the same numbers as floats', async () => {
    const [packed, floats] = await Promise.all([
      embed({ dimensions: 8 }),
      embed({ dimensions: 8, encoding_format: 'float' }),
    ]);
    expect([...(packed.data[0]?.embedding ?? [])]).toEqual(floats.data[0]?.embedding);
  });

  it.each([
    ['texts', ['a', 'b', 'c'], 3, 3],
    ['a list of tokens', [1, 2, 3, 4], 1, 4],
    ['lists of tokens', [[1, 2], [3]], 2, 3],
  ])('%s', async (_, input, vectors, tokens) => {
    const { data, usage } = await embed({ input });
    expect(data.map(({ index }) => index)).toEqual(Array.from({ length: vectors }, (__, i) => i));
    expect(usage.prompt_tokens).toBe(tokens);
  });

  it('what the SDK sends reaches the upstream with its name of the model', async () => {
    const params = {
      model: 'vectors',
      input: ['a', 'ü'],
      encoding_format: 'float',
      user: 'somebody',
      x_unknown: [1, { deep: null }],
    };
    await embed(params as OpenAI.EmbeddingCreateParams);
    const upstream = { ...params, model: 'demo-embedding' };
    expect(received(gateway).body).toBe(JSON.stringify(upstream));
    expect(received(gateway).path).toBe('/v1/embeddings');
  });

  it('its model in the list', async () => {
    const ids = (await client().models.list()).data.map(({ id }) => id);
    expect(ids).toContain('vectors');
  });
});

describe('embeddings with the official SDK: errors', () => {
  it.each([
    ['no input', { input: undefined }, /input is required/, 'missing_required_parameter', 'input'],
    ['an unknown model', { model: 'nobody' }, /is not available/, 'model_not_available', 'model'],
    ['a chat model', { model: 'talks' }, /is not available/, 'model_not_available', 'model'],
  ])('%s', async (_, params, message, code, param) => {
    const error = await failureOf(embed(params as Partial<OpenAI.EmbeddingCreateParams>));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code, param, type: 'invalid_request_error' });
    expect(error.message).toMatch(message);
  });

  it('what the vendor refuses is refused in words of ours', async () => {
    for (const params of [{ input: '' }, { dimensions: 0 }, { model: 'refusing' }]) {
      const error = await failureOf(embed(params));
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(textOf(error)).not.toContain(canary);
    }
  });

  it('a wrong key', async () => {
    const wrong = client({ apiKey: `sk-wrong-${'0'.repeat(32)}` });
    const error = await failureOf(wrong.embeddings.create({ model: 'vectors', input: 'a' }));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
  });

  it('a limited upstream, with the time to wait', async () => {
    const error = await failureOf(embed({ model: 'limited' }));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    const after = (error as InstanceType<typeof OpenAI.RateLimitError>).headers.get('retry-after');
    expect(Number(after)).toBeGreaterThan(0);
    expect(textOf(error)).not.toContain(canary);
  });

  it.each(['garbled', 'lost'])('%s: an upstream that has no response', async (model) => {
    const error = await failureOf(embed({ model }));
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(textOf(error)).not.toContain(canary);
  });

  it('an embedding model is no model for chat and responses', async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }];
    for (const asked of [
      client().chat.completions.create({ model: 'vectors', messages }),
      client().responses.create({ model: 'vectors', input: 'hi' }),
    ]) {
      expect(await failureOf(asked)).toMatchObject({ status: 400, code: 'model_not_available' });
    }
  });
});
