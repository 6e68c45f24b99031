import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { request, type Dispatcher } from 'undici';
import { noProxies, type Proxies } from './proxies.ts';
import { createProxyAgent } from './proxy-agent.ts';
import { trimTrailing } from '#config/index.ts';

export interface BucketOptions {
  readonly bucket: string;
  readonly region: string;
  /** Of a store that is not Amazon's; null: Amazon's of the region. */
  readonly endpoint: string | null;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Absent: none. */
  readonly proxies?: Proxies;
}

/** Milliseconds without a byte. */
const patience = 60_000;

/** A file to be sent to a bucket. */
export interface BucketFile {
  readonly pieces: AsyncIterable<Buffer>;
  /** In bytes. */
  readonly length: number;
  /** Its media type. */
  readonly type: string;
}

/** Names are paths whose parts need no escapes. Whatever fails rejects. */
export interface Bucket {
  /** Nothing of the file is there before all of it is. */
  put(name: string, file: BucketFile): Promise<void>;
  /** In bytes; null: there is no such file. */
  size(name: string): Promise<number | null>;
  /** Reads these bytes, the last one included. */
  read(name: string, from: number, to: number): Promise<Readable>;
  /** Removes a file, if it is there. */
  remove(name: string): Promise<void>;
}

/** A bucket of Amazon S3 or of a store that speaks its protocol. */
export function createBucket(options: BucketOptions): Bucket {
  const { bucket, region, endpoint } = options;
  // Other stores often have no name for each bucket.
  const base =
    endpoint === null
      ? `https://${bucket}.s3.${region}.amazonaws.com`
      : `${trimTrailing(endpoint, '/')}/${bucket}`;
  const proxy = (options.proxies ?? noProxies).of(new URL(base).origin, null);
  const agent =
    proxy === null ? undefined : createProxyAgent(proxy, { pool: {}, connectTimeout: patience });
  const urlOf = (name: string): string => `${base}/${name}`;

  async function send(
    method: 'PUT' | 'GET' | 'HEAD' | 'DELETE',
    url: string,
    {
      headers = {},
      body = null,
    }: { headers?: Record<string, string>; body?: Readable | null } = {},
  ): Promise<Dispatcher.ResponseData> {
    const { accessKeyId, secretAccessKey } = options;
    const signer = new AwsV4Signer({
      method,
      url,
      headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
    });
    const signedRequest = await signer.sign();
    return request(signedRequest.url, {
      method,
      // Host is what is called anyway.
      headers: { ...Object.fromEntries(signedRequest.headers), ...headers },
      body,
      ...(agent !== undefined && { dispatcher: agent }),
      headersTimeout: patience,
      bodyTimeout: patience,
    });
  }

  return {
    async put(name, { pieces, length, type }) {
      const body = Readable.from(pieces, { objectMode: false });
      const headers = { 'content-type': type, 'content-length': String(length) };
      await dropBody(await send('PUT', urlOf(name), { headers, body }), [200]);
    },

    async size(name) {
      const response = await send('HEAD', urlOf(name));
      await dropBody(response, [200, 404]);
      return response.statusCode === 404 ? null : Number(response.headers['content-length']);
    },

    async read(name, from, to) {
      const headers = { range: `bytes=${from}-${to}` };
      const response = await send('GET', urlOf(name), { headers });
      if (response.statusCode !== 206) await dropBody(response, []);
      return response.body;
    },

    async remove(name) {
      await dropBody(await send('DELETE', urlOf(name)), [200, 204, 404]);
    },
  };
}

/** @throws Error for any other status */
async function dropBody(
  { statusCode, body }: Dispatcher.ResponseData,
  expectedStatuses: readonly number[],
): Promise<void> {
  await body.dump();
  if (!expectedStatuses.includes(statusCode)) throw new Error(`the bucket answered ${statusCode}`);
}
