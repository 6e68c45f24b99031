import { openAiModels } from '../model-lists.ts';
import {
  reasoningEfforts,
  type ReasoningEffort as Effort,
  type TextProtocolName,
} from '#canonical/index.ts';
import type { Quirk } from '../quirks.ts';
import type { Vendor, VendorPaths, SurchargeFacts } from '../vendor.ts';
import { plainTraits, type UpstreamTraits } from '../traits.ts';

/** What a model's name says about it. */
export interface OpenAiModel {
  /** `gpt-5.1` is 501; 0 for other names. */
  readonly version: number;
  /** The efforts that it takes, the least one first. Null: it does not reason, or its name does not tell. */
  readonly efforts: readonly Effort[] | null;
  /** Where it is served, the protocol for converted requests first. */
  readonly protocols: readonly TextProtocolName[];
}

const fromTo = (least: Effort, most: Effort): readonly Effort[] =>
  reasoningEfforts.slice(reasoningEfforts.indexOf(least), reasoningEfforts.indexOf(most) + 1);
/** `minimal` left when `none` came. */
const noneTo = (most: Effort): readonly Effort[] => ['none', ...fromTo('low', most)];

/**
 * Efforts by model, as https://platform.openai.com/docs/guides/reasoning and the models' pages list them, and as
 * https://github.com/enricoros/big-AGI/issues/1159 and https://github.com/anomalyco/models.dev/pull/2351 measured them.
 * The first that matches.
 */
const effortsByName: readonly (readonly [RegExp, readonly Effort[]])[] = [
  [/deep-research|^computer-use/, ['medium']],
  [/^gpt-5-pro/, ['high']],
  [/^gpt-[\d.]+-pro/, fromTo('medium', 'xhigh')],
  [/^gpt-5\.\d+-chat/, ['medium']],
  [/^(gpt-5(\.1)?-codex(?!-max)|codex)/, fromTo('low', 'high')],
  [/codex/, fromTo('low', 'xhigh')],
  [/^gpt-5(?!\.|-chat)/, fromTo('minimal', 'high')],
  [/^gpt-5\.1(?!\d)/, noneTo('high')],
  [/^gpt-5\.[2-5](?!\d)/, noneTo('xhigh')],
  [/^gpt-(5\.|6(?!\.))/, noneTo('max')],
  [/^gpt-([6-9]|\d\d)/, fromTo('low', 'max')],
  [/^o\d/, fromTo('low', 'high')],
];

/**
 * Served by responses alone. Elsewhere: 404 "This model is only supported in v1/responses and not in
 * v1/chat/completions." (https://github.com/docker/docker-agent/issues/313, and for the pro models
 * https://github.com/aaif-goose/goose/issues/2564); each model's page names its one endpoint.
 */
const responsesOnly = /^(gpt-[\d.]+|o\d)-pro|codex|deep-research|^computer-use/;

/**
 * Models that take the members of reasoning models only, also those that do not think (`gpt-5-chat-latest`):
 * https://community.openai.com/t/developer-role-not-accepted-for-o1-o1-mini-o3-mini/1110750/7. A prefix is read as below.
 */
export const reasoningMembers = /^(.*\/)?(ft:)?(o\d|gpt-([5-9]|\d\d))/;
/** They call one tool at a time: https://github.com/run-llama/llama_index/issues/20865 */
export const singleCalls = /^(.*\/)?(ft:)?o\d/;

/** Served by chat completions alone, as each model's page says. */
const chatOnly = /-search|^gpt-[\w.-]*audio/;

/**
 * Reads the name. The prefix of a router (`openai/gpt-5.4`) or of a fine-tuned model (`ft:gpt-4.1:…`) is no part of it.
 *
 * Converted requests prefer responses for all models that reason, since chat completions refuse function tools beside an
 * effort from GPT-5.4 on, and from GPT-5.6 on without an effort too: "Function tools with reasoning_effort are not
 * supported for gpt-5.6-terra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort
 * to 'none'." (https://github.com/openai/openai-openapi/issues/541, https://github.com/BerriAI/litellm/pull/34569). And
 * only responses return the reasoning. Other models stay with chat, which has stop sequences and penalties.
 */
export function readModelName(model: string): OpenAiModel {
  const name = model.slice(model.lastIndexOf('/') + 1).replace(/^ft:/, '');
  const match = /^gpt-(\d+)(?:\.(\d+))?/.exec(name);
  const version = match === null ? 0 : Number(match[1]) * 100 + Number(match[2] ?? 0);
  if (chatOnly.test(name)) return { version, efforts: null, protocols: ['chat'] };
  const efforts = effortsByName.find(([names]) => names.test(name))?.[1] ?? null;
  if (responsesOnly.test(name)) return { version, efforts, protocols: ['responses'] };
  return {
    version,
    efforts,
    protocols: efforts === null ? ['chat', 'responses'] : ['responses', 'chat'],
  };
}

/** What all of its models take: it renamed members that other servers know by their old names, and added some. */
const common: UpstreamTraits = Object.freeze({
  ...plainTraits,
  renamedMembers: true,
  cacheKeys: true,
  serviceTiers: true,
  storage: true,
  customTools: true,
  toolNamespaces: true,
  allowedTools: true,
  refusals: true,
  verbosity: true,
  systemTurns: true,
  // A name that says nothing may stand for any model.
  efforts: reasoningEfforts,
});

/** By the model's name. */
export function openAiTraits(model: string): UpstreamTraits {
  const { version, efforts } = readModelName(model);
  return {
    ...common,
    ...(efforts !== null && { efforts, leastEffort: efforts[0] ?? null }),
    // Since GPT-5.6 (`prompt_cache_options` in its reference); models before it find their caches by themselves.
    cacheMarkers: version >= 506,
    // Only models made for it: https://platform.openai.com/docs/guides/tools-web-search
    alwaysSearches: model.includes('-search'),
  };
}

/** Paths of the OpenAI style API after its `/v1`. */
export const openAiPaths = {
  chat: { generate: '/chat/completions' },
  responses: {
    generate: '/responses',
    'count-tokens': '/responses/input_tokens',
    compact: '/responses/compact',
  },
  embeddings: { generate: '/embeddings' },
  images: { generate: '/images/generations', edit: '/images/edits' },
} satisfies VendorPaths;

/** The OpenAI style credential; nothing for a server that wants none. */
export function bearer(secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? {} : { authorization: `Bearer ${secret}` };
}

/** Its "Priority processing" page; flex and batch are cheaper. */
export const openAiSurcharges: SurchargeFacts = { dear: ['service_tier.priority'], betas: [] };

/**
 * It checks the schemas of tools against JSON Schema 2020-12, and names the first that fails. Its reasoning models know the
 * limit by its newer name only (https://github.com/openai/openai-python/issues/2046), and refuse the penalties and `top_p`
 * (https://github.com/stanford-crfm/helm/pull/3617, https://github.com/brainlid/langchain/pull/428): a value that asks for
 * nothing is left out, any other one is for the client to omit.
 */
const quirks: readonly Quirk[] = [
  { id: 'p5', protocol: 'chat', edit: { modernize: 'tools[].function.parameters' } },
  { id: 'p6', protocol: 'responses', edit: { modernize: 'tools[].parameters' } },
  { id: 'p7', protocol: 'responses', edit: { modernize: 'tools[].tools[].parameters' } },
  {
    id: 'p8',
    protocol: 'chat',
    models: reasoningMembers,
    edit: { rename: 'max_tokens', to: 'max_completion_tokens' },
  },
  {
    id: 'p9',
    protocol: 'chat',
    models: reasoningMembers,
    edit: { drop: 'presence_penalty', value: 0 },
  },
  {
    id: 'p10',
    protocol: 'chat',
    models: reasoningMembers,
    edit: { drop: 'frequency_penalty', value: 0 },
  },
  { id: 'p11', protocol: 'chat', models: reasoningMembers, edit: { drop: 'top_p', value: 1 } },
  { id: 'p12', protocol: 'responses', models: reasoningMembers, edit: { drop: 'top_p', value: 1 } },
  { id: 'p13', protocol: 'chat', models: singleCalls, edit: { drop: 'parallel_tool_calls' } },
];

export const openai = {
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  versionPath: '/v1',
  protocols: ['chat', 'responses', 'images', 'embeddings'],
  environmentKey: 'OPENAI_API_KEY',
  keyBeginnings: ['sk-proj-', 'sk-svcacct-', 'sk-'],
  ownedBy: 'openai',
  countsTokensIn: ['responses'],
  textProtocolsOf: (model) => readModelName(model).protocols,
  compacts: true,
  paths: openAiPaths,
  modelList: openAiModels(),
  headers: bearer,
  surcharges: openAiSurcharges,
  traitsOf: openAiTraits,
  // "OpenAI's backend" is strict, too: https://github.com/anomalyco/opencode/pull/17758
  // "Invalid value for 'content': expected a string, got null."
  repairs: ['b12', 'b41'],
  quirks,
} satisfies Vendor;
