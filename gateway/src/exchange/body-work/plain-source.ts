import type { PictureSource } from '#canonical/index.ts';
import { asBuffer } from './bytes.ts';

/** A picture that may be a part of the body: bodies are handed over, not copied. */
export type PlainSource =
  | PictureSource
  | {
      readonly kind: 'range';
      readonly mime: string | null;
      readonly start: number;
      readonly end: number;
    };

export function plainSource(body: Buffer, source: PictureSource): PlainSource {
  if (source.kind !== 'base64' || source.base64.buffer !== body.buffer) return source;
  const start = source.base64.byteOffset - body.byteOffset;
  return { kind: 'range', mime: source.mime, start, end: start + source.base64.length };
}

/** @param body the body in which the thread found it */
export function sourceIn(body: Buffer, source: PlainSource): PictureSource {
  switch (source.kind) {
    case 'range': {
      const { mime, start, end } = source;
      return { kind: 'base64', mime, base64: body.subarray(start, end) };
    }
    // Buffers arrive as plain bytes.
    case 'base64':
      return { ...source, base64: asBuffer(source.base64) };
    default:
      return source;
  }
}
