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
export type { TaskCall, TaskList, TaskSide, TaskSides } from './vendor.ts';
export { isDear, joined, noSurcharges, type SurchargeFacts } from './surcharges.ts';
export type { Effort, UpstreamTraits } from './traits.ts';
export { signerOf, type Signer } from './signing.ts';
export { pathOf, quirksFor, traitsFor } from './vendor.ts';
export type {
  Classification,
  UpstreamFailure,
  UpstreamTarget,
  Vendor,
  VendorFacts,
} from './vendor.ts';
