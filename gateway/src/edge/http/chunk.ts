const lineEnd = 0x0a0d;

/**
 * One chunk of `Transfer-Encoding: chunked` (RFC 9112 section 7.1) in one buffer, for one write.
 * @param pieces the content, in order
 * @param length total bytes of the pieces
 */
export function encodeChunk(pieces: readonly (Buffer | string)[], length: number): Buffer {
  const size = length.toString(16);
  let at = size.length + 2;
  const chunk = Buffer.allocUnsafe(at + length + 2);
  chunk.write(size, 0, 'latin1');
  chunk.writeUInt16LE(lineEnd, size.length);
  for (const piece of pieces) {
    at += typeof piece === 'string' ? chunk.write(piece, at, 'utf8') : piece.copy(chunk, at);
  }
  chunk.writeUInt16LE(lineEnd, at);
  return chunk;
}
