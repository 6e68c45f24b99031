export { classifyFailure } from './classify.ts';
export { parseWithIds } from './task-values.ts';
export type { Cure } from './cures.ts';
export type { Quirk, QuirksOfRequest, VendorRepair } from './quirks.ts';
export {
  type ChannelAddress,
  findFacts,
  findVendor,
  isSameVendor,
  knownServers,
  type ProviderName,
  providerNames,
  vendorFacts,
  vendorOf,
} from './registry.ts';
export {
  type TaskCall,
  type TaskList,
  type TaskSide,
  type TaskSides,
  isDear,
  joinedSurcharges,
  noSurcharges,
  type SurchargeFacts,
  pathOf,
  quirksFor,
  traitsFor,
  type Classification,
  type UpstreamFailure,
  type UpstreamTarget,
  type Vendor,
  type VendorFacts,
} from './vendor.ts';
export type { Effort, UpstreamTraits } from './traits.ts';
export { cleanWords, wordsOf } from './words.ts';
export type { ModelList } from './model-lists.ts';
export { signerOf, type Signer } from './signing.ts';
