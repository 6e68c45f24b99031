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
  resetChannel,
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
export { buildSnapshot, type CatalogueProblem } from './build-snapshot.ts';
export { isOnlySimulated } from './only-simulated.ts';
export { isPriced, type PriceVersion } from './prices.ts';
export {
  appendPriceVersions,
  listPriceVersions,
  readPriceVersion,
} from './price-versions.repository.ts';
export { findUsableModel, servedNames, resolveModel } from './model-names.ts';
export type * from './snapshot.ts';
