import type { KnownLoss } from '#canonical/index.ts';

/** What the clients of one protocol call each thing that can be lost: the member that they would have to change. */
export type FieldNames = Readonly<Record<KnownLoss, string>>;

/**
 * @param otherwise names what is not in the table: a hosted tool (`tools.web_search`), or something that only the
 *   client's own protocol has, which goes by the client's own name already
 */
export function createFieldName(
  names: FieldNames,
  otherwise: (what: string) => string = (what) => what,
): (what: string) => string {
  return (what) => (Object.hasOwn(names, what) ? names[what as KnownLoss] : otherwise(what));
}
