import { setImmediate as nextTurn } from 'node:timers/promises';

/** In bytes: copying so many takes a millisecond or two. */
export const turnBytes = 4 * 1024 * 1024;

/**
 * The pieces as one body; a single piece is the body itself. They are made and copied in turns, since images may hold
 * up other requests for long.
 */
export async function joinInTurns(pieces: Iterable<Buffer>): Promise<Buffer> {
  const made: Buffer[] = [];
  let length = 0;
  let due = turnBytes;
  for (const piece of pieces) {
    made.push(piece);
    length += piece.length;
    if (length < due) continue;
    due = length + turnBytes;
    await nextTurn();
  }
  const [only] = made;
  if (only !== undefined && made.length === 1) return only;
  const joined = Buffer.allocUnsafeSlow(length);
  let at = 0;
  due = turnBytes;
  for (const piece of made) {
    for (let from = 0; from < piece.length; from += turnBytes) {
      at += piece.copy(joined, at, from, from + turnBytes);
      if (at < due) continue;
      due = at + turnBytes;
      await nextTurn();
    }
  }
  return joined;
}
