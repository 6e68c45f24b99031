export type { Classification, Provider, UpstreamFailure, UpstreamTarget } from './provider.ts';
export { isDear, noSurcharges, type SurchargeFacts } from './surcharges.ts';
export { findProvider } from './registry.ts';
