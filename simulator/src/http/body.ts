import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';

/** The raw body. Rejects if the client disconnects before its end. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

const decoders: Readonly<Record<string, (body: Buffer) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

/** The decoded body. Undefined if its content encoding is unknown or broken. */
export async function decodeBody(
  body: Buffer,
  encoding: string | undefined,
): Promise<Buffer | undefined> {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return body;
  return decoders[encoding.toLowerCase()]?.(body).catch(() => undefined);
}
