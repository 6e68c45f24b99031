export { bundledAliases, bundledModels, bundledModelsOf, type BundledModel } from './bundled.ts';
export {
  disableAlias,
  disableChannel,
  disableGroup,
  disableModel,
  listAliases,
  listChannels,
  listGroups,
  listModels,
  upsertAlias,
  upsertChannel,
  upsertGroup,
  upsertModel,
  type StoredAlias,
  type StoredChannel,
  type StoredGroup,
  type StoredModel,
} from './catalogue.repository.ts';
export {
  createCatalogueStore,
  type CatalogueStore,
  type CatalogueStoreOptions,
} from './catalogue-store.ts';
export type { CatalogueProblem } from './build-snapshot.ts';
export { isPriced } from './is-priced.ts';
export type { PriceVersion } from './price-version.ts';
export {
  appendPriceVersions,
  listPriceVersions,
  readPriceVersion,
} from './price-versions.repository.ts';
export { servedNames } from './served-names.ts';
export { resolveModel } from './resolve-model.ts';
export type * from './snapshot.ts';
