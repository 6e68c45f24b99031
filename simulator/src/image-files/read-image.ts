/** What the head of a picture states. */
export interface ImageHead {
  readonly type: 'png' | 'jpeg' | 'webp' | 'gif' | 'bmp' | 'tiff';
  /** 0 where the head does not state it: TIFF. */
  readonly width: number;
  readonly height: number;
  readonly alpha: boolean;
}

/** Reads the head of a picture. Null for anything else, text above all. */
export function readImage(bytes: Buffer): ImageHead | null {
  const text = bytes.toString('latin1', 0, 16);
  try {
    if (text.startsWith('\x89PNG\r\n\x1a\n')) return readPng(bytes);
    if (text.startsWith('\xff\xd8\xff')) return readJpeg(bytes);
    if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return readWebp(bytes);
    if (text.startsWith('GIF8')) {
      return headOf('gif', bytes.readUInt16LE(6), bytes.readUInt16LE(8), false);
    }
    if (text.startsWith('BM')) {
      return headOf('bmp', bytes.readInt32LE(18), Math.abs(bytes.readInt32LE(22)), false);
    }
  } catch {
    // Cut before its size.
    return null;
  }
  const isTiff = text.startsWith('II*\0') || text.startsWith('MM\0*');
  return isTiff ? { type: 'tiff', width: 0, height: 0, alpha: false } : null;
}

function headOf(
  type: ImageHead['type'],
  width: number,
  height: number,
  alpha: boolean,
): ImageHead | null {
  return width > 0 && height > 0 ? { type, width, height, alpha } : null;
}

function readPng(bytes: Buffer): ImageHead | null {
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return null;
  const colourType = bytes.readUInt8(25);
  let alpha = colourType === 4 || colourType === 6;
  // A palette has its transparency before the pixels.
  for (let at = 33; !alpha && at + 8 <= bytes.length;) {
    const name = bytes.toString('latin1', at + 4, at + 8);
    if (name === 'IDAT') break;
    alpha = name === 'tRNS';
    at += 12 + bytes.readUInt32BE(at);
  }
  return headOf('png', bytes.readUInt32BE(16), bytes.readUInt32BE(20), alpha);
}

function readJpeg(bytes: Buffer): ImageHead | null {
  for (let at = 2; at + 9 <= bytes.length;) {
    const marker = bytes.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (bytes.readUInt8(at) !== 0xff) return null;
    if (isFrame) {
      return headOf('jpeg', bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5), false);
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

function readWebp(bytes: Buffer): ImageHead | null {
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8L') {
    const bits = bytes.readUInt32LE(21);
    const height = ((bits >>> 14) & 0x3fff) + 1;
    return headOf('webp', (bits & 0x3fff) + 1, height, ((bits >>> 28) & 1) === 1);
  }
  if (kind === 'VP8X') {
    const alpha = (bytes.readUInt8(20) & 0x10) !== 0;
    return headOf('webp', bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1, alpha);
  }
  if (kind !== 'VP8 ') return null;
  const width = bytes.readUInt16LE(26) & 0x3fff;
  return headOf('webp', width, bytes.readUInt16LE(28) & 0x3fff, false);
}
