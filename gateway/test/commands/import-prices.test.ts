import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '#config/index.ts';
import { createWorkplace } from './support.ts';

/** Entries in the form of LiteLLM's file, written by hand; text, since how a number is written is the point. */
const litellm = `{
  "sample_spec": { "mode": "one of: chat", "max_input_tokens": "prose", "input_cost_per_token": 0.0 },
  "fallback_generalizations": { "rules": [] },
  "gpt-4o": {
    "litellm_provider": "openai", "mode": "chat",
    "max_input_tokens": 128000, "max_output_tokens": 16384, "max_tokens": 16384,
    "input_cost_per_token": 2.5e-06, "cache_read_input_token_cost": 1.25e-06, "output_cost_per_token": 1e-05,
    "input_cost_per_token_batches": 1.25e-06, "input_cost_per_token_priority": 4.25e-06
  },
  "claude-haiku-4-5-20251001": {
    "litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": 200000, "max_output_tokens": 64000,
    "input_cost_per_token": 1e-06, "cache_read_input_token_cost": 1e-07,
    "cache_creation_input_token_cost": 1.25e-06, "cache_creation_input_token_cost_above_1hr": 2e-06,
    "output_cost_per_token": 5e-06
  },
  "gemini/gemini-2.5-flash-lite": {
    "litellm_provider": "gemini", "mode": "chat",
    "input_cost_per_token": 1E-7, "output_cost_per_token": 0.0000004, "output_cost_per_reasoning_token": 4e-07
  },
  "gpt-image-1": {
    "litellm_provider": "openai", "mode": "image_generation",
    "input_cost_per_token": 5e-06, "input_cost_per_image_token": 1e-05,
    "cache_read_input_token_cost": 1.25e-06, "output_cost_per_image_token": 4e-05
  },
  "gpt-audio": {
    "litellm_provider": "openai", "mode": "chat",
    "input_cost_per_token": 2.5e-06, "cache_read_input_token_cost": 1.25e-06, "output_cost_per_token": 1e-05,
    "input_cost_per_audio_token": 3.2e-05, "cache_read_input_audio_token_cost": 4e-07, "output_cost_per_audio_token": 6.4e-05
  },
  "gemini/gemini-2.5-flash": {
    "litellm_provider": "gemini", "mode": "chat",
    "input_cost_per_token": 3e-07, "output_cost_per_token": 2.5e-06, "output_cost_per_image_token": 3e-05,
    "input_cost_per_audio_token": 1e-06, "cache_read_input_token_cost_per_audio_token": 1e-07,
    "input_cost_per_audio_token_above_128k_tokens": 2e-06
  },
  "odd": { "litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 5.46875e-07, "output_cost_per_token": 1.2345678901e-05 },
  "noisy": { "litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1.5000000000000002e-07, "output_cost_per_token": 1e-06 },
  "gemini/gemini-2.5-pro": {
    "litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05,
    "input_cost_per_token_above_200k_tokens": 2.5e-06, "input_cost_per_token_above_200k_tokens_priority": 9e-06,
    "output_cost_per_token_above_200k_tokens": 1.5e-05, "cache_read_input_token_cost_above_64000_tokens": 1e-07
  },
  "by-steps": { "litellm_provider": "x", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "tiered_pricing": [] },
  "thinker": { "litellm_provider": "x", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "output_cost_per_reasoning_token": 3e-06 },
  "dall-e-3": { "litellm_provider": "openai", "mode": "image_generation", "output_cost_per_image": 0.04 },
  "embedding": { "litellm_provider": "openai", "mode": "embedding", "max_input_tokens": 8191, "output_vector_size": 1536, "input_cost_per_token": 1e-08, "output_cost_per_token": 0.0 },
  "whisper": { "litellm_provider": "openai", "mode": "audio_transcription", "input_cost_per_second": 0.0001 },
  "picture-embedding": { "litellm_provider": "x", "mode": "embedding", "input_cost_per_token": 1e-07, "input_cost_per_image": 0.0001, "output_cost_per_token": 0.0 },
  "free-embedding": { "litellm_provider": "x", "mode": "embedding", "input_cost_per_token": 0, "output_cost_per_token": 0 },
  "gratis": { "litellm_provider": "x", "mode": "chat", "input_cost_per_token": 0.0, "output_cost_per_token": 0 },
  "refund": { "litellm_provider": "x", "mode": "chat", "input_cost_per_token": -1e-06, "output_cost_per_token": 1e-06 },
  "azure/gpt-4o": {
    "litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 2.75e-06, "output_cost_per_token": 1.1e-05
  }
}`;

const modelsDev = `{
  "anthropic": { "id": "anthropic", "models": {
    "claude-x": { "id": "claude-x", "modalities": { "input": ["text"], "output": ["text"] },
      "cost": { "input": 3, "output": 15, "cache_read": 0.30, "cache_write": 3.75 }, "limit": { "context": 200000, "output": 64000 } },
    "speech": { "modalities": { "output": ["audio"] }, "cost": { "input": 1, "output": 1 } },
    "no-cost": { "modalities": { "output": ["text"] } },
    "long": { "modalities": { "output": ["text"] }, "cost": { "input": 1, "output": 2, "input_audio": 5, "output_audio": 6.0, "context_over_200k": { "input": 2, "output": 4, "input_audio": 7 } } },
    "tiered": { "modalities": { "output": ["text"] }, "cost": { "input": 1, "output": 2, "tiers": [] } },
    "thinks": { "modalities": { "output": ["text"] }, "cost": { "input": 1, "output": 2, "reasoning": 3 } },
    "same": { "modalities": { "output": ["text"] }, "cost": { "input": 0.05, "output": 2, "reasoning": 2.0 }, "limit": { "context": 0, "output": 0 } }
  } },
  "github-copilot": { "models": { "claude-x": { "modalities": { "output": ["text"] }, "cost": { "input": 0, "output": 0 } } } },
  "openai": { "models": {
    "text-embedding-x": { "family": "text-embedding", "modalities": { "output": ["text"] }, "cost": { "input": 0.02, "output": 0 }, "limit": { "context": 8191, "output": 1536 } }
  } },
  "painter": { "models": { "owner/picture": { "modalities": { "output": ["image"] }, "cost": { "input": 5, "output": 40 } } } }
}`;

function workplaceWith(text: string) {
  const workplace = createWorkplace(null);
  writeFileSync(join(workplace.folder, 'prices.json'), text);
  return workplace;
}

describe('sluice import prices litellm', () => {
  test('prints models that the configuration accepts, digit for digit', async () => {
    const { sluice } = workplaceWith(litellm);
    const { code, out } = await sluice('import', 'prices', 'litellm', 'prices.json');
    expect(code).toBe(0);
    const { declared } = parseConfig(out, {
      file: 'f.yaml',
      environment: {},
      bundledModels: ['gpt-4o', 'claude-haiku-4-5'],
    });
    const prices = declared?.models.map(({ id, type, price }) => [id, type, price]);
    expect(prices).toEqual([
      ['gpt-4o', 'chat', { input: '2.5', cacheRead: '1.25', output: '10' }],
      [
        'claude-haiku-4-5-20251001',
        'chat',
        { input: '1', cacheRead: '0.1', cacheWrite: '1.25', cacheWrite1h: '2', output: '5' },
      ],
      ['gemini-2.5-flash-lite', 'chat', { input: '0.1', output: '0.4' }],
      [
        'gpt-image-1',
        'image',
        { input: '5', inputImage: '10', cacheRead: '1.25', output: '40', outputImage: '40' },
      ],
      [
        'gpt-audio',
        'chat',
        {
          input: '2.5',
          cacheRead: '1.25',
          output: '10',
          inputAudio: '32',
          cacheReadAudio: '0.4',
          outputAudio: '64',
        },
      ],
      [
        'gemini-2.5-flash',
        'chat',
        {
          input: '0.3',
          output: '2.5',
          outputImage: '30',
          inputAudio: '1',
          cacheReadAudio: '0.1',
          tiers: [{ above: 128_000, inputAudio: '2' }],
        },
      ],
      ['odd', 'chat', { input: '0.546875', output: '12.345678901' }],
      [
        'gemini-2.5-pro',
        'chat',
        {
          input: '1.25',
          output: '10',
          tiers: [
            { above: 64_000, cacheRead: '0.1' },
            { above: 200_000, input: '2.5', output: '15' },
          ],
        },
      ],
      ['embedding', 'embedding', { input: '0.01' }],
    ]);
    expect(declared?.models[0]).toMatchObject({ contextWindow: 128_000, maxOutputTokens: 16_384 });
  });

  test('lists what it left out and why', async () => {
    const { sluice } = workplaceWith(litellm);
    const { err } = await sluice('import', 'prices', 'litellm', 'prices.json');
    expect(err.split('\n')).toEqual([
      '9 models written, 10 left out',
      '  more digits than a price can have: noisy',
      '  other prices for long prompts: by-steps',
      '  reasoning has a price of its own: thinker',
      '  no price per token: dall-e-3, picture-embedding, refund',
      '  neither text nor images: whisper',
      '  listed as free: free-embedding, gratis',
      '  another provider has it at another price: gpt-4o',
      '',
    ]);
  });

  test('includes only the requested providers, at their prices', async () => {
    const { json } = workplaceWith(litellm);
    const argv = ['import', 'prices', 'litellm', 'prices.json', '--provider', 'azure'];
    expect(await json(...argv, '--provider', 'x')).toEqual({
      models: [{ id: 'gpt-4o', type: 'chat', price: { input: '2.75', output: '11' } }],
      skipped: [
        { id: 'by-steps', provider: 'x', reason: 'other prices for long prompts' },
        { id: 'thinker', provider: 'x', reason: 'reasoning has a price of its own' },
        { id: 'picture-embedding', provider: 'x', reason: 'no price per token' },
        { id: 'free-embedding', provider: 'x', reason: 'listed as free' },
        { id: 'gratis', provider: 'x', reason: 'listed as free' },
        { id: 'refund', provider: 'x', reason: 'no price per token' },
      ],
    });
  });
});

test('sluice import prices models.dev', async () => {
  const { json } = workplaceWith(modelsDev);
  expect(await json('import', 'prices', 'models.dev', 'prices.json')).toEqual({
    models: [
      {
        id: 'claude-x',
        type: 'chat',
        context_window: 200_000,
        max_output_tokens: 64_000,
        price: { input: '3', cache_read: '0.3', cache_write: '3.75', output: '15' },
      },
      {
        id: 'long',
        type: 'chat',
        price: {
          input: '1',
          output: '2',
          input_audio: '5',
          output_audio: '6',
          tiers: [{ above: 200_000, input: '2', output: '4', input_audio: '7' }],
        },
      },
      { id: 'same', type: 'chat', price: { input: '0.05', output: '2' } },
      {
        id: 'text-embedding-x',
        type: 'embedding',
        context_window: 8191,
        price: { input: '0.02' },
      },
      { id: 'owner/picture', type: 'image', price: { input: '5', output: '40' } },
    ],
    skipped: [
      { id: 'speech', provider: 'anthropic', reason: 'neither text nor images' },
      { id: 'no-cost', provider: 'anthropic', reason: 'no price per token' },
      { id: 'tiered', provider: 'anthropic', reason: 'other prices for long prompts' },
      { id: 'thinks', provider: 'anthropic', reason: 'reasoning has a price of its own' },
      { id: 'claude-x', provider: 'github-copilot', reason: 'listed as free' },
    ],
  });
});

test.each([
  [['litellm', 'prices.json', '--provider', 'opnai'], 1, "no provider 'opnai' in the file; it has"],
  [['litellm', 'missing.json'], 1, 'missing.json'],
  [['models.dev', 'prices.json'], 1, 'no models found: is it a file of models.dev?'],
  [['csv', 'prices.json'], 2, "FORMAT: expected litellm or models.dev, got 'csv'"],
  [['litellm'], 2, 'FILE is required'],
] as const)('explains %j', async (argv, expected, message) => {
  const { sluice } = workplaceWith(litellm);
  const { code, out, err } = await sluice('import', 'prices', ...argv);
  expect(err).toContain(message);
  expect({ code, out }).toEqual({ code: expected, out: '' });
});

test.each(['{', '[]', '7', '"text"'])('rejects %j as a price list', async (text) => {
  const { sluice } = workplaceWith(text);
  const { code, out } = await sluice('import', 'prices', 'litellm', 'prices.json');
  expect({ code, out }).toEqual({ code: 1, out: '' });
});

test('names with a meaning in YAML or the configuration stay as they are', async () => {
  const names = ['a: b', '#x', '7', 'true', '${HOME}', "it's"];
  const cost =
    '{"litellm_provider":"p","mode":"chat","input_cost_per_token":1e-6,"output_cost_per_token":1e-6}';
  const { sluice } = workplaceWith(
    `{${names.map((name) => `${JSON.stringify(name)}:${cost}`).join()}}`,
  );
  const { out } = await sluice('import', 'prices', 'litellm', 'prices.json');
  const { declared } = parseConfig(out, { file: 'f.yaml', environment: {} });
  expect(declared?.models.map(({ id }) => id).toSorted()).toEqual(names.toSorted());
});

test('a name stays a name, whatever YAML would make of it', async () => {
  const names = [
    'a: b\n  - id: c',
    `long ${'and long '.repeat(20)}`,
    '- x',
    '__proto__',
    '1e3',
    'x\u0085y\r',
  ];
  const price = { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 };
  const entry = { litellm_provider: 'openai', mode: 'chat', ...price };
  const { sluice } = workplaceWith(
    JSON.stringify(Object.fromEntries(names.map((name) => [name, entry]))),
  );
  const { out } = await sluice('import', 'prices', 'litellm', 'prices.json');
  const { models } = parse(out) as { models: { id: string }[] };
  expect(models.map(({ id }) => id).toSorted()).toEqual(names.toSorted());
});
