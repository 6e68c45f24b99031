import type { MediaSource } from '#canonical/index.ts';
import { byteLength, bytesAt } from './image-size.ts';

/** The assumed length of a file whose real length is unknown: one page, or this many seconds. */
const usualSeconds = 60;
/** Bytes searched at the beginning and at the end of a document. */
const lookedThrough = 512 * 1024;
/** A page of text and figures, if the file does not contain its page count. */
const bytesPerPage = 50_000;
/** Low bit rates, so that a file is rather over- than underestimated: 64 kbit/s, 1 Mbit/s. */
const bytesPerSecond = { audio: 8_000, video: 125_000 } as const;

/** The number of pages of a document: from its page tree if that is not compressed, otherwise by size. */
export function pdfPages(source: MediaSource): number {
  if (source.kind !== 'data') return 1;
  const bytes = byteLength(source.base64);
  const parts = [bytesAt(source.base64, 0, lookedThrough)];
  if (bytes > lookedThrough) {
    const from = Math.max(lookedThrough, bytes - lookedThrough);
    parts.push(bytesAt(source.base64, from, lookedThrough));
  }
  const text = parts.map((part) => part.toString('latin1')).join('\n');
  const counts = [...text.matchAll(/\/Count\s+(\d{1,6})\b/g)].map(([, count]) => Number(count));
  const pages = text.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  const said = Math.max(pages, ...counts);
  return said > 0 ? said : Math.ceil(bytes / bytesPerPage);
}

/** The playing time: from the header of a WAV file, otherwise by size. */
export function seconds(source: MediaSource, kind: 'audio' | 'video'): number {
  if (source.kind !== 'data') return usualSeconds;
  const head = bytesAt(source.base64, 0, 32);
  const isWave = head.length === 32 && head.toString('latin1', 8, 16) === 'WAVEfmt ';
  const rate = isWave ? head.readUInt32LE(28) : 0;
  return Math.ceil(byteLength(source.base64) / (rate > 0 ? rate : bytesPerSecond[kind]));
}
