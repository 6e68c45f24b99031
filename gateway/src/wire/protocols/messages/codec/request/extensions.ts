import type { Extensions } from '#canonical/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { type ForeignHandlings, type WireObject, otherMembers } from '../../wire.ts';
import { isRecord, type JsonRecord, optionalText } from '../../../shared/values.ts';

/**
 * Restores this protocol's extensions as members of the wire object, and reports those of other protocols.
 * @throws Unconvertible for a foreign one that the response depends on.
 */
export function applyExtensions(
  target: WireObject,
  extensions: Extensions | undefined,
  losses: Losses,
): void {
  for (const { protocol, name, value, ifForeign } of extensions ?? []) {
    if (protocol === 'messages') {
      if (!ownHandled.has(name)) target[name] = value;
    } else losses.ofClient(name, ifForeign);
  }
}

/** Extensions that encoders look up themselves. They are not members of the wire object. */
const ownHandled: ReadonlySet<string> = new Set([
  'system.attribution',
  'search_result',
  'thinking',
  'temperature',
]);

interface Base {
  cache?: { readonly ttl: string | null };
  extensions?: Extensions;
}

/** Members whose loss a caller cannot notice in the response. */
const harmless = {
  caller: 'ignore',
  eager_input_streaming: 'ignore',
  toolset_name: 'ignore',
} as const;

/** Text may repeat its sources, which only this protocol accepts. */
export const harmlessInText = { ...harmless, citations: 'ignore' } as const;

/** The cache marker and this protocol's own members, which any block and tool may carry. */
export function decodeBase(
  value: JsonRecord,
  knownMembers: ReadonlySet<string>,
  handlings: ForeignHandlings = harmless,
): Base {
  const base: Base = decodeCache(value);
  const extensions = otherMembers(value, knownMembers, handlings);
  if (extensions.length > 0) base.extensions = extensions;
  return base;
}

export function decodeCache(value: JsonRecord): Base {
  const marker = value['cache_control'];
  return isRecord(marker) ? { cache: { ttl: optionalText(marker['ttl']) } } : {};
}
