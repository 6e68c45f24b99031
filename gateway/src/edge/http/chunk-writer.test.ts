import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChunkWriter, encodeChunk } from './chunk-writer.ts';

const limit = 128 * 1024;

/** A socket whose system accepts a write only on request. */
function open() {
  const writes: string[] = [];
  let taken: (() => void) | null = null;
  const socket = new Writable({
    write(bytes: Buffer, _encoding, done) {
      writes.push(bytes.toString());
      taken = done;
    },
  });
  let waits = 0;
  const writer = new ChunkWriter(socket as unknown as Socket, () => {
    waits += 1;
  });
  return { writer, writes, socket, take: () => taken?.(), waits: () => waits };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('writes of one turn leave as one chunk, in order', async () => {
  const { writer, writes, take } = open();
  for (let event = 0; event < 50; event += 1) {
    writer.write(event % 2 === 0 ? Buffer.from(`${event},`) : `${event}é`);
  }
  expect(writes).toEqual([]);
  await turn();
  const content = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? `${at},` : `${at}é`));
  const text = content.join('');
  expect(writes).toEqual([`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`]);
  take();
  writer.write('later');
  await turn();
  expect(writes[1]).toBe('5\r\nlater\r\n');
});

test('an empty write is not a chunk, which would end the body', async () => {
  const { writer, writes } = open();
  expect(writer.write('')).toBe(true);
  expect(writer.write(Buffer.alloc(0))).toBe(true);
  writer.flush();
  await turn();
  expect(writes).toEqual([]);
});

test('waiting bytes of the turn count: at the limit they are written and the caller is asked to pause', async () => {
  const { writer, writes, socket, take, waits } = open();
  const piece = 'x'.repeat(limit / 8);
  const room = Array.from({ length: 8 }, () => writer.write(piece));
  expect(room).toEqual([true, true, true, true, true, true, true, false]);
  expect(writes).toHaveLength(1);
  expect(waits()).toBe(1);
  const drained = new Promise((resolve) => socket.once('drain', resolve));
  take();
  await drained;
  expect(writer.write('more')).toBe(true);
});

test('a large piece is a chunk of its own, after what was written before it, and is not copied', async () => {
  const writes: Buffer[] = [];
  const socket = new Writable({
    write(bytes: Buffer, _encoding, done) {
      writes.push(bytes);
      done();
    },
  });
  const writer = new ChunkWriter(socket as unknown as Socket, () => {});
  const piece = Buffer.alloc(limit + 1, 'x');
  writer.write('before');
  writer.write(piece);
  writer.write('after');
  await turn();
  expect(writes[2]).toBe(piece);
  const [before, size, , end, after] = writes.map(String);
  expect([before, size, end, after]).toEqual([
    '6\r\nbefore\r\n',
    '20001\r\n',
    '\r\n',
    '5\r\nafter\r\n',
  ]);
});

test('a chunk is its size in hex, its bytes, and line ends', () => {
  expect(encodeChunk(['hello'], 5).toString()).toBe('5\r\nhello\r\n');
  expect(encodeChunk([Buffer.alloc(16, 'x')], 16).toString()).toBe(`10\r\n${'x'.repeat(16)}\r\n`);
});

test('any bytes and any text are unchanged', () => {
  const content = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.uint8Array({ minLength: 1, maxLength: 5000 }).map((array) => Buffer.from(array)),
  );
  fc.assert(
    fc.property(fc.array(content, { minLength: 1 }), (pieces) => {
      const plain = Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
      const chunk = encodeChunk(pieces, plain.length);
      const end = chunk.indexOf('\r\n');
      expect(Number.parseInt(chunk.toString('latin1', 0, end), 16)).toBe(plain.length);
      expect(chunk.subarray(end + 2, -2)).toEqual(plain);
      expect(chunk.subarray(-2).toString()).toBe('\r\n');
    }),
  );
});
