import type { Extension, Extensions } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import {
  isAbsent,
  isRecord,
  isWritable,
  type JsonRecord,
  writableRule,
} from '../../../shared/values.ts';

/** Readers of request members, whose errors name the wrong member. */

/** A 400 about one member of the request. `rule` completes a sentence that starts with the member's name. */
export function invalid(param: string, rule: string): GatewayError {
  return new GatewayError('invalid_value', { values: { reason: `${param} ${rule}` }, param });
}

/** @throws GatewayError `invalid_value`. */
export function readNumber(json: JsonRecord, key: string): number | null {
  const value = json[key];
  if (isAbsent(value)) return null;
  if (isWritable(value)) return value;
  throw invalid(key, writableRule);
}

/** @throws GatewayError `invalid_value`. */
export function readString(json: JsonRecord, key: string, param = key): string | null {
  const value = json[key];
  if (isAbsent(value)) return null;
  if (typeof value === 'string') return value;
  throw invalid(param, 'must be a string');
}

/** @throws GatewayError `invalid_value`. */
export function readBoolean(json: JsonRecord, key: string): boolean | null {
  const value = json[key];
  if (isAbsent(value)) return null;
  if (typeof value === 'boolean') return value;
  throw invalid(key, 'must be a boolean');
}

/** @throws GatewayError `invalid_value`. */
export function requireRecord(value: unknown, param: string): JsonRecord {
  if (isRecord(value)) return value;
  throw invalid(param, 'must be an object');
}

/** Empty when absent. @throws GatewayError `invalid_value`. */
export function readArray(value: unknown, param: string): readonly unknown[] {
  if (isAbsent(value)) return [];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw invalid(param, 'must be an array');
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

/** `{extensions}` for spreading into a block; empty if there are none, so that equal blocks compare equal. */
export function withExtensions(extensions: Extensions): { extensions?: Extensions } {
  return extensions.length === 0 ? {} : { extensions };
}

/** A cache marker, in OpenAI's form or in that of routers to other vendors. */
export function readCache(object: JsonRecord): { cache?: { ttl: string | null } } {
  if (isRecord(object['prompt_cache_breakpoint'])) return { cache: { ttl: null } };
  const control = object['cache_control'];
  if (!isRecord(control)) return {};
  const ttl = control['ttl'];
  return { cache: { ttl: typeof ttl === 'string' ? ttl : null } };
}
