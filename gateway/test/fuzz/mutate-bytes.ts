import { pieces } from './pieces.ts';
import type { Random } from './random.ts';

/** Another input made of this one, byte by byte; never longer than `longest`. @param others to splice pieces from. */
export function mutateBytes(
  random: Random,
  input: Buffer,
  others: readonly Buffer[],
  longest: number,
): Buffer {
  let bytes = input;
  for (let round = random.below(4); round >= 0; round -= 1) {
    bytes = changed(random, bytes, others, longest).subarray(0, longest);
  }
  return bytes;
}

function changed(
  random: Random,
  bytes: Buffer,
  others: readonly Buffer[],
  longest: number,
): Buffer {
  const at = random.below(bytes.length + 1);
  const length = Math.min(
    bytes.length - at,
    random.oneIn(3) ? random.below(4096) : random.below(9),
  );
  const put = (insert: Buffer, leaveOut: number): Buffer =>
    Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + leaveOut)]);
  switch (random.below(8)) {
    case 0: {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at] = random.below(256);
      return copy;
    }
    case 1:
      return put(nothing, length);
    case 2:
      return put(Buffer.from(random.pick(pieces)), 0);
    case 3:
      return put(Buffer.from(random.pick(pieces)), length);
    case 4:
      return put(repeated(random, Buffer.from(random.pick(pieces)), longest - bytes.length), 0);
    case 5: {
      const piece = bytes.subarray(at, at + length);
      return put(repeated(random, piece, longest - bytes.length), 0);
    }
    case 6: {
      const other = random.pick(others);
      const from = random.below(other.length);
      return put(other.subarray(from, from + random.below(other.length - from + 1)), length);
    }
    default:
      return bytes.subarray(0, at);
  }
}

const nothing = Buffer.alloc(0);

/** The piece many times, up to `room` bytes. */
function repeated(random: Random, piece: Buffer, room: number): Buffer {
  const size = sizeOf(random, Math.max(0, room));
  return piece.length === 0 ? piece : Buffer.alloc(size - (size % piece.length), piece);
}

/** A length up to `most`: all orders of magnitude equally often. */
export function sizeOf(random: Random, most: number): number {
  return random.below(Math.min(most, 2 ** (1 + random.below(21))) + 1);
}
