const memberLimit = 1_000;
const memberLength = 100;

/** The members of a body that an error may name: a bounded number of short names. */
export function memberNames(json: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(json)
    .filter(({ length }) => length <= memberLength)
    .slice(0, memberLimit);
}
