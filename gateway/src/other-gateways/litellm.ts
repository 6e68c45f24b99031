import { parseDocument, visit } from 'yaml';
import {
  ExactNumber,
  isExactMapping,
  type ExactMapping,
} from '../billing/price-list/exact-json.ts';
import { listedCount, listedPrice } from '../billing/price-list/listed-model.ts';
import { parseKeySettings, type DeclaredPrice, type ProviderName } from '../config/index.ts';
import { isHeaderName, reservedHeaders } from '../config/schema/channel.ts';
import type { Placeholder } from '../declaration/index.ts';
import {
  createChannelNames,
  hasPath,
  isServedName,
  plainUrl,
  type Draft,
  type DraftChannel,
  type DraftModel,
  type Notes,
} from './draft.ts';

interface Vendor {
  readonly provider: ProviderName;
  /** Null: the provider's own; undefined: there is none, the file has to say. */
  readonly baseUrl?: string | null;
  /** The variable that LiteLLM reads when no key is given. */
  readonly variable?: string;
}

const compatible = (baseUrl: string, variable: string): Vendor => ({
  provider: 'openai-compatible',
  baseUrl,
  variable,
});

/** Prefixes of `model`, for vendors that are asked with nothing but a key. */
const vendors: Readonly<Record<string, Vendor>> = {
  openai: { provider: 'openai', baseUrl: null, variable: 'OPENAI_API_KEY' },
  anthropic: { provider: 'anthropic', baseUrl: null, variable: 'ANTHROPIC_API_KEY' },
  gemini: { provider: 'gemini', baseUrl: null, variable: 'GEMINI_API_KEY' },
  openrouter: compatible('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  deepseek: compatible('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
  mistral: compatible('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  groq: compatible('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  xai: compatible('https://api.x.ai/v1', 'XAI_API_KEY'),
  together_ai: compatible('https://api.together.xyz/v1', 'TOGETHERAI_API_KEY'),
  fireworks_ai: compatible('https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  cerebras: compatible('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  nvidia_nim: compatible('https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'),
  moonshot: compatible('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  hosted_vllm: { provider: 'openai-compatible' },
  openai_like: { provider: 'openai-compatible' },
  litellm_proxy: { provider: 'openai-compatible' },
  lm_studio: { provider: 'openai-compatible' },
};

/** Names without a prefix that LiteLLM knows the vendor of. */
const unprefixed: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt-|o\d(-|$))/, 'openai'],
  [/^claude-/, 'anthropic'],
];

/** What is understood of a deployment; anything else that is set is named. */
const understood = new Set(
  'model api_base base_url api_key order weight rpm organization extra_headers'.split(' '),
);
const costs =
  'input_cost_per_token output_cost_per_token cache_read_input_token_cost cache_creation_input_token_cost cache_creation_input_token_cost_above_1hr'.split(
    ' ',
  );

interface Deployment {
  /** The name that clients use. */
  readonly name: string;
  readonly upstream: string;
  readonly vendorName: string;
  readonly provider: ProviderName;
  readonly baseUrl: string | Placeholder | null;
  readonly key: KeySource | null;
  readonly headers: ExactMapping;
  readonly order: number | null;
  readonly weight: number | null;
  readonly rpm: number | null;
}

/** The text is compared and never shown or written. */
type KeySource = { readonly variable: string } | { readonly text: string };

/**
 * The `config.yaml` of a LiteLLM proxy.
 * @throws Error with a sentence when it is none. The text of the file is never part of it.
 */
export function readLitellmConfig(text: string, notes: Notes): Draft {
  const file = parse(text);
  const list = file['model_list'];
  if (!Array.isArray(list))
    throw new Error('no model_list found: is it the config.yaml of LiteLLM?');
  // A key at another address must not be that of the vendor, which may stand in the environment.
  notes.reserve(Object.values(vendors).flatMap(({ variable }) => variable ?? []));
  notes.reserve(text.matchAll(/os\.environ\/(\w+)/g).map(([, name = '']) => name));
  const models = new Map<string, DraftModel>();
  const deployments = list.flatMap((entry: unknown, index) => {
    const read = isExactMapping(entry) ? readDeployment(entry, index, notes) : null;
    if (read === null || !isExactMapping(entry)) return [];
    const known = readModel(entry);
    if (known !== null && !models.has(read.name)) models.set(read.name, known);
    return [read];
  });
  const channels = toChannels(deployments, notes);
  reportSettings(file, notes);
  return {
    channels,
    models,
    aliases: readAliases(file, new Set(deployments.map(({ name }) => name)), notes),
    key: readMasterKey(file, notes),
  };
}

/** Numbers stay as they are written: `1.5e-07` is a price. */
function parse(text: string): ExactMapping {
  const document = parseDocument(text, { merge: true, prettyErrors: false, logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw new Error(`line ${line} is not valid YAML (${error.code})`);
  }
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'number')
        node.value = new ExactNumber(node.source ?? String(node.value));
    },
  });
  const file: unknown = document.toJS();
  if (!isExactMapping(file))
    throw new Error('no model_list found: is it the config.yaml of LiteLLM?');
  return file;
}

function readDeployment(entry: ExactMapping, index: number, notes: Notes): Deployment | null {
  const name = textOf(entry['model_name']) ?? '';
  const given = entry['litellm_params'];
  const params = isExactMapping(given) ? given : {};
  const model = textOf(params['model']) ?? '';
  const label = isServedName(name) ? name : `model_list[${index}]`;
  const leaveOut = (reason: string): null => {
    notes.warn(`model '${label}' is left out: ${reason}`);
    return null;
  };
  if (name === '' || model === '') {
    return leaveOut('it has no model_name or no litellm_params.model');
  }
  if (!isServedName(name) || !isServedName(model)) return leaveOut('its name cannot be one here');
  if (name.includes('*') || model.includes('*')) {
    return leaveOut('a pattern names no models; add those that are used');
  }
  const info = isExactMapping(entry['model_info']) ? entry['model_info'] : {};
  const mode = textOf(info['mode']) ?? 'chat';
  if (mode !== 'chat' && mode !== 'completion' && mode !== 'responses') {
    return leaveOut(`models of mode ${mode} are not served`);
  }
  const isPrefixed =
    model.includes('/') && Object.hasOwn(vendors, model.slice(0, model.indexOf('/')));
  const slash = isPrefixed ? model.indexOf('/') : -1;
  const vendorName = isPrefixed
    ? model.slice(0, slash)
    : unprefixed.find(([pattern]) => pattern.test(model))?.[1];
  const vendor = vendorName === undefined ? undefined : vendors[vendorName];
  if (vendorName === undefined || vendor === undefined) {
    const prefix = model.includes('/') ? `'${model.slice(0, model.indexOf('/'))}'` : 'its vendor';
    return leaveOut(`${prefix} is not a vendor that can be carried`);
  }
  const upstream = model.slice(slash + 1);
  const address = readAddress(params['api_base'] ?? params['base_url'], label, notes);
  if (address === undefined) return leaveOut('its api_base is no http address');
  if (address === null && vendor.baseUrl === undefined) return leaveOut('it has no api_base');
  for (const [setting, value] of Object.entries(params)) {
    const isCarried = understood.has(setting) || costs.includes(setting);
    if (!isCarried && value !== null) notes.leftOut(`litellm_params.${setting}`, label);
  }
  const isOther = address !== null && vendor.provider === 'openai' && !isOpenai(address);
  return {
    name,
    upstream,
    vendorName,
    provider: isOther ? 'openai-compatible' : vendor.provider,
    baseUrl: address ?? vendor.baseUrl ?? null,
    key: keyOf(params['api_key'], vendor),
    headers: headersOf(params, label, notes),
    order: numberOf(params['order']),
    weight: numberOf(params['weight']),
    rpm: numberOf(params['rpm']),
  };
}

function headersOf(params: ExactMapping, label: string, notes: Notes): ExactMapping {
  const given = isExactMapping(params['extra_headers']) ? params['extra_headers'] : {};
  const headers = Object.entries(given).filter(([header]) => {
    const isTaken = isHeaderName(header) && !reservedHeaders.has(header.toLowerCase());
    if (!isTaken) notes.leftOut('a header of litellm_params.extra_headers', label);
    return isTaken;
  });
  const organization = textOf(params['organization']) ?? '';
  if (organization !== '') headers.push(['OpenAI-Organization', organization]);
  return Object.fromEntries(headers);
}

/** Null: none is given; undefined: what is given is no address. */
function readAddress(
  given: unknown,
  label: string,
  notes: Notes,
): string | Placeholder | null | undefined {
  const text = textOf(given) ?? '';
  if (text === '') return null;
  const variable = environmentName(text);
  if (variable !== null) return notes.variable(variable);
  const plain = plainUrl(text);
  if (plain === null) return undefined;
  if (plain.shortened) {
    notes.warn(`model '${label}': its api_base is carried without credentials and query`);
  }
  // Some write the whole address of the endpoint.
  const url = plain.url.replace(/\/(chat\/completions|v1\/messages|responses)$/, '');
  if (!hasPath(url))
    notes.warn(`model '${label}': its api_base has no path and gets its provider's, as /v1`);
  return url;
}

function isOpenai(address: string | Placeholder): boolean {
  return typeof address === 'string' && new URL(address).hostname === 'api.openai.com';
}

function keyOf(given: unknown, { variable }: Vendor): KeySource | null {
  const text = textOf(given) ?? '';
  if (text === '') return variable === undefined ? null : { variable };
  const named = environmentName(text);
  return named === null ? { text } : { variable: named };
}

/** Deployments that differ in nothing but their models are one channel. */
function toChannels(deployments: readonly Deployment[], notes: Notes): DraftChannel[] {
  const last = Math.max(0, ...deployments.map(({ order }) => order ?? 0));
  const weights = weightsOf(deployments, notes);
  const nameOf = createChannelNames();
  const drafts = new Map<
    string,
    { first: Deployment; channel: DraftChannel; models: Map<string, string> }
  >();
  for (const deployment of deployments) {
    const { name, upstream, provider, baseUrl, key, headers, order } = deployment;
    // The lowest order comes first; those without one after all others.
    const priority = order === null ? 0 : last + 1 - order;
    const weight = weights.get(deployment) ?? 1;
    const likeness = JSON.stringify([provider, baseUrl, key, headers, priority, weight]);
    // A channel serves each name once.
    let place = likeness;
    while ((drafts.get(place)?.models.get(name) ?? upstream) !== upstream) place += '+';
    let draft = drafts.get(place);
    if (draft === undefined) {
      const channelName = nameOf(nameFor(deployment));
      draft = {
        first: deployment,
        models: new Map(),
        channel: {
          name: channelName,
          provider,
          baseUrl,
          apiKeys: key === null ? [] : [toVariable(key, channelName, notes)],
          groups: ['default'],
          models: [],
          priority,
          weight,
          headers: Object.fromEntries(
            Object.entries(headers).map(([header, value]) => [
              header,
              headerVariable(header, value, channelName, notes),
            ]),
          ),
          enabled: true,
        },
      };
      drafts.set(place, draft);
    }
    draft.models.set(name, upstream);
  }
  return Array.from(drafts.values(), ({ channel, models }) => ({
    ...channel,
    models: Array.from(models, ([name, upstream]) => ({ name, upstream })),
  }));
}

function nameFor({ vendorName, provider, baseUrl }: Deployment): string {
  if (provider !== 'openai-compatible' || typeof baseUrl !== 'string') return vendorName;
  return vendorName === 'openai' || vendors[vendorName]?.baseUrl === undefined
    ? new URL(baseUrl).hostname
    : vendorName;
}

function toVariable(key: KeySource, channel: string, notes: Notes): Placeholder {
  if ('variable' in key) return notes.variable(key.variable);
  const placeholder = notes.secret(channel, 'KEY');
  notes.warn(
    `channel '${channel}': its API key stands in the file of LiteLLM; put it into ${placeholder.variable}`,
  );
  return placeholder;
}

function headerVariable(
  header: string,
  value: unknown,
  channel: string,
  notes: Notes,
): Placeholder {
  const variable = environmentName(textOf(value) ?? '');
  if (variable !== null) return notes.variable(variable);
  const placeholder = notes.secret(channel, `HEADER_${header}`);
  notes.warn(
    `channel '${channel}': put the value of header ${header} into ${placeholder.variable}`,
  );
  return placeholder;
}

/** Shares among deployments of one name: by `weight`, or else by `rpm`, as LiteLLM draws them. */
function weightsOf(deployments: readonly Deployment[], notes: Notes): Map<Deployment, number> {
  const weights = new Map<Deployment, number>();
  for (const [name, group] of Map.groupBy(deployments, (deployment) => deployment.name)) {
    if (group.some(({ rpm }) => rpm !== null)) {
      notes.leftOut('litellm_params.rpm, a limit of the upstream (it counts as a weight),', name);
    }
    const part = (['weight', 'rpm'] as const).find((each) =>
      group.some((one) => one[each] !== null),
    );
    if (group.length < 2 || part === undefined) continue;
    const whole = group.every((one) => Number.isInteger(one[part] ?? 0)) ? 1 : 1000;
    for (const one of group) {
      weights.set(one, Math.min(1_000_000, Math.max(0, Math.round((one[part] ?? 0) * whole))));
    }
  }
  return weights;
}

/** What is said of a model beside its name: prices and limits. Null: nothing. */
function readModel(entry: ExactMapping): DraftModel | null {
  const [params, info] = ['litellm_params', 'model_info'].map((part) => entry[part]);
  const said: ExactMapping = {
    ...(isExactMapping(info) ? info : {}),
    ...(isExactMapping(params) ? params : {}),
  };
  const contextWindow = listedCount(said['max_input_tokens']);
  const maxOutputTokens = listedCount(said['max_output_tokens']);
  const price = priceOf(said);
  if (price === null && contextWindow === null && maxOutputTokens === null) return null;
  return { price, contextWindow, maxOutputTokens };
}

function priceOf(said: ExactMapping): DeclaredPrice | null {
  const [input, output, cacheRead, cacheWrite, cacheWrite1h] = costs.map((cost) => said[cost]);
  const price = listedPrice(
    { input, inputImage: null, cacheRead, cacheWrite, cacheWrite1h, output },
    6,
  );
  // Here, unlike in a public list, somebody wrote the zeros.
  if (price === 'listed as free') return { input: '0', output: '0' };
  return typeof price === 'string' ? null : price;
}

function readAliases(
  file: ExactMapping,
  names: ReadonlySet<string>,
  notes: Notes,
): Map<string, string> {
  const settings = ['router_settings', 'litellm_settings'].map((part) => file[part]);
  const [router = {}, library = {}] = settings.map((part) => (isExactMapping(part) ? part : {}));
  const aliases = new Map<string, string>();
  for (const given of [router['model_group_alias'], library['model_alias_map']]) {
    if (!isExactMapping(given)) continue;
    for (const [alias, value] of Object.entries(given)) {
      const target = textOf(isExactMapping(value) ? value['model'] : value) ?? '';
      if (!isServedName(alias)) notes.warn('an alias is left out: its name cannot be one here');
      else if (names.has(alias)) notes.warn(`alias '${alias}' is left out: a model has that name`);
      else if (!names.has(target))
        notes.warn(`alias '${alias}' is left out: its model is not carried`);
      else aliases.set(alias, target);
    }
  }
  return aliases;
}

function readMasterKey(file: ExactMapping, notes: Notes): Draft['key'] {
  const settings = file['general_settings'];
  const text = isExactMapping(settings) ? (textOf(settings['master_key']) ?? '') : '';
  if (text === '') return null;
  const name = 'litellm-master';
  const variable = environmentName(text);
  if (variable !== null) return { name, secret: notes.variable(variable) };
  if (!isClientKey(text)) {
    notes.warn(
      `key '${name}' is written without its secret, which is too weak for a key here: 'sluice key create --user admin@localhost --name ${name}' makes one`,
    );
    return { name, secret: null };
  }
  const secret = notes.secret('litellm', 'MASTER_KEY');
  notes.warn(
    `key '${name}': its secret stands in the file of LiteLLM; put it into ${secret.variable}`,
  );
  return { name, secret };
}

/** Every setting beside the models that is not carried, in one line per part of the file. */
function reportSettings(file: ExactMapping, notes: Notes): void {
  const carried = new Set(['model_group_alias', 'model_alias_map', 'master_key']);
  for (const [part, value] of Object.entries(file)) {
    if (part === 'model_list' || value === null) continue;
    const settings = isExactMapping(value) ? Object.keys(value) : [];
    const left = settings.filter((setting) => !carried.has(setting));
    if (!isExactMapping(value)) notes.warn(`${part}: not carried`);
    else if (left.length > 0) notes.warn(`${part}: not carried: ${left.join(', ')}`);
  }
  notes.warn(
    'virtual keys, users, teams and budgets are in the database of LiteLLM, and not carried',
  );
}

/** Whether the file may give it as the secret of a key. */
function isClientKey(secret: string): boolean {
  try {
    parseKeySettings({ name: 'any', user: 'any@example.com', secret });
    return true;
  } catch {
    return false;
  }
}

function environmentName(text: string): string | null {
  return /^os\.environ\/([A-Za-z_]\w*)$/.exec(text)?.[1] ?? null;
}

function textOf(value: unknown): string | null {
  if (value instanceof ExactNumber) return value.source;
  return typeof value === 'string' ? value.trim() : null;
}

function numberOf(value: unknown): number | null {
  const text = textOf(value);
  const number = text === null || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) && number >= 0 ? number : null;
}
