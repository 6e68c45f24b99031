import { z } from 'zod';
import { protocolNames } from '#canonical/index.ts';
import { providerNames, vendorFacts, type ProviderName } from '#vendors/index.ts';
import { dictionary, distinctList, list, mapping } from '../collection.ts';
import { cacheRules, stateRules, type DeclaredChannel } from '../config.ts';
import {
  flag,
  integer,
  isName,
  leaf,
  type LeafOptions,
  name,
  oneOf,
  string,
  WrongBecause,
} from '../leaf.ts';
import { expectedProxy, normaliseBaseUrl, parseHttpUrl, parseProxyUrl } from '../network.ts';
import { hasFewStars } from '../pattern.ts';
import { Scalar } from '../scalar.ts';
import { channelTimeouts } from './settings.ts';

const servedModelName = string('a model name', isName);

/** A plain name, or a mapping if the upstream uses another name for the model. */
const servedModel = z.preprocess(
  (input) => (input instanceof Scalar ? { name: input } : input),
  mapping({ name: servedModelName, upstream: string('a model name', isName, { fallback: null }) }),
);

/** Its strength is the vendor's concern: local upstreams take any text. */
const isApiKey = (text: string) => /^[\x21-\x7e]{1,4096}$/.test(text);

/** How other programs refer to a variable; no vendor's key looks like this. */
const foreignVariable = /^(\$[A-Za-z_]\w*|%\w+%|os\.environ\/\w+|env[:.]\w+|\$?\{\{.*\}\}?)$/;

const apiKey = <const Options extends LeafOptions>(options: Options) =>
  leaf(
    'an API key',
    ({ value }) => {
      if (typeof value !== 'string' || !isApiKey(value)) return undefined;
      return foreignVariable.test(value)
        ? new WrongBecause(
            'an API key, or ${NAME} for that of a variable',
            'the name of a variable',
          )
        : value;
    },
    options,
  );

const baseUrl = leaf(
  'a URL such as https://api.example.com/v1',
  ({ value }) => (typeof value === 'string' ? (parseHttpUrl(value) ?? undefined) : undefined),
  { fallback: null },
);

/** It may hold credentials. */
const proxy = leaf(
  `direct, or ${expectedProxy}`,
  ({ value }) => {
    if (value === 'direct') return value;
    return typeof value === 'string' ? (parseProxyUrl(value) ?? undefined) : undefined;
  },
  { fallback: null, secret: true },
);

const headerValue = string('a header value', (text) => /^[\t\x20-\x7e\u0080-\u00ff]+$/.test(text), {
  secret: true,
});

const shape = mapping({
  name: name('a channel name'),
  provider: oneOf(providerNames),
  base_url: baseUrl,
  api_key: apiKey({ fallback: null, secret: true }),
  api_keys: list(apiKey({ secret: true }), () => []),
  protocols: distinctList(oneOf(protocolNames), () => []),
  groups: distinctList(string('a group name', isName), () => ['default']),
  models: list(servedModel),
  priority: integer(-1_000_000, 1_000_000, { fallback: 0 }),
  weight: integer(0, 1_000_000, { fallback: 1 }),
  user_agents: distinctList(string('a pattern such as claude-cli/*', isGlob), () => []),
  headers: dictionary(headerValue),
  timeouts: channelTimeouts,
  proxy,
  bills_after_cancel: flag({ fallback: false }),
  cache: oneOf(cacheRules, { fallback: 'auto' }),
  state: oneOf(stateRules, { fallback: 'guarded' }),
  shared_state: distinctList(string('an id or a pattern such as file-*', isIdPattern), () => []),
  enabled: flag({ fallback: true }),
});

export const channel = shape.transform(
  ({ baseUrl: url, apiKey: single, ...rest }): DeclaredChannel => ({
    ...rest,
    baseUrl: baseUrlOf(url, rest.provider),
    apiKeys: single === null ? rest.apiKeys : [single],
    protocols: rest.protocols.length > 0 ? rest.protocols : vendorFacts[rest.provider].protocols,
    models: rest.models.map(({ name: id, upstream }) => ({ name: id, upstream: upstream ?? id })),
  }),
);

function baseUrlOf(url: URL | null, provider: ProviderName): string | null {
  return url === null ? vendorFacts[provider].baseUrl : normaliseBaseUrl(url, provider);
}

/**
 * `*` is any text, `?` one character, everything else is literal. The number of stars is bounded: each one costs time.
 */
function isGlob(text: string): boolean {
  return /^[\x20-\x7e]{1,200}$/.test(text) && hasFewStars(text);
}

/** `*` is any text, everything else is literal: ids may contain a `?`. */
function isIdPattern(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text) && hasFewStars(text);
}

/** Headers that control the connection, or that carry the channel's credential. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(text);
}
