import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';

/** The largest window that a decoder may be made to allocate (8 MiB, RFC 9659), as a power of two. */
const zstdWindowLog = 23;

/** From this size on, the ratio of decoded to encoded bytes is limited. */
const inflatedFrom = 1024 * 1024;
const highestRatio = 100;

/**
 * Whether data was compressed to expand as much as possible rather than to save bytes. Both counts are from the
 * beginning.
 */
export function isInflated(decoded: number, encoded: number): boolean {
  return decoded > inflatedFrom && decoded > highestRatio * encoded;
}

/** Decodes the data written to it. */
export interface ContentDecoder extends Transform {
  /** Encoded bytes decoded so far. */
  readonly bytesWritten: number;
}

/**
 * A decoder for a `Content-Encoding`. Null: nothing is encoded. Undefined: the coding is unsupported, or there are
 * several.
 */
export function createContentDecoder(
  encoding: string | undefined,
): ContentDecoder | null | undefined {
  if (encoding === undefined) return null;
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress({
        params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLog },
      });
    default:
      return undefined;
  }
}
