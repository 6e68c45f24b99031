import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';

/** The largest window a decoder may be made to allocate (8 MiB, RFC 9659), as a power of two. */
const zstdWindowLog = 23;

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
