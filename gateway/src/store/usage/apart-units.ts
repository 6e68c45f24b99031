import { apartParts, tokenParts, type ApartTokens } from '#canonical/index.ts';
import type { UnitsRecord } from './record-parts.ts';

/**
 * What was made, with the tokens that are not text. Null: nothing of either.
 * @param made absent: nothing
 * @param tokens absent: none
 */
export function unitsOf(
  made: UnitsRecord | undefined,
  tokens: ApartTokens | undefined,
): UnitsRecord | null {
  let units = made ?? null;
  if (tokens === undefined) return units;
  for (const part of apartParts) {
    const count = tokens[part];
    if (count !== undefined) units = { ...units, [`${tokenParts[part]}_tokens`]: count };
  }
  return units;
}
