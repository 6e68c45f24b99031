import { isReferenceModel } from '#canonical/index.ts';
import {
  type Declared,
  enoughBits,
  seemingBits,
  type Config,
  type DeclaredModel,
  type DeclaredChannel,
} from '#config/index.ts';
import type { Logger } from '#observability/index.ts';
import { matchesPattern } from '#config/pattern.ts';

type Declarations = Pick<Declared, 'models' | 'keys' | 'teams'>;

/** A line for each valid setting that cannot be meant: it has no effect, or refuses everything. */
export function settingsInVain({ models, keys, teams }: Declarations): string[] {
  const streaming = models.filter(
    ({ capabilities }) =>
      capabilities.includes('streaming') && isReferenceModel(new Set(capabilities)),
  );
  const limitedKeys = [
    ...keys.map(({ name, rpm, rph, maxConcurrency: max_concurrency }) => ({
      what: `key '${name}'`,
      limits: { rpm, rph, max_concurrency },
    })),
    ...teams.map(({ name, rpm }) => ({ what: `team '${name}'`, limits: { rpm } })),
  ];
  return [
    ...models
      .filter(({ imageToolModel = null }) => imageToolModel !== null)
      .map(
        ({ id }) =>
          `model '${id}' has image_tool_model, which has no effect: only upstreams of Responses have the tool image_generation`,
      ),
    ...streaming.map(
      ({ id }) =>
        `model '${id}' declares streaming, but models with layers, and those with multi_reference and without edits, never stream: their requests with stream get 400`,
    ),
    ...limitedKeys.flatMap(({ what, limits }) =>
      Object.entries(limits)
        .filter(([, limit]) => limit === 0)
        .map(
          ([name]) =>
            `${what} has ${name}: 0, so every request is refused; leave it out for no limit`,
        ),
    ),
  ];
}

/** What `oidc.only` leaves, which is easily forgotten. */
export function passwordsOff({ oidc }: Pick<Config, 'oidc'>): string[] {
  return oidc.only
    ? [
        'oidc.only: passwords are off, except for the oldest enabled administrator who has one: the way in if the provider fails',
      ]
    : [];
}

/** Names of declared keys whose secrets look typed. They are valid. */
export function weakKeys({ declared }: Config): string[] {
  return (declared?.keys ?? [])
    .filter(({ secret }) => secret !== null && seemingBits(secret) < enoughBits)
    .map(({ name }) => name);
}

/** Logs it at a start. */
export function logPasswordsOff(config: Config, log: Pick<Logger, 'warn'>): void {
  for (const detail of passwordsOff(config)) {
    log.warn('passwords are off', { component: 'config', detail });
  }
}

/** Logs the names at a start or a reload. */
export function logWeakKeys(config: Config, log: Pick<Logger, 'warn'>): void {
  const names = weakKeys(config);
  if (names.length === 0) return;
  log.warn('secrets of declared keys look guessable (less than 128 random bits)', {
    component: 'config',
    count: names.length,
    detail: names.slice(0, 10).join(', '),
  });
}

/**
 * A line for each model whose provider can search the web but whose price does not include searches: they would be
 * charged 0. Settings missing from an entry come from the bundled one, but a price replaces the bundled price as a
 * whole.
 */
export function unpricedSearches(
  declaredModels: readonly Pick<
    DeclaredModel,
    'id' | 'type' | 'enabled' | 'capabilities' | 'price'
  >[],
  bundledModels: ReadonlyMap<string, readonly string[]>,
): string[] {
  return declaredModels.flatMap(({ id, type, enabled, capabilities, price }) => {
    if (type !== 'chat' || !enabled || price === null || price.fees !== undefined) return [];
    const can = capabilities.length > 0 ? capabilities : bundledModels.get(id);
    if (can?.includes('hosted_tools') !== true) return [];
    return [
      `model '${id}' has no price for web searches (price.fees.web_search): they are charged 0`,
    ];
  });
}

type PricedModel = Pick<DeclaredModel, 'id' | 'type' | 'enabled' | 'capabilities' | 'price'>;
type ServingChannel = Pick<DeclaredChannel, 'provider' | 'protocols' | 'models' | 'enabled'>;

/**
 * A line for each priced model that OpenAI serves in Responses, where it draws with a tool of its own: no price has a
 * part for those tokens, so they are charged 0.
 */
export function unpricedImages(
  models: readonly PricedModel[],
  channels: readonly ServingChannel[],
  bundledModels: ReadonlyMap<string, readonly string[]>,
): string[] {
  const drawing = channels.filter(
    ({ provider, protocols, enabled }) =>
      enabled && provider === 'openai' && protocols.includes('responses'),
  );
  return models.flatMap(({ id, type, enabled, capabilities, price }) => {
    if (type !== 'chat' || !enabled || price === null) return [];
    const can = capabilities.length > 0 ? capabilities : bundledModels.get(id);
    if (can?.includes('hosted_tools') !== true) return [];
    const isServed = drawing.some(({ models: servedModels }) =>
      servedModels.some(({ name }) => matchesPattern(name, id)),
    );
    if (!isServed) return [];
    return [
      `model '${id}' can draw with its provider's tool image_generation, whose tokens no price has: they are charged 0`,
    ];
  });
}
