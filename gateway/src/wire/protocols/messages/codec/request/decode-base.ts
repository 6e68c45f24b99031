import type { Extension, Extensions } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../values.ts';
import { optionalText, otherMembers } from '../../wire.ts';

interface Base {
  cache?: { readonly ttl: string | null };
  extensions?: Extensions;
}

/** Members whose absence elsewhere changes nothing that a caller could notice in the answer. */
const harmless = {
  caller: 'ignore',
  eager_input_streaming: 'ignore',
  toolset_name: 'ignore',
} as const;

/** Text may repeat what it rests on; nobody but this protocol can take that back. */
export const harmlessInText = { ...harmless, citations: 'ignore' } as const;

type Fates = Readonly<Record<string, Extension['ifForeign']>>;

/** What any block and tool may carry: the cache marker, and the members that only this protocol understands. */
export function decodeBase(
  value: JsonRecord,
  known: ReadonlySet<string>,
  fates: Fates = harmless,
): Base {
  const base: Base = decodeCache(value);
  const extensions = otherMembers(value, known, fates);
  if (extensions.length > 0) base.extensions = extensions;
  return base;
}

export function decodeCache(value: JsonRecord): Base {
  const marker = value['cache_control'];
  return isRecord(marker) ? { cache: { ttl: optionalText(marker['ttl']) } } : {};
}
