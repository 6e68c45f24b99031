import {
  imageProtocolNames,
  textProtocolNames,
  videoProtocolNames,
  type ProtocolName,
} from '#canonical/index.ts';
import type { DeclaredChannel, ModelType } from '#config/index.ts';
import { isPattern, matchesPattern } from '#config/pattern.ts';
import { bundledModelsOf } from './bundled.ts';

type Served = DeclaredChannel['models'][number];

/** What a pattern chooses from. */
export interface PatternModel {
  readonly id: string;
  readonly type: ModelType;
  readonly enabled: boolean;
}

/** The protocols in which upstreams serve a type. */
const protocolsOf: Readonly<Record<ModelType, ReadonlySet<ProtocolName>>> = {
  chat: new Set(textProtocolNames),
  image: new Set(imageProtocolNames),
  embedding: new Set<ProtocolName>(['embeddings']),
  video: new Set(videoProtocolNames),
};

const demo: ReadonlySet<string> = new Set(bundledModelsOf('simulator').map(({ id }) => id));

/** The enabled models of the catalogue that one pattern of a channel brings, in the catalogue's order. */
export function modelsOfPattern(
  pattern: string,
  { provider, protocols }: Pick<DeclaredChannel, 'provider' | 'protocols'>,
  catalogue: Iterable<PatternModel>,
): string[] {
  const matchingIds: string[] = [];
  for (const { id, type, enabled } of catalogue) {
    const isServed = enabled && protocols.some((protocol) => protocolsOf[type].has(protocol));
    // No vendor has the models of the demo.
    const isForeign = provider !== 'simulator' && demo.has(id);
    if (isServed && !isForeign && matchesPattern(pattern, id)) matchingIds.push(id);
  }
  return matchingIds;
}

/**
 * What a channel serves, by exact names: each pattern becomes the models of the catalogue that it matches, under their own
 * names. An exact name of the channel wins over its patterns.
 */
export function expandPatterns(
  channel: Pick<DeclaredChannel, 'provider' | 'protocols' | 'models'>,
  catalogue: Iterable<PatternModel>,
): readonly Served[] {
  const { models } = channel;
  if (!models.some(({ name }) => isPattern(name))) return models;
  const servedModels = new Map<string, Served>();
  for (const model of models) if (!isPattern(model.name)) servedModels.set(model.name, model);
  for (const { name: pattern } of models.filter(({ name }) => isPattern(name))) {
    for (const id of modelsOfPattern(pattern, channel, catalogue)) {
      if (!servedModels.has(id)) servedModels.set(id, { name: id, upstream: id });
    }
  }
  return [...servedModels.values()];
}
