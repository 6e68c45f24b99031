import type { KnownLoss } from '#canonical/index.ts';

/** The name of each possible loss for clients of one protocol: the member that they would have to change. */
export type FieldNames = Readonly<Record<KnownLoss, string>>;

/**
 * @param otherwise names losses outside the table: a hosted tool (`tools.web_search`), or a member that only the
 *   client's own protocol has and that already goes by the client's name
 */
export function createFieldName(
  names: FieldNames,
  otherwise: (what: string) => string = (what) => what,
): (what: string) => string {
  return (what) => (Object.hasOwn(names, what) ? names[what as KnownLoss] : otherwise(what));
}
