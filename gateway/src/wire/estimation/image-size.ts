export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** A JPEG's frame header follows its metadata, which rarely has more segments than this. */
const maxSegments = 200;

/**
 * The size of an image in pixels, from its own header: PNG, JPEG, GIF or WebP. Only the bytes of the header are
 * decoded. Null if the header does not contain it.
 * @param base64 the whole file, standard or URL alphabet, without line breaks
 */
export function imageSize(base64: string): ImageSize | null {
  const head = bytesAt(base64, 0, 32);
  const size =
    pngSize(head) ?? gifSize(head) ?? webpSize(head) ?? (isJpeg(head) ? jpegSize(base64) : null);
  return size === null || size.width === 0 || size.height === 0 ? null : size;
}

/** Portable Network Graphics (W3C), section 11.2.1: IHDR comes first. */
function pngSize(head: Buffer): ImageSize | null {
  if (head.length < 24 || head.readUInt32BE(0) !== 0x89504e47) return null;
  return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
}

/** GIF89a specification, section 18: the logical screen. */
function gifSize(head: Buffer): ImageSize | null {
  if (head.length < 10 || head.toString('latin1', 0, 4) !== 'GIF8') return null;
  return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
}

/** RFC 9649 (WebP): an extended header, or the header of the only frame. */
function webpSize(head: Buffer): ImageSize | null {
  if (head.length < 30 || head.toString('latin1', 8, 12) !== 'WEBP') return null;
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = head.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}

function isJpeg(head: Buffer): boolean {
  return head.length > 3 && head.readUInt16BE(0) === 0xffd8;
}

/** ITU-T T.81, annex B: segments, each with its length, until a start of frame. */
function jpegSize(base64: string): ImageSize | null {
  let at = 2;
  for (let segment = 0; segment < maxSegments; segment += 1) {
    const marker = bytesAt(base64, at, 9);
    if (marker.length < 9 || marker[0] !== 0xff) return null;
    const kind = marker[1]!;
    if (kind === 0xff) at += 1;
    else if (isFrame(kind)) {
      return { width: marker.readUInt16BE(7), height: marker.readUInt16BE(5) };
    } else at += 2 + marker.readUInt16BE(2);
  }
  return null;
}

/** SOF0 to SOF15, without the three markers in between that mean something else. */
function isFrame(kind: number): boolean {
  return kind >= 0xc0 && kind <= 0xcf && kind !== 0xc4 && kind !== 0xc8 && kind !== 0xcc;
}

/** Some bytes of a file; fewer if it ends before. */
export function bytesAt(base64: string, offset: number, length: number): Buffer {
  const skippedBytes = offset % 3;
  const start = ((offset - skippedBytes) / 3) * 4;
  const end = start + Math.ceil((skippedBytes + length) / 3) * 4;
  return Buffer.from(base64.slice(start, end), 'base64').subarray(
    skippedBytes,
    skippedBytes + length,
  );
}

/** The number of bytes of a file. */
export function byteLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}
