import { findVendor, traitsFor, type ProviderName, type UpstreamTraits } from '#vendors/index.ts';

/** What a model takes at a vendor that a channel names so. */
export function traitsOf(provider: ProviderName, model: string): UpstreamTraits {
  const vendor = findVendor(provider);
  return traitsFor(vendor, model, vendor?.baseUrl ?? '');
}
