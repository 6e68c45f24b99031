import { createServer, type Socket } from 'node:net';
import {
  imageResponse,
  jsonResponse,
  protocols,
  stampDigits,
  stampMark,
  streamResponse,
  type Protocol,
} from './prepared-responses.ts';
import { microseconds } from './statistics.ts';

/**
 * The upstream of every measurement: precomputed bytes over bare sockets, so that it costs next to nothing. Runs as a
 * child process with an IPC channel: sends `{ port }` once it listens, and receives `Pace` messages.
 */
export interface Pace {
  /** Milliseconds between the events of a stream; 0 = all at once. */
  readonly gap: number;
}

interface Prepared {
  readonly head: Buffer;
  readonly pieces: readonly Buffer[];
  /** Where the digits of the stamp begin in the last piece; -1 without one. */
  readonly stampAt: number;
}

const chunkEnd = '0\r\n\r\n';
const inChunk = (piece: string) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`;

const image = prepare(imageResponse().head, imageResponse().pieces);
const json = prepare(jsonResponse().head, jsonResponse().pieces);
const streams = Object.fromEntries(
  protocols.map((protocol) => {
    const { head, pieces } = streamResponse(protocol);
    const framed = pieces.map(inChunk);
    return [protocol, prepare(head, [...framed.slice(0, -1), `${framed.at(-1)}${chunkEnd}`])];
  }),
) as Record<Protocol, Prepared>;

let gap = 0;

const server = createServer({ noDelay: true }, (socket) => {
  let waiting: Buffer = Buffer.alloc(0);
  /** Bytes of a form that are still to come; nothing of them is kept. */
  let skip = 0;
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    if (skip > 0) {
      skip -= chunk.length;
      if (skip <= 0) answer(socket, image);
      return;
    }
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    const headEnd = waiting.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = waiting.toString('latin1', 0, headEnd);
    const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    const chunked = Number.isNaN(length);
    if (chunked && !waiting.subarray(-5).equals(Buffer.from(chunkEnd))) return;
    if (!chunked && waiting.length < headEnd + 4 + length) {
      if (!head.includes(' /v1/images/')) return;
      skip = headEnd + 4 + length - waiting.length;
      waiting = Buffer.alloc(0);
      return;
    }
    // `stream` stands at the beginning, or behind everything else.
    const ends = [waiting.subarray(headEnd + 4, headEnd + 400), waiting.subarray(-400)];
    const wanted = choose(head, Buffer.concat(ends).toString('latin1'));
    waiting = Buffer.alloc(0);
    answer(socket, wanted);
  });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : null });
});

process.on('message', (pace: Pace) => {
  gap = pace.gap;
  process.send?.({ gap });
});
process.on('disconnect', () => process.exit());

function choose(head: string, bodyEnds: string): Prepared {
  const requestPath = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'));
  if (requestPath.includes('/images/')) return image;
  if (requestPath.includes(':streamGenerateContent')) return streams['generate-content'];
  if (!/"stream": ?true/.test(bodyEnds)) return json;
  if (requestPath.endsWith('/messages')) return streams.messages;
  if (requestPath.endsWith('/responses')) return streams.responses;
  return streams.chat;
}

function answer(socket: Socket, { head, pieces, stampAt }: Prepared): void {
  let next = 1;
  const writeNext = () => {
    if (socket.destroyed) return;
    const piece = pieces[next++];
    if (piece === undefined) return;
    socket.write(next === pieces.length && stampAt >= 0 ? stamped(piece, stampAt) : piece);
    if (next < pieces.length) setTimeout(writeNext, gap);
  };
  if (pieces.length === 1) socket.write(Buffer.concat([head, ...pieces]));
  else if (gap === 0) {
    const rest = pieces.slice(0, -1);
    socket.write(Buffer.concat([head, ...rest, stamped(pieces.at(-1) ?? head, stampAt)]));
  } else {
    socket.write(Buffer.concat([head, pieces[0] ?? head]));
    setTimeout(writeNext, gap);
  }
}

function stamped(piece: Buffer, at: number): Buffer {
  const copy = Buffer.from(piece);
  copy.write(Math.round(microseconds()).toString().padStart(stampDigits, '0'), at, 'latin1');
  return copy;
}

function prepare(head: string, pieces: readonly string[]): Prepared {
  const stampAt = pieces.at(-1)?.indexOf(stampMark) ?? -1;
  return {
    head: Buffer.from(head),
    pieces: pieces.map((piece) => Buffer.from(piece)),
    stampAt: stampAt < 0 ? -1 : stampAt + stampMark.length,
  };
}
