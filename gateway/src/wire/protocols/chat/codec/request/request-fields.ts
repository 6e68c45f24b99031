import type { Extension } from '#canonical/index.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../../shared/values.ts';
import { invalid } from '../../../shared/text/request-values.ts';

/** Readers of request members, whose errors name the wrong member. */

/** @throws GatewayError `invalid_value`. */
export function readBoolean(json: JsonRecord, key: string): boolean | null {
  const value = json[key];
  if (isAbsent(value)) return null;
  if (typeof value === 'boolean') return value;
  throw invalid(key, 'must be a boolean');
}

/** An object's unknown members, as extensions. Null members have no meaning and are ignored. */
export function leftovers(
  object: JsonRecord,
  knownMembers: ReadonlySet<string>,
  ifForeign: Extension['ifForeign'] = 'drop',
): Extension[] {
  const rest: Extension[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (knownMembers.has(name) || isAbsent(value)) continue;
    rest.push({ protocol: 'chat', name, value, ifForeign });
  }
  return rest;
}

/** A cache marker, in OpenAI's form or in that of routers to other vendors. */
export function readCache(object: JsonRecord): { cache?: { ttl: string | null } } {
  if (isRecord(object['prompt_cache_breakpoint'])) return { cache: { ttl: null } };
  const control = object['cache_control'];
  if (!isRecord(control)) return {};
  const ttl = control['ttl'];
  return { cache: { ttl: typeof ttl === 'string' ? ttl : null } };
}
