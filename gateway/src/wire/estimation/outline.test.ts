import { describe, expect, it } from 'vitest';
import type { MediaSource } from '#canonical/index.ts';
import { pdfPages, seconds } from './outline.ts';

const data = (bytes: Buffer | string, mime = 'application/pdf'): MediaSource => ({
  kind: 'data',
  mime,
  base64: Buffer.from(bytes as string).toString('base64'),
});

function wave(bytesPerSecond: number, length: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(bytesPerSecond, 28);
  return Buffer.concat([head, Buffer.alloc(length)]);
}

describe('the length of media', () => {
  it('pages by the page tree, anywhere in the file', () => {
    const tree = '<< /Type /Pages /Count 12 >>';
    expect(pdfPages(data(`%PDF ${tree}`))).toBe(12);
    expect(pdfPages(data(`${tree}${' '.repeat(3_000_000)}`))).toBe(12);
    expect(pdfPages(data(`${' '.repeat(3_000_000)}${tree}`))).toBe(12);
    expect(pdfPages(data('/Type /Page /Type/Page '))).toBe(2);
  });

  it('pages by size if the tree is compressed', () => {
    expect(pdfPages(data(Buffer.alloc(500_000, 7)))).toBe(10);
    expect(pdfPages({ kind: 'url', url: 'https://example.com/a.pdf', mime: null })).toBe(1);
  });

  it('seconds by the header of a WAV file, otherwise by size', () => {
    expect(seconds(data(wave(32_000, 320_000 - 44), 'audio/wav'), 'audio')).toBe(10);
    expect(seconds(data(wave(0, 80_000 - 44), 'audio/wav'), 'audio')).toBe(10);
    expect(seconds(data(Buffer.alloc(80_000), 'audio/mpeg'), 'audio')).toBe(10);
    expect(seconds(data(Buffer.alloc(1_250_000), 'video/mp4'), 'video')).toBe(10);
    expect(seconds({ kind: 'url', url: 'https://example.com/a.mp4', mime: null }, 'video')).toBe(
      60,
    );
  });
});
