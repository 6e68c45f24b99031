import { Writable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { createLineSink } from './line-sink.ts';

/** A stream that accepts a write only on request. */
function createStream() {
  const chunks: string[] = [];
  let release: (() => void) | null = null;
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      chunks.push(chunk);
      release = done;
    },
  });
  const releaseOne = (): void => {
    const done = release;
    release = null;
    done?.();
  };
  return { stream, chunks, release: releaseOne };
}

test('lines within a short time leave in one write', () => {
  vi.useFakeTimers();
  const { stream, chunks } = createStream();
  const sink = createLineSink(stream, { delayMs: 50 });
  for (const line of ['a\n', 'b\n', 'c\n']) sink.write(line);
  vi.advanceTimersByTime(49);
  expect(chunks).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(chunks).toEqual(['a\nb\nc\n']);
  vi.useRealTimers();
});

test('R-45 a reader that stops costs lines, counted, and no memory beyond the limit', async () => {
  const { stream, chunks, release } = createStream();
  const sink = createLineSink(stream, { limit: 1000, delayMs: 1 });
  const line = `${'x'.repeat(99)}\n`;
  for (let index = 0; index < 500; index += 1) {
    sink.write(line);
    if (index % 3 === 0) sink.flush();
  }
  expect(stream.writableLength).toBeLessThanOrEqual(1000);
  expect(sink.droppedLines).toBe(490);
  expect(sink.hasRoom).toBe(false);

  const readOn = async () => {
    for (let round = 0; round < 20; round += 1) {
      release();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await readOn();
  sink.write('again\n');
  sink.flush();
  await readOn();
  expect(chunks.join('')).toBe(`${line.repeat(10)}again\n`);
});

test('a closed reader does not crash the process', async () => {
  const { stream } = createStream();
  const sink = createLineSink(stream);
  sink.write('a\n');
  stream.destroy(new Error('EPIPE'));
  await new Promise((resolve) => setImmediate(resolve));
  sink.write('b\n');
  sink.drop();
  sink.flush();
  expect(sink.droppedLines).toBe(2);
});

test('closing waits for an active reader, and abandons a stopped one', async () => {
  const { stream, chunks, release } = createStream();
  const sink = createLineSink(stream);
  sink.write('last words\n');
  setTimeout(release, 20);
  await sink.close(5_000);
  expect(chunks).toEqual(['last words\n']);
  expect(stream.destroyed).toBe(false);

  sink.write('unread\n');
  await sink.close(20);
  expect(stream.destroyed).toBe(true);
});
