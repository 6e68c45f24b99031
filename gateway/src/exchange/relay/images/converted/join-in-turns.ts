import { setImmediate as nextTurn } from 'node:timers/promises';

/** In bytes: copying so many takes a millisecond or two. */
const turnBytes = 4 * 1024 * 1024;

/** The pieces as one body. They are made and copied in turns, since pictures may hold up other requests for long. */
export async function joinInTurns(pieces: Iterable<Buffer>): Promise<Buffer> {
  const made: Buffer[] = [];
  let length = 0;
  let due = turnBytes;
  const waitIfDue = async (done: number): Promise<void> => {
    if (done < due) return;
    due = done + turnBytes;
    await nextTurn();
  };
  for (const piece of pieces) {
    made.push(piece);
    length += piece.length;
    await waitIfDue(length);
  }
  const joined = Buffer.allocUnsafeSlow(length);
  due = turnBytes;
  let at = 0;
  for (const piece of made) {
    at += piece.copy(joined, at);
    await waitIfDue(at);
  }
  return joined;
}
