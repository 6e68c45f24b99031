import type { Extension } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../shared/values.ts';
import { invalid } from '../shared/text/request-values.ts';

/** An object of this protocol under construction. */
export type WireObject = Record<string, unknown>;

/** The place of a value in the client's request, and its speaker. */
export interface Place {
  readonly param: string;
  readonly role: 'user' | 'assistant' | 'result';
}

/** @throws GatewayError `invalid_value`. */
export function requireName(value: unknown, param: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(param, 'must be a non-empty string');
}

export function ownExtension(
  name: string,
  value: unknown,
  ifForeign: Extension['ifForeign'],
): Extension {
  return { protocol: 'messages', name, value, ifForeign };
}

export type ForeignHandlings = Readonly<Record<string, Extension['ifForeign']>>;

/**
 * All members without a place in the canonical model, except empty ones (null, an empty list). A member that is not in
 * `handlings` counts as significant.
 */
export function otherMembers(
  value: JsonRecord,
  knownMembers: ReadonlySet<string>,
  handlings: ForeignHandlings,
): Extension[] {
  const extensions: Extension[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (knownMembers.has(name) || isAbsent(member)) continue;
    if (Array.isArray(member) && member.length === 0) continue;
    const handling = Object.hasOwn(handlings, name) ? handlings[name] : undefined;
    extensions.push(ownExtension(name, member, handling ?? 'drop'));
  }
  return extensions;
}
