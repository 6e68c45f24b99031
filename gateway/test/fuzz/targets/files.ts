import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPriceList, toModelEntry, type PriceListFormat } from '#importers/price-lists/index.ts';
import { ConfigError, parseConfig } from '#config/index.ts';
import { toFileText } from '#declaration/index.ts';
import {
  createNotes,
  readOtherGateway,
  toFile,
  type OtherGateway,
} from '#importers/other-gateways/index.ts';
import { readImported } from '../../support/imported-file.ts';
import { holds, type FuzzTarget } from '../target.ts';

const full = readFileSync(join(import.meta.dirname, '../../config/fixtures/full.yaml'));
const variables = Array.from(String(full).matchAll(/\$\{(\w+)/g), ([, name = '']) => name);
const environment = Object.fromEntries(
  variables.map((name) => [name, `${name}-value-${'x'.repeat(32)}`]),
);

function configuration(input: Buffer): void {
  parseConfig(String(input), { file: 'f.yaml', environment, workingDirectory: '/srv' });
}

/** An importer refuses a file in a sentence; another class of error is an accident. */
function isSentence(error: unknown): boolean {
  return error instanceof Error && (error.constructor === Error || error instanceof SyntaxError);
}

function otherGateway(gateway: OtherGateway, input: Buffer): void {
  const notes = createNotes();
  const file = toFile(readOtherGateway(gateway, String(input), notes), notes);
  try {
    readImported(toFileText('fuzz', file), notes.variables);
  } catch (error) {
    holds(false, `what was written is refused: ${String(error)}`);
  }
}

function priceList(format: PriceListFormat, input: Buffer): void {
  const { models } = readPriceList(format, String(input), []);
  for (const model of models) JSON.stringify(toModelEntry(model));
}

const texts = (...list: readonly string[]): Buffer[] => list.map((text) => Buffer.from(text));

const litellm = `model_list:
  - model_name: fast
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/KEY, rpm: 5, timeout: 30 }
    model_info: { input_cost_per_token: 0.0000025, max_input_tokens: 100 }
  - model_name: "claude-*"
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_base: https://a.example/v1, api_key: sk-secret }
router_settings: { model_group_alias: { quick: fast } }
litellm_settings: { num_retries: 2, drop_params: true, callbacks: [x] }
general_settings: { master_key: os.environ/MASTER_KEY }
`;
const newApi = {
  success: true,
  data: [
    {
      id: 1,
      type: 1,
      name: 'main',
      status: 1,
      key: 'sk-a\nsk-b',
      base_url: 'https://api.openai.com/',
      models: 'gpt-4o,fast,text-embedding-3',
      model_mapping: '{"fast":"gpt-4o-mini"}',
      group: 'default,vip',
      priority: 3,
      weight: 0,
      auto_ban: 1,
      channel_info: { multi_key_size: 2 },
    },
    { id: 2, type: 14, name: 'main', models: 'claude-sonnet-4-5', setting: '{"proxy":"x"}' },
  ],
};
const litellmPrices = {
  'gemini/gemini-3-pro': {
    litellm_provider: 'gemini',
    mode: 'chat',
    input_cost_per_token: 1.25e-6,
    output_cost_per_token: 0.00001,
    cache_read_input_token_cost: 3e-7,
    max_input_tokens: '1000000',
    max_output_tokens: 65_536,
  },
  'gpt-image-1': {
    litellm_provider: 'openai',
    mode: 'image_generation',
    input_cost_per_token: 5e-6,
  },
};
const modelsDevPrices = {
  openai: {
    models: {
      'gpt-4o': {
        cost: { input: 2.5, output: 10, cache_read: 1.25 },
        limit: { context: 128_000, output: 16_384 },
        modalities: { output: ['text'] },
      },
    },
  },
};

export const fileTargets: readonly FuzzTarget[] = [
  {
    name: 'configuration',
    isOperators: true,
    isJson: false,
    samples: [full, ...texts('a: &a [1]\nb: *a\n', '{"server":{"port":8080}}')],
    run: configuration,
    isRefusal: (error) => error instanceof ConfigError,
  },
  {
    name: 'configuration of LiteLLM',
    isOperators: true,
    isJson: false,
    samples: texts(litellm),
    run: (input: Buffer) => otherGateway('litellm', input),
    isRefusal: isSentence,
  },
  {
    name: 'channels of new-api',
    isOperators: true,
    isJson: true,
    samples: texts(JSON.stringify(newApi)),
    run: (input: Buffer) => otherGateway('new-api', input),
    isRefusal: isSentence,
  },
  {
    name: 'prices of LiteLLM',
    isOperators: true,
    isJson: true,
    samples: texts(JSON.stringify(litellmPrices)),
    run: (input: Buffer) => priceList('litellm', input),
    isRefusal: isSentence,
  },
  {
    name: 'prices of models.dev',
    isOperators: true,
    isJson: true,
    samples: texts(JSON.stringify(modelsDevPrices)),
    run: (input: Buffer) => priceList('models.dev', input),
    isRefusal: isSentence,
  },
];
