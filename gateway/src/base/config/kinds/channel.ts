import { z } from 'zod';
import { protocolNames } from '#canonical/index.ts';
import { providerNames, vendorFacts, type ProviderName } from '#vendors/index.ts';
import { dictionary, distinctList, list, mapping, snakeCase } from '../collection.ts';
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
import { channelTimeouts, type Settings, timeoutNames } from '../settings.ts';
import { formatDuration } from '../units.ts';
import {
  choice,
  count,
  defineKind,
  groups,
  member,
  names,
  structure,
  text,
  yesOrNo,
} from './kind.ts';

/** `auto`: the gateway places the marks of prompt caches in converted requests where reading them is cheaper. */
export const cacheRules = ['auto', 'off'] as const;
export type CacheRule = (typeof cacheRules)[number];

/** `guarded`: no id of another owner. `owned`: also no id that this gateway never gave out. `any`: unchecked. */
export const stateRules = ['guarded', 'owned', 'any'] as const;
export type StateRule = (typeof stateRules)[number];

type Timeouts = Settings['timeouts'];

/** A model a channel serves: the name clients use, and the upstream's own name for it. */
export interface ServedModel {
  readonly name: string;
  readonly upstream: string;
}

const servedModelName = string('a model name', isName);

/** A plain name, or a mapping if the upstream uses another name for the model. */
const servedModel = z.preprocess(
  (input) => (input instanceof Scalar ? { name: input } : input),
  mapping({ name: servedModelName, upstream: string('a model name', isName, { fallback: null }) }),
);

/** Its strength is the vendor's concern: local upstreams take any text. */
const isApiKey = (text: string) => /^[\x21-\x7e]{1,4096}$/.test(text);

/** How other programs refer to a variable; no vendor's key looks like this. */
const foreignVariable = /^(\$[A-Za-z_]\w*|%\w+%|os\.environ\/\w+|env[:.]\w+|\$?\{.*\})$/;

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

const members = {
  name: member(text(name('a channel name')), { identity: true }),
  provider: member(choice(providerNames), {
    doc: 'see the table of providers below',
  }),
  base_url: member(text(baseUrl), {
    usual: 'per provider',
    doc: 'required for `openai-compatible`',
  }),
  api_key: member(text(apiKey({ fallback: null, secret: true })), {
    insteadOf: 'api_keys',
    doc: 'the credential of the upstream, or `api_keys`',
  }),
  api_keys: member(names(list(apiKey({ secret: true }), () => [])), {
    stored: 'sealed',
    doc: 'several are used in turn',
  }),
  protocols: member(names(distinctList(oneOf(protocolNames), () => [])), {
    stored: 'settings',
    choices: protocolNames,
    usual: 'per provider',
    doc: 'the protocols that this upstream speaks; clients of other protocols use the first text protocol ([conversion](conversion.md))',
  }),
  groups: member(groups(), { stored: 'settings', refersTo: 'group', alwaysWritten: true }),
  models: member(
    structure(list(servedModel), {
      write: (models: readonly ServedModel[]) =>
        models.map(({ name: id, upstream }) => (id === upstream ? id : { name: id, upstream })),
    }),
    {
      stored: 'settings',
      doc: "model names for clients; `{ name, upstream }` if the upstream's name differs; [patterns](#patterns) such as `'claude-*'`",
    },
  ),
  priority: member(count(integer(-1_000_000, 1_000_000, { fallback: 0 })), {
    alwaysWritten: true,
    doc: 'higher is tried first',
  }),
  weight: member(count(integer(0, 1_000_000, { fallback: 1 })), {
    alwaysWritten: true,
    doc: 'share among channels of equal priority',
  }),
  user_agents: member(
    names(distinctList(string('a pattern such as claude-cli/*', isGlob), () => [])),
    {
      stored: 'settings',
      doc: 'patterns such as `claude-cli/*`, with `*` for any text and `?` for one character; empty: any client. Use this for routing, not for security: a client can send any `User-Agent`',
    },
  ),
  headers: member(structure(dictionary(headerValue)), {
    stored: 'sealed',
    doc: 'added to upstream requests',
  }),
  timeouts: member(
    structure(channelTimeouts, {
      write: (timeouts: Partial<Timeouts>) =>
        Object.fromEntries(
          Object.entries(timeouts).map(([part, milliseconds]) => [
            snakeCase(part),
            formatDuration(milliseconds),
          ]),
        ),
      compare: (timeouts: Partial<Timeouts>) => timeouts,
    }),
    { stored: 'settings', choices: timeoutNames, doc: 'overrides' },
  ),
  proxy: member(text(proxy), {
    stored: 'sealed',
    sparse: true,
    usual: "the environment's",
    doc: 'the URL of the proxy for this channel, or `direct` ([more](#proxies))',
  }),
  bills_after_cancel: member(yesOrNo(flag({ fallback: false })), {
    stored: 'settings',
    doc: 'the upstream bills the whole response even if it is cancelled. If a client disconnects, the gateway drains the response for up to a minute, and the client pays for it',
  }),
  cache: member(choice(cacheRules, { fallback: 'auto' }), {
    stored: 'settings',
    doc: "whether the gateway places the [marks of prompt caches](conversion.md#prompt-caches) in requests that it converts for a messages upstream: `auto`, where the model's price has a `cache_read` below `input`; or `off`",
  }),
  state: member(choice(stateRules, { fallback: 'guarded' }), {
    stored: 'settings',
    doc: "which ids of [upstream state](upstream-state.md) a request may name. `guarded`: all but another owner's; `owned`: only the caller's own and those in `shared_state`; `any`: all",
  }),
  shared_state: member(
    names(distinctList(string('an id or a pattern such as file-*', isIdPattern), () => [])),
    {
      stored: 'settings',
      doc: 'ids, or patterns of ids, that every key may name: `vs_handbook`, `file-*` (`*` stands for any text)',
    },
  ),
  enabled: member(yesOrNo(flag({ fallback: true }))),
};

export const channel = defineKind(
  'channel',
  members,
  ({ baseUrl: url, apiKey: single, ...rest }) => ({
    ...rest,
    /** Null for a simulator channel that runs as a child process. */
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
