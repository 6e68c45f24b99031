import type { Extension, GenerationRequest } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../../values.ts';

/**
 * Clients from before `tools` declare `functions`, and read a `function_call` in the place of `tool_calls`: one, without
 * an id. What of the answer they could not see they could not act on.
 */
export const legacyCalls = 'functions';

/** Does the request declare its functions in the old way? */
export function declaresLegacy(json: JsonRecord): boolean {
  const { tools, functions } = json;
  return isAbsent(tools) && Array.isArray(functions) && functions.length > 0;
}

/** Keeps it for the answer. */
export function legacyExtension(json: JsonRecord): Extension[] {
  if (!declaresLegacy(json)) return [];
  return [{ protocol: 'chat', name: legacyCalls, value: true, ifForeign: 'ignore' }];
}

export function wantsFunctionCall({ extensions }: Pick<GenerationRequest, 'extensions'>): boolean {
  return extensions.some(isLegacyMark);
}

/** What `legacyExtension` makes. */
export function isLegacyMark({ protocol, name }: Extension): boolean {
  return protocol === 'chat' && name === legacyCalls;
}
