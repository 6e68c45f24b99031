import { trimTrailing } from '#config/index.ts';
import { knownServers, vendorFacts, type ProviderName } from '#vendors/index.ts';
import { hasPath, plainUrl, providerAt } from './address.ts';
import type { Draft, DraftChannel, DraftModel } from './draft.ts';
import { createChannelNames, isServedName } from './names.ts';
import type { Notes } from './notes.ts';
import { imageProtocols, notYet, speaks } from './vendor-facts.ts';

interface Kind {
  readonly provider: ProviderName;
  /** The address that the other gateway uses if the channel has none; null: the channel must have one. */
  readonly address: string | null;
  /** The part between the address and the path of an endpoint. */
  readonly version: string;
}

const compatible = (address: string | null, version = '/v1'): Kind => ({
  provider: 'openai-compatible',
  address,
  version,
});

/** A vendor with an address of its own, of which the other gateway has the part before the version. */
const ownVendor = (provider: ProviderName): Kind => {
  const { baseUrl, versionPath } = vendorFacts[provider];
  return { provider, address: withoutVersion(baseUrl, versionPath), version: versionPath };
};

/** A server with OpenAI's protocol. */
const server = (name: string): Kind => {
  const knownServer = knownServers.find((each) => each.name === name);
  return compatible(withoutVersion(knownServer?.baseUrl ?? null, '/v1'));
};

const withoutVersion = (baseUrl: string | null, version: string): string | null =>
  baseUrl?.endsWith(version) ? baseUrl.slice(0, -version.length) : baseUrl;

/** Vendors that both name and the gateway does not have yet. */
const planned = { 3: notYet('azure'), 33: notYet('bedrock') };
const plannedOfNewApi: Readonly<Record<number, string>> = { ...planned, 41: notYet('vertex') };
const plannedOfOneApi: Readonly<Record<number, string>> = { ...planned, 42: notYet('vertex') };

/** Numbers of `type` that both use alike. */
const common: Readonly<Record<number, Kind>> = {
  1: ownVendor('openai'),
  8: compatible(null),
  14: ownVendor('anthropic'),
  17: compatible('https://dashscope.aliyuncs.com', '/compatible-mode/v1'),
  20: server('openrouter'),
  24: ownVendor('gemini'),
  25: compatible('https://api.moonshot.cn'),
  31: compatible('https://api.lingyiwanwu.com'),
};

const newApi: Readonly<Record<number, Kind>> = {
  ...common,
  4: compatible('http://localhost:11434'),
  26: compatible('https://open.bigmodel.cn', '/api/paas/v4'),
  40: compatible('https://api.siliconflow.cn'),
  42: server('mistral'),
  43: server('deepseek'),
  45: compatible('https://ark.cn-beijing.volces.com', '/api/v3'),
  46: compatible('https://qianfan.baidubce.com', '/v2'),
  47: compatible(null),
  48: server('xai'),
};

const oneApi: Readonly<Record<number, Kind>> = {
  ...common,
  28: server('mistral'),
  29: server('groq'),
  30: compatible('http://localhost:11434'),
  32: compatible('https://api.stepfun.com'),
  36: server('deepseek'),
  39: server('together'),
  40: compatible('https://ark.cn-beijing.volces.com', '/api/v3'),
};

/** Settings of a channel that change its behaviour and have no equivalent here. */
const notCarried =
  'status_code_mapping param_override header_override system_prompt setting settings other config openai_organization'.split(
    ' ',
  );

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads the channels of new-api or one-api: the response of `GET /api/channel/`, or a list of channels.
 * @throws Error with a message if the text is neither. The message never contains the text of the file.
 */
export function readNewApiChannels(text: string, notes: Notes): Draft {
  const { entries, isPaged } = entriesOf(text, notes);
  const isNewApi =
    isPaged || entries.some((entry) => 'auto_ban' in entry || 'channel_info' in entry);
  const kinds = isNewApi ? newApi : oneApi;
  const nameOf = createChannelNames();
  const channels = entries.flatMap((entry) => {
    const trimmedName = typeof entry['name'] === 'string' ? entry['name'].trim() : '';
    const wantedName = trimmedName === '' ? `channel-${String(entry['id'])}` : trimmedName;
    const channel = readChannel(entry, nameOf(wantedName), kinds, notes);
    return channel === null ? [] : [channel];
  });
  if (channels.some(({ groups }) => groups.some((group) => group !== 'default'))) {
    notes.warn('the ratios of groups are not in the export: set price_multiplier of groups');
  }
  notes.warn('tokens, users, quotas and model ratios are not in the export and are not imported');
  return { channels, models: typedModelsOf(channels), aliases: new Map(), key: null };
}

/** The export contains only the names of models. */
function typedModelsOf(channels: readonly DraftChannel[]): ReadonlyMap<string, DraftModel> {
  const names = channels.flatMap(({ models }) => models.map(({ name }) => name));
  return new Map(
    names.flatMap((name): [string, DraftModel][] => {
      const type = typeOf(name);
      if (type === 'chat' || type === null) return [];
      return [[name, { type, price: null, contextWindow: null, maxOutputTokens: null }]];
    }),
  );
}

function entriesOf(text: string, notes: Notes): { entries: Entry[]; isPaged: boolean } {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    // The parser's message quotes the text around the mistake.
    throw new Error('the file is not valid JSON');
  }
  const data = isEntry(file) && 'data' in file ? file['data'] : file;
  const items = isEntry(data) ? data['items'] : data;
  if (!Array.isArray(items) || !items.every(isEntry) || !items.some((item) => 'models' in item)) {
    throw new Error(
      'no channels found: is it the response of GET /api/channel/ of new-api or one-api?',
    );
  }
  const total = isEntry(data) ? data['total'] : undefined;
  if (typeof total === 'number' && total > items.length) {
    notes.warn(`the file has ${items.length} of ${total} channels: ask for more per page`);
  }
  return { entries: items, isPaged: isEntry(data) };
}

function readChannel(
  entry: Entry,
  name: string,
  kinds: Readonly<Record<number, Kind>>,
  notes: Notes,
): DraftChannel | null {
  const leaveOut = (reason: string): null => {
    notes.warn(`channel '${name}' is left out: ${reason}`);
    return null;
  };
  const number = Number(entry['type']);
  const kind = kinds[number];
  if (kind === undefined) {
    const planned = kinds === newApi ? plannedOfNewApi : plannedOfOneApi;
    return leaveOut(planned[number] ?? `type ${String(entry['type'])} cannot be imported`);
  }
  const address = addressOf(entry, name, kind, notes);
  if (address === undefined) return leaveOut('it has no http address');
  const provider = providerAt(kind.provider, address);
  const models = modelsOf(entry, name, provider, notes);
  if (models.length === 0) return leaveOut('it has no models that can be served');
  for (const setting of notCarried) if (says(entry[setting])) notes.leftOut(setting, name);
  const groups = listOf(entry['group']);
  const isEnabled = entry['status'] === undefined || entry['status'] === 1;
  if (!isEnabled) notes.warn(`channel '${name}' is disabled there and stays disabled`);
  return {
    name,
    provider,
    baseUrl: address,
    apiKeys: keysOf(entry, name, notes),
    groups: groups.length === 0 ? ['default'] : groups,
    models,
    patterns: [],
    protocols: models.some(({ name }) => typeOf(name) === 'image')
      ? imageProtocols(provider)
      : null,
    priority: within(entry['priority'], -1_000_000, 0),
    // There, a weight of 0 still has a small share.
    weight: Math.max(1, within(entry['weight'], 0, 1)),
    headers: {},
    enabled: isEnabled,
  };
}

/** Null: the provider's own; undefined: none that is usable. */
function addressOf(
  entry: Entry,
  name: string,
  kind: Kind,
  notes: Notes,
): string | null | undefined {
  const baseUrl = typeof entry['base_url'] === 'string' ? entry['base_url'].trim() : '';
  const isDefault = baseUrl === '' || trimTrailing(baseUrl, '/') === kind.address;
  if (isDefault && kind.provider !== 'openai-compatible') return null;
  const plain = plainUrl(isDefault ? (kind.address ?? '') : baseUrl);
  if (plain === null) return undefined;
  if (plain.isShortened) {
    notes.warn(`channel '${name}': its base_url is imported without credentials and query`);
  }
  const withoutPath = plain.url.replace(/\/chat\/completions$/, '');
  if (withoutPath !== plain.url || withoutPath.endsWith(kind.version)) return withoutPath;
  return hasPath(withoutPath) || kind.version !== '/v1' ? withoutPath + kind.version : withoutPath;
}

function modelsOf(
  entry: Entry,
  channel: string,
  provider: ProviderName,
  notes: Notes,
): DraftChannel['models'] {
  const mapping = mappingOf(entry, channel, notes);
  const names = listOf(entry['models']);
  const isServed = (name: string): boolean => {
    const type = typeOf(name);
    return type !== null && speaks(provider, type);
  };
  const others = names.filter((name) => !isServed(name));
  if (others.length > 0) {
    notes.warn(
      `channel '${channel}': models that it cannot serve here are left out: ${others.join(', ')}`,
    );
  }
  return names.filter(isServed).map((name) => {
    // Mappings may form a chain; a cycle ends where it began.
    const seenNames = new Set([name]);
    let upstream = name;
    for (let next = mapping[upstream]; next !== undefined; next = mapping[upstream]) {
      if (seenNames.has(next) || !isServedName(next)) break;
      seenNames.add(next);
      upstream = next;
    }
    return { name, upstream };
  });
}

function mappingOf(entry: Entry, channel: string, notes: Notes): Readonly<Record<string, string>> {
  const modelMapping = entry['model_mapping'];
  if (!says(modelMapping)) return {};
  let mapping: unknown = modelMapping;
  try {
    if (typeof modelMapping === 'string') mapping = JSON.parse(modelMapping);
  } catch {
    mapping = null;
  }
  if (isEntry(mapping) && Object.values(mapping).every((value) => typeof value === 'string')) {
    return Object.assign(Object.create(null), mapping) as Readonly<Record<string, string>>;
  }
  notes.warn(`channel '${channel}': its model_mapping cannot be read and is not imported`);
  return {};
}

/** One variable per key; an export without keys still implies one. */
function keysOf(entry: Entry, channel: string, notes: Notes): DraftChannel['apiKeys'] {
  const info = entry['channel_info'];
  const size = isEntry(info) ? info['multi_key_size'] : 0;
  const inside =
    typeof entry['key'] === 'string'
      ? entry['key'].split('\n').filter((key) => key.trim() !== '')
      : [];
  const count = Math.max(1, inside.length, typeof size === 'number' ? Math.min(size, 1000) : 0);
  const keys = Array.from({ length: count }, (_, index) =>
    notes.secret(channel, count === 1 ? 'KEY' : `KEY_${index + 1}`),
  );
  const names = keys.map(({ variable }) => variable).join(', ');
  notes.warn(
    inside.length > 0
      ? `channel '${channel}': its API key is in the file; move it to ${names}`
      : `channel '${channel}': its API key is not in the file; put it into ${names}`,
  );
  return keys;
}

function within(value: unknown, minimum: number, fallback: number): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return fallback;
  return Math.min(1_000_000, Math.max(minimum, Math.round(value)));
}

function listOf(value: unknown): string[] {
  if (typeof value !== 'string') return [];
  const parts = value.split(',').map((part) => part.trim());
  return [...new Set(parts.filter(isServedName))];
}

/** What a model with this name is, as far as names show it; null: of no type that can be imported. */
function typeOf(name: string): 'chat' | 'image' | 'embedding' | null {
  if (/dall-e|gpt-image/i.test(name)) return 'image';
  const isOther =
    /whisper|(^|[-_/])tts|rerank|moderation|(^|[-_])mj[-_]|midjourney|suno|stable-diffusion|sora|speech|transcribe|realtime/i;
  if (isOther.test(name)) return null;
  return /embed|bge-/i.test(name) ? 'embedding' : 'chat';
}

/** Settings are text; some are empty in a long form. */
function says(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  const text = typeof value === 'string' ? value.trim() : JSON.stringify(value);
  return !['', '{}', '[]', 'null'].includes(text);
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
