import type { MediaSource } from '#canonical/index.ts';
import { byteLength, bytesAt } from './image-size.ts';

/** Of files whose length nothing here tells: a page, or this long. */
const usualSeconds = 60;
/** As much of a document is looked through, at its beginning and at its end. */
const lookedThrough = 512 * 1024;
/** A page of text and figures, where the file does not say how many there are. */
const bytesPerPage = 50_000;
/** Rather little of either, so that a file is taken for longer than it is: 64 kbit/s, 1 Mbit/s. */
const bytesPerSecond = { audio: 8_000, video: 125_000 } as const;

/** How many pages a document has: as its page tree says where that is not compressed, else by its size. */
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

/** How long it takes to play: by the header of a WAV file, else by its size. */
export function seconds(source: MediaSource, kind: 'audio' | 'video'): number {
  if (source.kind !== 'data') return usualSeconds;
  const head = bytesAt(source.base64, 0, 32);
  const isWave = head.length === 32 && head.toString('latin1', 8, 16) === 'WAVEfmt ';
  const rate = isWave ? head.readUInt32LE(28) : 0;
  return Math.ceil(byteLength(source.base64) / (rate > 0 ? rate : bytesPerSecond[kind]));
}
