/**
 * What a body takes of memory, in bytes. Transient copies are not counted: bodies are parsed and converted one after the
 * other in each thread. The figures were measured by parsing bodies of one kind each (`body-size.test.ts` repeats that).
 */

/** Of a value in a list or an object: empty lists nested in one another take the most. */
const perValue = 56;
/** Of a member besides its value, with a name that no other object has. */
const perMember = 88;

/** Before a body is parsed: its bytes, as much text in its parsed form, and as much again as it is sent. */
export function expectedSize(bytes: number): number {
  return 3 * bytes;
}

/**
 * Once a body is scanned.
 *
 * @param isAscii else its longest text may have to be kept with two bytes for each character
 */
export function parsedSize(
  bytes: number,
  isAscii: boolean,
  members: number,
  values: number,
): number {
  const text = isAscii ? bytes : 2 * bytes;
  return 2 * bytes + text + members * perMember + values * perValue;
}
