/**
 * The memory that a body takes, in bytes. Transient copies are not counted, because each thread parses and converts
 * bodies one after the other. The figures come from parsing bodies of one kind each (`body-size.test.ts` repeats the
 * measurement).
 */

/** A value in a list or an object; nested empty lists take the most. */
const perValue = 56;
/** A member besides its value, if no other object has the same name. */
const perMember = 88;

/** Before parsing: the bytes, as much text in the parsed form, and as much again as it is sent. */
export function expectedSize(bytes: number): number {
  return 3 * bytes;
}

/**
 * After scanning.
 *
 * @param isAscii if false, the longest text may need two bytes per character
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

/** A complete response: the pieces as they came, and one copy of them. */
export function responseSize(bytes: number): number {
  return 2 * bytes;
}
