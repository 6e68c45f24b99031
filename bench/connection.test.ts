import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { stampMark } from './prepared-responses.ts';
import { Connection } from './connection.ts';

let server: Server | null = null;
const open: Connection[] = [];

afterEach(() => {
  for (const connection of open.splice(0)) connection.close();
  server?.close();
});

/** A connection to a server that answers everything with these pieces, each in its own packet. */
async function answering(pieces: readonly string[], thenClose = false): Promise<Connection> {
  const started = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => {
      pieces.forEach((piece, at) => setTimeout(() => socket.write(piece), at * 5));
      if (thenClose) setTimeout(() => socket.end(), pieces.length * 5);
    });
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const address = started.address();
  const connection = new Connection(typeof address === 'object' ? (address?.port ?? 0) : 0);
  open.push(connection);
  return connection;
}

const request = Buffer.from('GET / HTTP/1.1\r\n\r\n');

describe('the client of the bench', () => {
  test('reads a body of known length that comes in pieces, and then the next', async () => {
    const connection = await answering([
      'HTTP/1.1 200 OK\r\ncontent-',
      'length: 6\r\n\r\nab',
      'cdef',
    ]);
    for (const _ of [1, 2]) {
      const seen = await connection.exchange(request);
      expect(seen).toMatchObject({ status: 200, tail: 'abcdef', stampedAt: null });
      expect(seen.firstByteAt).toBeLessThan(seen.endAt);
      expect(connection.idle).toBe(true);
    }
  });

  test('ends a chunked body at its last chunk, wherever the packets were cut', async () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
    const stamp = `${stampMark}0000000000000042`;
    const connection = await answering([head, `12\r\n${stamp}\r\n`, '0\r\n', '\r\n']);
    const seen = await connection.exchange(request);
    expect(seen.stampedAt).toBe(42);
    expect(seen.tail).toContain(stamp);
  });

  test('fails when the connection closes in the middle of a response', async () => {
    const connection = await answering(['HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nab'], true);
    await expect(connection.exchange(request)).rejects.toThrow('closed in the middle');
  });

  test('fails on a response without a recognisable end', async () => {
    const connection = await answering(['HTTP/1.1 200 OK\r\n\r\nab']);
    await expect(connection.exchange(request)).rejects.toThrow('without framing');
  });
});
