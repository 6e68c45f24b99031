import type { Extension, GenerationRequest } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../../shared/values.ts';

/**
 * Clients older than `tools` declare `functions`, and read one `function_call` without an id in place of `tool_calls`.
 * They could not act on more calls than they can read.
 */
export const legacyCalls = 'functions';

/** Whether the request declares its functions in the legacy form. */
export function declaresLegacy(json: JsonRecord): boolean {
  const { tools, functions } = json;
  return isAbsent(tools) && Array.isArray(functions) && functions.length > 0;
}

/** Marks the request, for its response. */
export function legacyExtension(json: JsonRecord): Extension[] {
  if (!declaresLegacy(json)) return [];
  return [{ protocol: 'chat', name: legacyCalls, value: true, ifForeign: 'ignore' }];
}

export function wantsFunctionCall({ extensions }: Pick<GenerationRequest, 'extensions'>): boolean {
  return extensions.some(isLegacyMark);
}

/** Whether `legacyExtension` made it. */
export function isLegacyMark({ protocol, name }: Extension): boolean {
  return protocol === 'chat' && name === legacyCalls;
}
