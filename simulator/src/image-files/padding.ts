/** Bytes that do not compress well, to make a picture larger. */
export function padding(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = 1;
  const block = Math.min(length, 65_521);
  for (let index = 0; index < block; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = state >>> 24;
  }
  for (let start = block; start < length; start += block) {
    bytes.copyWithin(start, 0, Math.min(block, length - start));
  }
  return bytes;
}
