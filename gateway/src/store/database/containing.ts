import { type RawBuilder, sql } from 'kysely';

/** Whether a text contains what is searched for, in capitals or not. `%` and `_` in it mean themselves. */
export function containing(text: RawBuilder<string>, searched: string): RawBuilder<boolean> {
  const pattern = `%${searched.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<boolean>`lower(${text}) like lower(${pattern}) escape '\\'`;
}
