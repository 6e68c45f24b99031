import type { TextProtocolName } from '#canonical/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import type { ProviderName } from '#config/index.ts';
import { type Vendor, findVendor, isDear } from '#vendors/index.ts';
import { textProtocols, type WireRequest } from '#protocols/index.ts';
import { passedBetas, termsSent } from '#relay/text/surcharges.ts';
import { convert, textProtocolNames } from '../../support/convert.ts';
import { holds, type FuzzTarget } from '../target.ts';
import { isClientError } from './refusals.ts';
import { readRequest, samplesOf } from './requests.ts';

/* The upstream receives what was priced, however it reads its input. */

type Json = Readonly<Record<string, unknown>>;

const vendors: Readonly<Record<TextProtocolName, ProviderName>> = {
  chat: 'openai-compatible',
  responses: 'openai',
  messages: 'anthropic',
  'generate-content': 'gemini',
};

const providerOf = (protocol: TextProtocolName): Vendor => {
  const provider = findVendor(vendors[protocol]);
  if (provider === null || provider === undefined) throw new Error('no such provider');
  return provider;
};

/** Without a price for anything but tokens. */
const plain = {
  price: null,
  allow: new Set<string>(),
  contextWindow: 200_000,
} as unknown as Model;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Some upstreams ignore the case of members. Protocol buffers have two spellings of each. */
const folded = (name: string): string => name.toUpperCase().toLowerCase();
const spellings = (name: string): string[] => [
  folded(name),
  folded(name.replace(/[A-Z]/g, (letter) => `_${letter}`)),
];

/** The values of each member that an upstream could take for the one of this name. */
function* valuesOf(json: Json, name: string): Generator {
  const own = spellings(name);
  for (const [key, value] of Object.entries(json)) {
    if (value !== null && own.includes(folded(key))) yield value;
  }
}

/** The objects of a list, or one that stands for a list of one. */
const objectsIn = (value: unknown): Json[] =>
  (Array.isArray(value) ? value : [value]).filter(isObject);

function sentTerms(json: Json, protocol: TextProtocolName): string[] {
  const fields = ['serviceTier', ...(protocol === 'messages' ? ['speed', 'inferenceGeo'] : [])];
  return fields.flatMap((field) => {
    const [, name] = spellings(field);
    return [...valuesOf(json, field)].map((value) => {
      const word = String(value).toLowerCase();
      return `${name}.${word.startsWith(`${name}_`) ? word.slice(field.length + 2) : word}`;
    });
  });
}

interface Wanted {
  readonly choices: readonly unknown[];
  readonly output: readonly unknown[];
}

function wanted(json: Json, protocol: TextProtocolName): Wanted {
  const all = (holder: Json, ...names: string[]) =>
    names.flatMap((name) => [...valuesOf(holder, name)]);
  switch (protocol) {
    case 'chat':
      return { choices: all(json, 'n'), output: all(json, 'max_tokens', 'max_completion_tokens') };
    case 'responses':
      return { choices: [], output: all(json, 'max_output_tokens') };
    case 'messages':
      return { choices: [], output: all(json, 'max_tokens') };
    case 'generate-content': {
      const configs = objectsIn([...valuesOf(json, 'generationConfig')]);
      const of = (name: string) => configs.flatMap((config) => all(config, name));
      return { choices: of('candidateCount'), output: of('maxOutputTokens') };
    }
  }
}

/** Whether it may search, by what the vendors document. */
function searches(json: Json, protocol: TextProtocolName): boolean {
  const tools = [...valuesOf(json, 'tools')].flatMap(objectsIn);
  if (protocol === 'generate-content') {
    return tools.some((tool) => Object.keys(tool).some((key) => /^google_?search/i.test(key)));
  }
  if (protocol === 'chat' && [...valuesOf(json, 'web_search_options')].some(isObject)) return true;
  return tools.some(({ type }) => typeof type === 'string' && type.startsWith('web_search'));
}

const membersOf: Readonly<Partial<Record<TextProtocolName, readonly string[]>>> = {
  chat: ['models', 'fallbacks'],
};

/** Members through which another model responds, at least in part. */
function otherModels(json: Json, protocol: TextProtocolName): string[] {
  const isList = (list: unknown) => Array.isArray(list) && list.length > 0;
  return (membersOf[protocol] ?? []).filter((name) => [...valuesOf(json, name)].some(isList));
}

async function sentTo(
  client: TextProtocolName,
  upstream: TextProtocolName,
  request: WireRequest,
): Promise<Json> {
  const headers = { 'anthropic-beta': 'any' };
  const body =
    client === upstream
      ? textProtocols[client].patchRequest(request, {
          upstreamModel: 'up',
          maxOutputTokens: 9000,
          headers,
        }).body
      : (await convert({ client, request, target: { protocol: upstream, capabilities } })).body;
  return JSON.parse(String(body)) as Json;
}

const capabilities = new Set(['vision', 'tools', 'reasoning', 'sampling', 'hosted_tools']);

const mostOf = (values: readonly unknown[]): number =>
  Math.max(0, ...values.map((value) => (typeof value === 'number' ? value : Number.NaN)));

async function price(
  client: TextProtocolName,
  upstream: TextProtocolName,
  input: Buffer,
): Promise<void> {
  const request = readRequest(client, input);
  const provider = providerOf(upstream);
  const route = {
    channel: { provider: provider.name, protocols: [upstream] },
    upstreamModel: 'up',
  } as unknown as Route;
  const asked = { protocol: client, operation: 'generate' } as const;
  const terms = termsSent(request, plain, asked, () => [route]);
  const sent = await sentTo(client, upstream, request);

  const models = upstream === 'generate-content' ? ['up', 'models/up'] : ['up'];
  for (const model of valuesOf(sent, 'model')) {
    holds(models.includes(model as string), `the model is the priced one, not ${String(model)}`);
  }
  const others = otherModels(sent, upstream);
  holds(others.length === 0, `no other model answers: ${others.join(', ')}`);
  for (const term of sentTerms(sent, upstream)) {
    const isPriced = terms.includes(term) || !isDear(provider.surcharges, term);
    holds(isPriced, `${term} reaches the upstream unpriced`);
  }
  const { choices, output } = wanted(sent, upstream);
  holds(mostOf(choices) <= request.choices, 'as many answers as are held for');
  if (request.maxOutputTokens !== null && request.maxOutputTokens > 0) {
    // Responses know no limit below 16.
    holds(
      mostOf(output) <= Math.max(16, request.maxOutputTokens),
      'answers no longer than are held for',
    );
  }
  holds(!searches(sent, upstream) || request.webSearches !== undefined, 'searches are held for');
}

const priced: Readonly<Record<TextProtocolName, readonly object[]>> = {
  chat: [
    { service_tier: 'flex', n: 2, max_tokens: 5, max_completion_tokens: 7 },
    { Service_Tier: 'priority' },
    { web_search_options: {}, N: 3, MAX_TOKENS: 9, Tools: [{ type: 'web_search' }] },
    { models: ['other'] },
    { Models: ['other'] },
  ],
  responses: [
    {
      service_tier: 'flex',
      max_output_tokens: 9,
      tools: [{ type: 'web_search' }],
      max_tool_calls: 2,
    },
    { ſervice_tier: 'priority' },
    { Max_Output_Tokens: 99, Tools: [{ type: 'web_search' }] },
  ],
  messages: [
    {
      service_tier: 'standard_only',
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }],
    },
    { Speed: 'fast' },
    { Inference_Geo: 'us' },
    { fallbacks: [{ model: 'other' }] },
    { FALLBACKS: [{ model: 'other' }] },
  ],
  'generate-content': [
    { service_tier: 'flex', generationConfig: { candidateCount: 2, maxOutputTokens: 9 } },
    { serviceTier: 'standard', service_tier: 'priority' },
    { serviceTier: 'SERVICE_TIER_PRIORITY' },
    { generationConfig: { candidateCount: 2 }, generation_config: { candidate_count: 3 } },
    { tools: { google_search: {} }, model: 'models/other' },
  ],
};

function pricedSamples(protocol: TextProtocolName): Buffer[] {
  const [, simple] = samplesOf(protocol);
  const base = JSON.parse(String(simple)) as object;
  const more = priced[protocol].map((each) => Buffer.from(JSON.stringify({ ...base, ...each })));
  return [...samplesOf(protocol), ...more];
}

/** The value of a header, as a client sent it. */
function betas(input: Buffer): void {
  const header = input.toString('latin1');
  const { surcharges } = providerOf('messages');
  const passed = passedBetas(header, plain, surcharges)?.value ?? header;
  const names = passed.split(',').map((name) => name.trim().toLowerCase());
  for (const closed of ['fast-mode', 'context-1m']) {
    holds(
      !names.some((name) => name.startsWith(closed)),
      `${closed} reaches the upstream unpriced`,
    );
  }
}

export const priceTargets: readonly FuzzTarget[] = [
  ...textProtocolNames.flatMap((client) =>
    textProtocolNames.map((upstream) => ({
      name: `price of ${client} at ${upstream}`,
      isJson: true,
      samples: pricedSamples(client),
      run: (input: Buffer) => price(client, upstream, input),
      isRefusal: isClientError,
    })),
  ),
  {
    name: 'price of betas',
    isJson: false,
    samples: [
      'fast-mode-2026-02-01, oauth-2025-04-20',
      'oauth-2025-04-20,context-1m-2025-08-07',
      'Fast-Mode-2026-02-01',
    ].map((text) => Buffer.from(text)),
    run: betas,
    isRefusal: () => false,
  },
];
