import type { ProtocolName } from '#canonical/index.ts';
import type { ProviderName } from '#config/index.ts';
import { vendorFacts } from '#vendors/index.ts';

/** Whether a channel of this provider can serve models of this type. */
export function speaks(provider: ProviderName, type: 'chat' | 'image' | 'embedding'): boolean {
  if (type === 'chat') return true;
  const { protocols, alsoSpeaks = [] } = vendorFacts[provider];
  const protocol = type === 'image' ? 'images' : 'embeddings';
  return protocols.includes(protocol) || alsoSpeaks.includes(protocol);
}

/** The protocols of a channel that serves images; null: the provider's own have them. */
export function imageProtocols(provider: ProviderName): readonly ProtocolName[] | null {
  const { protocols } = vendorFacts[provider];
  return protocols.includes('images') ? null : [...protocols, 'images'];
}

const laterVendors = {
  azure:
    'Azure is planned and not supported yet; a resource with the v1 API works as provider openai-compatible with ' +
    'base_url https://RESOURCE.openai.azure.com/openai/v1',
  bedrock: keptBehind('Bedrock'),
  vertex: keptBehind('Vertex AI'),
};

function keptBehind(vendor: string): string {
  return (
    `${vendor} is planned and not supported yet; until then keep the other gateway for it, ` +
    'as a channel of openai-compatible at its address'
  );
}

/** Why entries of a vendor are left out that the gateway does not have yet, and what to do until then. */
export function notYet(vendor: keyof typeof laterVendors): string {
  return laterVendors[vendor];
}
