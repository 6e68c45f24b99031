import type { ExactMapping } from '../../price-lists/index.ts';
import { isHeaderName, reservedHeaders, type ProviderName } from '#config/index.ts';
import type { Placeholder } from '#declaration/index.ts';
import { hasPath, plainUrl, providerAt } from '../address.ts';
import { isServedName } from '../names.ts';
import type { Notes } from '../notes.ts';
import { speaks } from '../vendor-facts.ts';
import { modelSettings } from './models.ts';
import { patternOf, type ServedPattern } from './patterns.ts';
import { environmentName, mappingAt, numberOf, textOf } from './values.ts';
import { laterPrefixes, prefixOf, vendorModelOf, type Vendor } from './vendors.ts';

/** One upstream of a model, an entry of `model_list`. */
export interface Deployment {
  /** The name that clients use. */
  readonly name: string;
  readonly upstream: string;
  /** Of a name with a star: what the channel serves instead. Absent: the name has none. */
  readonly pattern?: ServedPattern;
  /** `image`: the channel serves the images protocol. */
  readonly isImage: boolean;
  /** The default name of its channel. */
  readonly channelName: string;
  readonly provider: ProviderName;
  readonly baseUrl: string | Placeholder | null;
  readonly key: KeySource | null;
  readonly headers: ExactMapping;
  readonly order: number | null;
  readonly weight: number | null;
  readonly rpm: number | null;
}

/** The text is compared, and never shown or written. */
export type KeySource = { readonly variable: string } | { readonly text: string };

/** Members of a deployment that are understood; any other one that is set is reported. */
const understoodMembers = new Set(
  'model api_base base_url api_key order weight rpm organization extra_headers'.split(' '),
);

const servedModes: ReadonlyMap<string, 'chat' | 'embedding' | 'image'> = new Map([
  ['chat', 'chat'],
  ['completion', 'chat'],
  ['responses', 'chat'],
  ['embedding', 'embedding'],
  ['image_generation', 'image'],
]);

/** An entry of `model_list`; null if it cannot be imported, which is noted. */
export function readDeployment(
  entry: ExactMapping,
  index: number,
  notes: Notes,
): Deployment | null {
  const name = textOf(entry['model_name']) ?? '';
  const params = mappingAt(entry, 'litellm_params');
  const model = textOf(params['model']) ?? '';
  const label = isServedName(name) ? name : `model_list[${index}]`;
  const leaveOut = (reason: string): null => {
    notes.warn(`model '${label}' is left out: ${reason}`);
    return null;
  };
  if (name === '' || model === '') {
    return leaveOut('it has no model_name or no litellm_params.model');
  }
  if (!isServedName(name) || !isServedName(model)) return leaveOut('its name is not valid here');
  const mode = textOf(mappingAt(entry, 'model_info')['mode']) ?? 'chat';
  const type = servedModes.get(mode);
  if (type === undefined) return leaveOut(`models of mode ${mode} are not served`);
  const vendorModel = vendorModelOf(model);
  if (vendorModel === null) {
    const prefix = prefixOf(model);
    const reason = prefix === null ? undefined : laterPrefixes[prefix];
    if (reason !== undefined) return leaveOut(reason);
    const namedVendor = prefix === null ? 'its vendor' : `'${prefix}'`;
    return leaveOut(`${namedVendor} is not a vendor that can be imported`);
  }
  const { vendorName, vendor, upstream } = vendorModel;
  if (!speaks(vendor.provider, type)) {
    return leaveOut(`models of mode ${mode} are not served by '${vendorName}'`);
  }
  const address = readAddress(params['api_base'] ?? params['base_url'], label, notes);
  if (address === undefined) return leaveOut('its api_base is not an http address');
  if (address === null && vendor.baseUrl === undefined) return leaveOut('it has no api_base');
  const provider = providerAt(vendor.provider, address);
  const isPattern = name.includes('*') || model.includes('*');
  const pattern = isPattern ? patternOf(name, upstream, provider) : null;
  if (isPattern && pattern === null) {
    return leaveOut(
      'its pattern matches no model of the bundled catalogue; list the models that are used',
    );
  }
  for (const [setting, value] of Object.entries(params)) {
    const isCarried = understoodMembers.has(setting) || modelSettings.includes(setting);
    if (!isCarried && value !== null) notes.leftOut(`litellm_params.${setting}`, label);
  }
  // A server at an address from the file is named after the address.
  const isOwn = provider !== vendor.provider || vendor.baseUrl === undefined;
  return {
    name,
    upstream,
    ...(pattern !== null && { pattern }),
    isImage: type === 'image',
    channelName: isOwn && typeof address === 'string' ? new URL(address).hostname : vendorName,
    provider,
    baseUrl: address ?? vendor.baseUrl ?? null,
    key: keyOf(params['api_key'], vendor),
    headers: headersOf(params, label, notes),
    order: numberOf(params['order']),
    weight: numberOf(params['weight']),
    rpm: numberOf(params['rpm']),
  };
}

function headersOf(params: ExactMapping, label: string, notes: Notes): ExactMapping {
  const extraHeaders = mappingAt(params, 'extra_headers');
  const headers = Object.entries(extraHeaders).filter(([header]) => {
    const isTaken = isHeaderName(header) && !reservedHeaders.has(header.toLowerCase());
    if (!isTaken) notes.leftOut('a header of litellm_params.extra_headers', label);
    return isTaken;
  });
  const organization = textOf(params['organization']) ?? '';
  if (organization !== '') headers.push(['OpenAI-Organization', organization]);
  return Object.fromEntries(headers);
}

/** Null: none is given; undefined: the given text is not an address. */
function readAddress(
  given: unknown,
  label: string,
  notes: Notes,
): string | Placeholder | null | undefined {
  const text = textOf(given) ?? '';
  if (text === '') return null;
  const variable = environmentName(text);
  if (variable !== null) return notes.variable(variable);
  const plain = plainUrl(text);
  if (plain === null) return undefined;
  if (plain.isShortened) {
    notes.warn(`model '${label}': its api_base is imported without credentials and query`);
  }
  // Some files have the whole address of the endpoint.
  const url = plain.url.replace(/\/(chat\/completions|v1\/messages|responses|embeddings)$/, '');
  if (!hasPath(url))
    notes.warn(`model '${label}': its api_base has no path and gets its provider's, as /v1`);
  return url;
}

function keyOf(apiKey: unknown, { variable }: Vendor): KeySource | null {
  const text = textOf(apiKey) ?? '';
  if (text === '') return variable === null ? null : { variable };
  const variableName = environmentName(text);
  return variableName === null ? { text } : { variable: variableName };
}
