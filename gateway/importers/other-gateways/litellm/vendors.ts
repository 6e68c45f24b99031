import { notYet } from '../vendor-facts.ts';
import { knownServers, vendorFacts, type ProviderName } from '#vendors/index.ts';

export interface Vendor {
  readonly provider: ProviderName;
  /** Null: the provider's own; undefined: there is none, the file has to say. */
  readonly baseUrl?: string | null;
  /** The variable that LiteLLM reads if no key is given; null: none. */
  readonly variable: string | null;
}

/** The prefixes of known servers for which LiteLLM has another name. */
const otherNames: Readonly<Record<string, string>> = {
  fireworks: 'fireworks_ai',
  nvidia: 'nvidia_nim',
  together: 'together_ai',
};

const namedVendors = (['openai', 'anthropic', 'gemini'] as const).map(
  (provider): [prefix: string, vendor: Vendor] => {
    const { environmentKey } = vendorFacts[provider];
    return [provider, { provider, baseUrl: null, variable: environmentKey }];
  },
);

const servers = knownServers.map(
  ({ name, baseUrl, environmentKey }): [prefix: string, vendor: Vendor] => [
    otherNames[name] ?? name,
    { provider: 'openai-compatible', baseUrl, variable: environmentKey },
  ],
);

const anyServer: Vendor = { provider: 'openai-compatible', variable: null };

/** Prefixes of `model` for vendors that need only a key. */
const vendors: Readonly<Record<string, Vendor>> = {
  ...Object.fromEntries([...namedVendors, ...servers]),
  hosted_vllm: anyServer,
  openai_like: anyServer,
  litellm_proxy: anyServer,
  lm_studio: anyServer,
};

/** Prefixes of vendors that are planned, and why their entries are left out. */
export const laterPrefixes: Readonly<Partial<Record<string, string>>> = {
  azure: notYet('azure'),
  azure_ai: notYet('azure'),
  bedrock: notYet('bedrock'),
  bedrock_converse: notYet('bedrock'),
  vertex_ai: notYet('vertex'),
  vertex_ai_beta: notYet('vertex'),
};

/** Names without a prefix whose vendor LiteLLM knows. */
const unprefixedNames: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt-|o\d(-|$)|text-embedding-)/, 'openai'],
  [/^claude-/, 'anthropic'],
];

/** The variables that LiteLLM reads if no key is given. */
export const vendorVariables: readonly string[] = Object.values(vendors).flatMap(
  ({ variable }) => variable ?? [],
);

interface VendorModel {
  readonly vendorName: string;
  readonly vendor: Vendor;
  /** The vendor's name of the model. */
  readonly upstream: string;
}

/** The vendor and model behind a `model`: `groq/llama` is `llama` of groq. Null: a vendor that cannot be imported. */
export function vendorModelOf(model: string): VendorModel | null {
  const prefix = prefixOf(model);
  const isPrefixed = prefix !== null && Object.hasOwn(vendors, prefix);
  const vendorName = isPrefixed
    ? prefix
    : unprefixedNames.find(([pattern]) => pattern.test(model))?.[1];
  const vendor = vendorName === undefined ? undefined : vendors[vendorName];
  if (vendorName === undefined || vendor === undefined) return null;
  return { vendorName, vendor, upstream: isPrefixed ? model.slice(prefix.length + 1) : model };
}

/** The text before the first slash. */
export function prefixOf(model: string): string | null {
  const slash = model.indexOf('/');
  return slash === -1 ? null : model.slice(0, slash);
}
