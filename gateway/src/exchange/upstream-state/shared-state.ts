import { matchesPattern } from '#config/pattern.ts';

/** Whether everybody may name this id. `*` in a pattern is any text. Linear in the id. */
export function isShared(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, id));
}
