import { type RawBuilder, sql } from 'kysely';

/**
 * Whether a text contains what is searched for, in capitals or not. Both databases replace a plain text, so nothing in it
 * is a pattern.
 */
export function containing(text: RawBuilder<string>, searched: string): RawBuilder<boolean> {
  return sql<boolean>`replace(lower(${text}), lower(${searched}), '') <> lower(${text})`;
}
