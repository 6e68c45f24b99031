import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { declaredBy, importFile, whatAndWhere } from './imported.ts';
import { createWorkplace } from './support.ts';

const litellm = `
common: &common { api_key: os.environ/OPENAI_API_KEY }
model_list:
  - model_name: gpt-4o
    litellm_params: { <<: *common, model: openai/gpt-4o, rpm: 480, tpm: 100000 }
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o
      api_base: http://user:secret-in-url@vllm.internal:8000?key=secret-in-query
      api_key: secret-key-of-vllm
      rpm: 20
  - model_name: fast
    litellm_params: { model: gpt-5-mini, timeout: 300, extra_headers: { X-Team: secret-header } }
  - model_name: claude
    litellm_params: { model: anthropic/claude-haiku-4-5, order: 2 }
  - model_name: claude
    litellm_params: { model: openrouter/anthropic/claude, order: 1 }
  - model_name: qwen
    litellm_params: { model: hosted_vllm/Qwen/Qwen3, api_base: os.environ/VLLM_URL }
    model_info: { input_cost_per_token: 1.5e-07, output_cost_per_token: 0.0000006, max_input_tokens: 32000 }
  - model_name: free
    litellm_params: { model: hosted_vllm/free, api_base: "http://127.0.0.1:8000/v1", input_cost_per_token: 0, output_cost_per_token: 0 }
  - model_name: deep
    litellm_params: { model: deepseek/deepseek-chat, weight: 0.7 }
  - model_name: deep
    litellm_params: { model: deepseek/deepseek-reasoner, weight: 0.7 }
  - model_name: azure
    litellm_params: { model: azure/gpt-4o-eu, api_key: secret-azure }
  - model_name: groq/*
    litellm_params: { model: groq/* }
  - model_name: eu
    litellm_params: { model: vertex_ai/gemini-pro }
  - model_name: own-bedrock
    litellm_params: { model: bedrock/anthropic.claude }
  - model_name: elsewhere
    litellm_params: { model: watsonx/granite }
  - model_name: vectors
    litellm_params: { model: text-embedding-3-small }
    model_info: { mode: embedding }
  - model_name: own-vectors
    litellm_params: { model: hosted_vllm/bge-m3, api_base: "http://127.0.0.1:8000/v1/embeddings", input_cost_per_token: 1e-08 }
    model_info: { mode: embedding }
  - model_name: gemini-vectors
    litellm_params: { model: gemini/gemini-embedding-001 }
    model_info: { mode: embedding }
  - model_name: ranks
    litellm_params: { model: openai/ranks }
    model_info: { mode: rerank }
litellm_settings: { drop_params: true }
router_settings: { model_group_alias: { gpt-4: gpt-4o, hidden: { model: fast, hidden: true }, lost: azure } }
general_settings: { master_key: os.environ/MASTER_KEY, database_url: 'postgres://u:secret-db@h/db' }
environment_variables: { REDIS_PASSWORD: secret-redis }
`;

describe('sluice import litellm', () => {
  test('writes a file that check accepts, with the order and the shares of deployments', async () => {
    const outcome = await importFile('litellm', litellm);
    expect(outcome.code).toBe(0);
    const declared = declaredBy(outcome);
    expect(
      declared.channels.map((channel) => [
        ...whatAndWhere(channel),
        channel.priority,
        channel.weight,
      ]),
    ).toEqual([
      ['openai', 'openai', 'https://api.openai.com/v1', 'gpt-4o=gpt-4o', 0, 480],
      [
        'vllm.internal',
        'openai-compatible',
        'http://vllm.internal:8000/v1',
        'gpt-4o=gpt-4o',
        0,
        20,
      ],
      ['openai-2', 'openai', 'https://api.openai.com/v1', 'fast=gpt-5-mini', 0, 1],
      ['anthropic', 'anthropic', 'https://api.anthropic.com/v1', 'claude=claude-haiku-4-5', 1, 1],
      [
        'openrouter',
        'openai-compatible',
        'https://openrouter.ai/api/v1',
        'claude=anthropic/claude',
        2,
        1,
      ],
      ['hosted_vllm', 'openai-compatible', 'http://vllm:1/v1', 'qwen=Qwen/Qwen3', 0, 1],
      [
        '127.0.0.1',
        'openai-compatible',
        'http://127.0.0.1:8000/v1',
        'free=free,own-vectors=bge-m3',
        0,
        1,
      ],
      [
        'deepseek',
        'openai-compatible',
        'https://api.deepseek.com/v1',
        'deep=deepseek-chat',
        0,
        700,
      ],
      // One channel cannot serve one name twice.
      [
        'deepseek-2',
        'openai-compatible',
        'https://api.deepseek.com/v1',
        'deep=deepseek-reasoner',
        0,
        700,
      ],
      ['openai-3', 'openai', 'https://api.openai.com/v1', 'vectors=text-embedding-3-small', 0, 1],
    ]);
    expect(declared.channels[2]?.headers).toEqual({ 'X-Team': expect.stringContaining('HEADER') });
    expect(declared.aliases).toEqual({ 'gpt-4': 'gpt-4o', hidden: 'fast' });
    expect(declared.keys).toMatchObject([{ name: 'litellm-master', user: 'admin@localhost' }]);
  });

  test('writes patterns, and aliases where clients use other names than the catalogue', async () => {
    const outcome = await importFile(
      'litellm',
      `model_list:
  - { model_name: openai/*, litellm_params: { model: openai/* } }
  - { model_name: "*", litellm_params: { model: anthropic/* } }
  - { model_name: mine-*, litellm_params: { model: gemini/gemini-2.5-* } }
  - { model_name: claude-haiku-4-5, litellm_params: { model: openrouter/anthropic/claude-haiku-4.5 } }
router_settings: { model_group_alias: { openai/gpt-4o: claude-haiku-4-5 } }\n`,
    );
    const { channels, aliases } = declaredBy(outcome);
    expect(
      channels.map((channel) => [...whatAndWhere(channel).slice(3), channel.priority]),
    ).toEqual([
      ['gpt-*=gpt-*,o4*=o4*,text-embedding-*=text-embedding-*', 0],
      // A pattern is for the names that no entry has.
      ['claude-*=claude-*', -1],
      ['gemini-2.5-*=gemini-2.5-*', 0],
      ['claude-haiku-4-5=anthropic/claude-haiku-4.5', 0],
    ]);
    expect(aliases).toMatchObject({
      'openai/gpt-5': 'gpt-5',
      'openai/text-embedding-3-small': 'text-embedding-3-small',
      'openai/gpt-4o': 'claude-haiku-4-5',
      'mine-flash': 'gemini-2.5-flash',
    });
    expect(Object.values(aliases)).not.toContain('claude-opus-4-5');
  });

  test('writes image models for the protocol of images', async () => {
    const outcome = await importFile(
      'litellm',
      `model_list:
  - { model_name: dall-e-3, litellm_params: { model: openai/dall-e-3, api_base: "http://one:1/v1" }, model_info: { mode: image_generation } }
  - { model_name: pictures, litellm_params: { model: gemini/imagen }, model_info: { mode: image_generation } }\n`,
    );
    const { channels, models } = declaredBy(outcome);
    expect(channels.map(({ protocols }) => protocols)).toEqual([['chat', 'embeddings', 'images']]);
    expect(models).toMatchObject([{ id: 'dall-e-3', type: 'image', price: null }]);
    expect(outcome.err).toContain(
      "model 'pictures' is left out: models of mode image_generation are not served by 'gemini'\n",
    );
  });

  test('copies prices digit for digit, and those of a known upstream', async () => {
    const declared = declaredBy(await importFile('litellm', litellm));
    const prices = declared.models.map(({ id, price, contextWindow }) => [
      id,
      price,
      contextWindow,
    ]);
    expect(prices).toEqual([
      [
        'fast',
        { input: '0.25', cacheRead: '0.025', output: '2', fees: { web_search: '0.01' } },
        400_000,
      ],
      ['claude', expect.objectContaining({ input: '1', output: '5' }), 200_000],
      ['qwen', { input: '0.15', output: '0.6' }, 32_000],
      ['free', { input: '0', output: '0' }, null],
      ['own-vectors', { input: '0.01' }, null],
      ['deep', null, null],
      ['vectors', { input: '0.02' }, 8192],
    ]);
    expect(declared.models.filter(({ type }) => type === 'embedding')).toHaveLength(2);
  });

  test('keeps the sequence of orders, whatever the numbers', async () => {
    const outcome = await importFile(
      'litellm',
      `model_list:
  - { model_name: a, litellm_params: { model: gpt-4o, order: 2.5, max_input_tokens: 1000 } }
  - { model_name: a, litellm_params: { model: gpt-4.1, order: 1 } }
  - { model_name: a, litellm_params: { model: gpt-5, order: 3000000 } }
  - { model_name: a, litellm_params: { model: gpt-5-mini } }\n`,
    );
    const { channels: written, models } = declaredBy(outcome);
    expect(written.map(({ priority }) => priority)).toEqual([2, 3, 1, 0]);
    // Imported settings are not reported as left out.
    expect(models[0]?.contextWindow).toBe(1000);
    expect(outcome.err).not.toContain('max_input_tokens');
  });

  test('never reuses a variable that has another meaning for a secret', async () => {
    const outcome = await importFile(
      'litellm',
      `model_list:
  - { model_name: a, litellm_params: { model: anthropic/a, api_base: "https://relay.example.com/v1", api_key: secret-a } }
  - { model_name: b, litellm_params: { model: anthropic/b } }
  - { model_name: c, litellm_params: { model: anthropic/c, api_key: os.environ/ANTHROPIC_KEY } }\n`,
    );
    const keys = declaredBy(outcome).channels.map(({ apiKeys: [key = ''] }) => key.slice(3, -41));
    expect(keys).toEqual(['ANTHROPIC_KEY_2', 'ANTHROPIC_API_KEY', 'ANTHROPIC_KEY']);
  });

  test('names the upstream of a price if prices differ', async () => {
    const { err } = await importFile(
      'litellm',
      `model_list:
  - { model_name: any, litellm_params: { model: gpt-5 } }
  - { model_name: any, litellm_params: { model: openai/gpt-5-mini } }\n`,
    );
    expect(err).toContain(
      "model 'any' has upstreams with different prices: the price of gpt-5 is written\n",
    );
  });

  test('lists what is not imported, and where the secrets go', async () => {
    const { err } = await importFile('litellm', litellm);
    for (const line of [
      "warning: model 'azure' is left out: Azure is planned and not supported yet; a resource with the v1 API works as provider openai-compatible with base_url https://RESOURCE.openai.azure.com/openai/v1",
      "warning: model 'eu' is left out: Vertex AI is planned and not supported yet; until then keep the other gateway for it, as a channel of openai-compatible at its address",
      "warning: model 'own-bedrock' is left out: Bedrock is planned and not supported yet; until then keep the other gateway for it, as a channel of openai-compatible at its address",
      "warning: model 'elsewhere' is left out: 'watsonx' is not a vendor that can be imported",
      "warning: model 'groq/*' is left out: its pattern matches no model of the bundled catalogue; list the models that are used",
      "warning: model 'gemini-vectors' is left out: models of mode embedding are not served by 'gemini'",
      "warning: model 'ranks' is left out: models of mode rerank are not served",
      "warning: model 'gpt-4o': its api_base is imported without credentials and query",
      "warning: channel 'vllm.internal': its API key is in LiteLLM's file; move it to VLLM_INTERNAL_KEY",
      "warning: alias 'lost' is left out: its model is not imported",
      'warning: litellm_settings: not imported: drop_params',
      'warning: general_settings: not imported: database_url',
      'warning: environment_variables: not imported: REDIS_PASSWORD',
      'warning: litellm_params.tpm of gpt-4o: not imported',
      "warning: virtual keys, users, teams and budgets are in LiteLLM's database and are not imported",
      'warning: requests for these models are refused until they have a price: deep',
    ]) {
      expect(err).toContain(`${line}\n`);
    }
    expect(err).toMatch(/\nset these variables: (\w+, )*VLLM_INTERNAL_KEY(, \w+)*\n$/);
  });

  test('never writes a master key, and warns if it is too weak', async () => {
    const list = 'model_list: [{ model_name: gpt-4o, litellm_params: { model: gpt-4o } }]\n';
    const strong = `sk-secret-${'b7'.repeat(20)}`;
    const kept = await importFile('litellm', `${list}general_settings: { master_key: ${strong} }`);
    expect(declaredBy(kept).keys[0]?.secret).toContain('LITELLM_MASTER_KEY');
    const weak = await importFile('litellm', `${list}general_settings: { master_key: sk-1234 }`);
    expect(declaredBy(weak).keys[0]?.secret).toBeNull();
    expect(weak.err).toContain('too weak for a key here');
  });

  test('refuses any other file without quoting it', async () => {
    const broken = await importFile('litellm', 'model_list: [\n  secret-a: "secret-b');
    expect(broken).toMatchObject({ code: 1, out: '' });
    expect(broken.err).toMatch(/^sluice: line \d is not valid YAML \(\w+\)\n$/);
    expect((await importFile('litellm', '[1]')).err).toMatch(/^sluice: no model_list found/);
    const { sluice } = createWorkplace(null);
    expect(await sluice('import', 'litellm', 'nope')).toEqual({
      code: 1,
      out: '',
      err: 'sluice: nope: expected a readable file, got no such file\n',
    });
  });

  test('writes to a new file, or prints JSON', async () => {
    const { folder, sluice } = await importFile('litellm', litellm);
    expect((await sluice('import', 'litellm', 'other', '--output', 'new.yaml')).out).toBe('');
    expect(readFileSync(join(folder, 'new.yaml'), 'utf8')).toMatch(/^# Written by sluice import/);
    expect(await sluice('import', 'litellm', 'other', '--output', 'new.yaml')).toMatchObject({
      code: 1,
      err: 'sluice: new.yaml: cannot be written: it already exists\n',
    });
    const { out } = await sluice('import', 'litellm', 'other', '--json');
    expect(JSON.parse(out)).toMatchObject({
      file: { aliases: { 'gpt-4': 'gpt-4o' } },
      warnings: expect.any(Array),
      variables: expect.arrayContaining(['MASTER_KEY']),
    });
  });
});
