import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { ask } from './client.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const embed = (changes: Record<string, unknown> = {}, headers = {}) =>
  ask(simulator, 'embeddings', changes, headers);

const lengthOf = (vector: readonly number[]) => Math.hypot(...vector);

describe('a response', () => {
  test('has one vector of length 1 for every input, in their order', async () => {
    const { status, json } = await embed({ input: ['first', 'second'] });
    expect(status).toBe(200);
    expect(json).toMatchObject({ object: 'list', model: 'demo-embedding' });
    expect(json.data.map(({ object, index }: never) => ({ object, index }))).toEqual([
      { object: 'embedding', index: 0 },
      { object: 'embedding', index: 1 },
    ]);
    for (const { embedding } of json.data) {
      expect(embedding).toHaveLength(1536);
      expect(lengthOf(embedding)).toBeCloseTo(1, 6);
    }
    expect(json.data[0].embedding).not.toEqual(json.data[1].embedding);
  });

  test('follows from the input alone', async () => {
    const alone = await embed({ input: 'second' });
    const beside = await embed({ input: ['first', 'second'] });
    expect(alone.json.data[0].embedding).toEqual(beside.json.data[1].embedding);
  });

  test('is the same in base64', async () => {
    const numbers = await embed({ dimensions: 8 });
    const text = await embed({ dimensions: 8, encoding_format: 'base64' });
    const bytes = Buffer.from(text.json.data[0].embedding, 'base64');
    const read = Array.from({ length: 8 }, (_, index) => bytes.readFloatLE(4 * index));
    expect(read).toEqual(numbers.json.data[0].embedding);
  });

  test.each([
    ['a text', 'hello world', 3],
    ['texts', ['hello', 'world'], 4],
    ['a list of tokens', [1, 2, 3, 4, 5], 5],
    ['lists of tokens', [[1, 2], [3]], 3],
  ])('counts %s', async (_, input, tokens) => {
    const { json } = await embed({ input });
    expect(json.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
  });

  test('has wrong counts on demand', async () => {
    const usageWith = async (fault: string) => {
      const { json } = await embed({}, { 'x-simulator-fault': fault });
      return json.usage;
    };
    expect(await usageWith('usage=missing')).toBeUndefined();
    expect(await usageWith('usage=zero')).toEqual({ prompt_tokens: 0, total_tokens: 0 });
    expect(await usageWith('usage=negative')).toEqual({ prompt_tokens: -7, total_tokens: -7 });
  });
});

describe('the vendor refuses', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no model', { model: undefined }, /you must provide a model/],
    ['no input', { input: undefined }, /Missing required parameter: 'input'/],
    ['null', { input: null }, /Missing required parameter: 'input'/],
    ['an empty text', { input: '' }, /cannot be an empty string/],
    ['an empty text in a list', { input: ['a', ''] }, /cannot be an empty string/],
    ['an empty list', { input: [] }, /'\$.input' is invalid/],
    ['an empty list in a list', { input: [[1], []] }, /'\$.input' is invalid/],
    ['texts beside tokens', { input: ['a', [1]] }, /'\$.input' is invalid/],
    ['a token that is not an integer', { input: [1, 2.5] }, /'\$.input' is invalid/],
    ['an object', { input: { text: 'a' } }, /'\$.input' is invalid/],
    ['too many inputs', { input: Array(2049).fill('a') }, /maximum length 2048/],
    ['a text that is too long', { input: 'a'.repeat(40_000) }, /maximum context length is 8192/],
    ['too many tokens', { input: Array(8193).fill(1) }, /maximum context length is 8192/],
    ['another encoding', { encoding_format: 'int8' }, /Invalid value: 'int8'/],
    ['too many dimensions', { dimensions: 4000 }, /above maximum value/],
    ['a user that is not a string', { user: 7 }, /Invalid type for 'user'/],
  ])('%s', async (_, changes, message) => {
    const { status, json } = await embed(changes);
    expect(status).toBe(400);
    expect(json.error.message).toMatch(message);
    expect(json.error.type).toBe('invalid_request_error');
  });

  test('a request without a credential', async () => {
    const { status } = await embed({}, { authorization: '' });
    expect(status).toBe(401);
  });
});
