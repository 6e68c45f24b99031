/** Which bytes of a file are wanted, the last one included. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the header `range` (RFC 9110, section 14). Null: all of the file, also for what may be ignored, which is several
 * ranges and other units. `unsatisfiable`: none of it is in the file.
 */
export function readRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | null {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const count = Math.min(Number(last), size);
    return count === 0 ? 'unsatisfiable' : { from: size - count, to: size - 1 };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return null;
  if (from >= size) return 'unsatisfiable';
  return { from, to: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
