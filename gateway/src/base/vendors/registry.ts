import { anthropic } from './anthropic/index.ts';
import { ark } from './ark/index.ts';
import { cerebras } from './cerebras/index.ts';
import { dashscope } from './dashscope/index.ts';
import { deepseek } from './deepseek/index.ts';
import { gemini } from './gemini/index.ts';
import { geminiChat } from './gemini-chat/index.ts';
import { groq } from './groq/index.ts';
import { mistral } from './mistral/index.ts';
import { moonshot } from './moonshot/index.ts';
import { openaiCompatible, plainServers, type KnownServer } from './openai-compatible/index.ts';
import { openai } from './openai/index.ts';
import { simulator } from './simulator/index.ts';
import type { HostedVendor, Vendor, VendorFacts } from './vendor.ts';
import { xai } from './xai/index.ts';
import { xiaomi } from './xiaomi/index.ts';

/** By the value of a channel's `provider`, in the order in which an error about it lists them. */
const vendorsByName = {
  openai,
  'openai-compatible': openaiCompatible,
  anthropic,
  gemini,
  dashscope,
  ark,
  simulator,
} satisfies Readonly<Record<string, Vendor | VendorFacts>>;

/** The values of a channel's `provider`. */
export type ProviderName = keyof typeof vendorsByName;

export const providerNames = Object.freeze(Object.keys(vendorsByName) as ProviderName[]);

/** What is known of each vendor that a channel can name. */
export const vendorFacts: Readonly<Record<ProviderName, VendorFacts>> =
  Object.freeze(vendorsByName);

/** Vendors without a `provider` value of their own. */
const hostedVendors: readonly HostedVendor[] = [
  cerebras,
  deepseek,
  geminiChat,
  groq,
  mistral,
  moonshot,
  xai,
  xiaomi,
];

/** Public servers whose channels use `provider: openai-compatible`. */
export const knownServers: readonly KnownServer[] = Object.freeze([
  ...plainServers,
  ...hostedVendors,
]);

/** For tests that apply to all vendors. */
export const everyVendor: readonly (Vendor | VendorFacts)[] = [
  ...Object.values(vendorsByName),
  ...hostedVendors,
];

/** For a stored name. Undefined if this release does not know the vendor. */
export function findFacts(name: string): VendorFacts | undefined {
  return Object.hasOwn(vendorsByName, name) ? vendorFacts[name as ProviderName] : undefined;
}

/** Undefined for vendors that nothing calls yet (video): requests cannot be routed to their channels. */
export function findVendor(name: ProviderName): Vendor | undefined {
  const vendor = findFacts(name);
  return vendor !== undefined && isCalled(vendor) ? vendor : undefined;
}

/** Whether the gateway sends requests to this vendor. */
export function isCalled(vendor: Vendor | VendorFacts): vendor is Vendor {
  return 'paths' in vendor;
}

const byHost: ReadonlyMap<string, HostedVendor> = new Map(
  hostedVendors.flatMap((vendor) =>
    [new URL(vendor.baseUrl).hostname, ...(vendor.alsoAt ?? [])].map(
      (host) => [host, vendor] as const,
    ),
  ),
);

/** The vendor of each channel, forgotten with the snapshot that the channel belongs to. */
const vendorByChannel = new WeakMap<ChannelAddress, Vendor>();

/** The part of a channel that identifies its vendor. */
export interface ChannelAddress {
  readonly provider: ProviderName;
  readonly baseUrl: string;
}

/** Whether two channels lead to one vendor. Those of a vendor that `isManyVendors` do if their hosts are one. */
export function isSameVendor(one: ChannelAddress, other: ChannelAddress): boolean {
  const vendor = vendorOf(one);
  if (vendor !== vendorOf(other)) return false;
  const isMany = vendor?.name === one.provider && vendor.isManyVendors === true;
  return !isMany || hostOf(one) === hostOf(other);
}

/** The vendor that a channel's requests go to. Undefined for vendors that nothing calls yet (video). */
export function vendorOf(channel: ChannelAddress): Vendor | undefined {
  const knownVendor = vendorByChannel.get(channel);
  if (knownVendor !== undefined) return knownVendor;
  const { provider } = channel;
  const own = byHost.get(hostOf(channel));
  const vendor = own?.provider === provider ? own : findVendor(provider);
  if (vendor !== undefined) vendorByChannel.set(channel, vendor);
  return vendor;
}

/** A broken address fails its own attempts, not the choice among all channels. */
function hostOf({ baseUrl }: ChannelAddress): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
}
