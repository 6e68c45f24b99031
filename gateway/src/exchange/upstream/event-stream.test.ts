import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { StreamEvent } from '#protocols/protocol.ts';
import { EventStreamReader, EventTooLarge } from './event-stream.ts';

function read(chunks: readonly (string | Buffer)[], maxEventBytes = 1024 * 1024): StreamEvent[] {
  const events: StreamEvent[] = [];
  const reader = new EventStreamReader({ maxEventBytes, onEvent: (event) => events.push(event) });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return events;
}

const plain = (events: readonly StreamEvent[]) =>
  events.map(({ raw, name, data }) => ({
    raw: raw.toString('utf8'),
    name,
    data: data === null ? null : data.toString('utf8'),
  }));

const bytewise = (text: string) => [...Buffer.from(text)].map((byte) => Buffer.from([byte]));

const streams: Record<string, string> = {
  'line feeds': 'data: {"a":1}\n\nevent: x\ndata:{"b":2}\n\n',
  'carriage return and line feed': 'event: x\r\ndata: {"a":1}\r\n\r\ndata: {"b":2}\r\n\r\n',
  'bare carriage returns': 'event: x\rdata: {"a":1}\r\rdata: {"b":2}\r\r',
  'mixed line ends': 'data: 1\r\n\ndata: 2\n\r\ndata: 3\r\rdata: 4\r\r\ndata: 5\n\n',
  'a byte order mark': '\ufeffdata: {"a":1}\n\n',
  comments: ': hello\n\n:\ndata: {}\n\n',
  'several data lines': 'data: {"a":\ndata: 1}\n\n',
  'blank lines in a row': 'data: 1\n\n\n\ndata: 2\n\n',
  'characters of several bytes': 'data: {"t":"日本語 🙂"}\n\n',
  'no last blank line': 'data: {"a":1}\n\ndata: {"b":2}',
  'no last line end, CRLF': 'data: {"a":1}\r\n\r\ndata: {"b":2}\r\n',
  'fields without a value': 'data\nevent:\nid: 4\nretry: 10\nnonsense\n\n',
};

describe('the event-stream reader', () => {
  it.each(Object.entries(streams))('reads %s the same whole and byte by byte', (_, text) => {
    const whole = plain(read([text]));
    expect(plain(read(bytewise(text)))).toEqual(whole);
    expect(whole.map((event) => event.raw).join('')).toContain(text.replace('\ufeff', ''));
  });

  it('reads names, values and joined lines', () => {
    const text = 'event: first\ndata:{"a":\ndata:  1}\n\n: note\n\ndata: [DONE]\n\n';
    expect(plain(read([text]))).toEqual([
      { raw: 'event: first\ndata:{"a":\ndata:  1}\n\n', name: 'first', data: '{"a":\n 1}' },
      { raw: ': note\n\n', name: null, data: null },
      { raw: 'data: [DONE]\n\n', name: null, data: '[DONE]' },
    ]);
  });

  it('drops the byte order mark from forwarded bytes', () => {
    expect(plain(read([streams['a byte order mark'] ?? '']))[0]?.raw).toBe('data: {"a":1}\n\n');
  });

  it('completes a last event without its blank line', () => {
    expect(plain(read(['data: {"a":1}']))[0]?.raw).toBe('data: {"a":1}\n\n');
    expect(plain(read(['data: {"a":1}\n']))[0]?.raw).toBe('data: {"a":1}\n\n');
    // A client takes one LF after a bare CR for the rest of its line's end.
    expect(plain(read(['data: {"a":1}\r']))[0]?.raw).toBe('data: {"a":1}\r\n\n');
    expect(plain(read(['data: {"a":1}\r\n\r']))[0]?.data).toBe('{"a":1}');
  });

  it('does not deliver a last event that was cut inside its data', () => {
    expect(read(['data: 1\n\ndata: {"text":"Hel'])).toHaveLength(1);
  });

  it('delivers an event as soon as it is complete', () => {
    let count = 0;
    const onEvent = () => (count += 1);
    for (const end of ['\n\n', '\r\r', '\r\n\r\n']) {
      new EventStreamReader({ maxEventBytes: 100, onEvent }).push(Buffer.from(`data: 1${end}`));
    }
    expect(count).toBe(3);
  });

  it('returns views of the chunk', () => {
    const chunk = Buffer.from('data: {"a":1}\n\ndata: {"b":2}\n\n');
    const events: StreamEvent[] = [];
    new EventStreamReader({ maxEventBytes: 100, onEvent: (event) => events.push(event) }).push(
      chunk,
    );
    expect(events.map((event) => event.raw.buffer === chunk.buffer)).toEqual([true, true]);
    expect(events[1]?.data?.byteOffset).toBe(chunk.byteOffset + chunk.lastIndexOf('{'));
  });

  it('refuses an event over the limit, in one chunk or many', () => {
    const text = `data: ${'x'.repeat(200)}\n\n`;
    expect(() => read([text], 100)).toThrow(EventTooLarge);
    expect(() => read(bytewise(text), 100)).toThrow(EventTooLarge);
    expect(read([`data: 1\n\n${text}`], 300)).toHaveLength(2);
  });

  it('refuses an event with too many lines, but accepts many', () => {
    const lines = (count: number) => `${'data:\n'.repeat(count)}\n`;
    expect(read([lines(16_384), lines(16_384)])[1]?.data).toHaveLength(16_383);
    expect(() => read([lines(16_385)])).toThrow(EventTooLarge);
    expect(() => read([`${':\n'.repeat(16_385)}\n`])).toThrow(EventTooLarge);
  });

  it('reads an event of up to 64 MiB in small chunks without repeated copying', () => {
    const piece = Buffer.alloc(16 * 1024, 'x');
    const copied = vi.spyOn(Buffer.prototype, 'copy');
    const joined = vi.spyOn(Buffer, 'concat');
    onTestFinished(() => void vi.restoreAllMocks());
    let length = 0;
    const reader = new EventStreamReader({
      maxEventBytes: 65 * 1024 * 1024,
      onEvent: (event) => (length = event.data?.length ?? 0),
    });
    reader.push(Buffer.from('data: '));
    for (let at = 0; at < 4096; at += 1) reader.push(piece);
    reader.push(Buffer.from('\n\n'));
    expect(length).toBe(64 * 1024 * 1024);
    const bytes =
      copied.mock.results.reduce((sum, { value }) => sum + Number(value), 0) +
      joined.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
    expect(bytes).toBeGreaterThanOrEqual(length);
    expect(bytes).toBeLessThan(4 * length);
  });
});
