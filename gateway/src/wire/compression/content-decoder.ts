import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';

/** The largest window a decoder may be made to allocate (8 MiB, RFC 9659), as a power of two. */
const zstdWindowLog = 23;

/** From here on decoded bytes may be so many times the encoded ones, and no more. */
const inflatedFrom = 1024 * 1024;
const highestRatio = 100;

/** Has it been packed to become as much as it can, rather than to travel light? Both are bytes, from the beginning. */
export function isInflated(decoded: number, encoded: number): boolean {
  return decoded > inflatedFrom && decoded > highestRatio * encoded;
}

/** Decodes what is written to it. */
export interface ContentDecoder extends Transform {
  /** Encoded bytes that have been decoded so far. */
  readonly bytesWritten: number;
}

/**
 * A decoder for a `Content-Encoding`: null when nothing is encoded, undefined when the coding is not supported
 * or there are several.
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
