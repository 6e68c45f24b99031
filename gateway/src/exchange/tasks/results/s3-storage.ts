import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { request, type Dispatcher } from 'undici';
import type { NewFile, ResultStorage } from './storage.ts';

export interface S3Options {
  readonly bucket: string;
  /** Before all names; may be empty. */
  readonly prefix: string;
  readonly region: string;
  /** Of a store that is not Amazon's; null: Amazon's of the region. */
  readonly endpoint: string | null;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Milliseconds without a byte. */
const patience = 60_000;

/** A bucket of Amazon S3 or of a store that speaks its protocol. */
export function createS3Storage(options: S3Options): ResultStorage {
  const { bucket, prefix, region, endpoint } = options;
  // Other stores often have no name for each bucket.
  const base =
    endpoint === null
      ? `https://${bucket}.s3.${region}.amazonaws.com`
      : `${endpoint.replace(/\/+$/, '')}/${bucket}`;
  const urlOf = (task: string, name: string): string =>
    [base, prefix, task, name].filter((part) => part !== '').join('/');

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
    const signed = await signer.sign();
    return request(signed.url, {
      method,
      // Host is what is called anyway.
      headers: { ...Object.fromEntries(signed.headers), ...headers },
      body,
      headersTimeout: patience,
      bodyTimeout: patience,
    });
  }

  return {
    async write(task, name, { pieces, length, type }: NewFile) {
      // An upload in parts would need no length; stores of videos always announce one.
      if (length === null) throw new Error('the length of a result is not known');
      const body = Readable.from(pieces, { objectMode: false });
      const headers = { 'content-type': type, 'content-length': String(length) };
      await emptied(await send('PUT', urlOf(task, name), { headers, body }), [200]);
      return length;
    },

    async size(task, name) {
      const response = await send('HEAD', urlOf(task, name));
      await emptied(response, [200, 404]);
      return response.statusCode === 404 ? null : Number(response.headers['content-length']);
    },

    async read(task, name, from, to) {
      const headers = { range: `bytes=${from}-${to}` };
      const response = await send('GET', urlOf(task, name), { headers });
      if (response.statusCode !== 206) await emptied(response, []);
      return response.body;
    },

    async remove(task, names) {
      for (const name of names) {
        await emptied(await send('DELETE', urlOf(task, name)), [200, 204, 404]);
      }
    },
  };
}

/** @throws Error for any other status */
async function emptied(
  { statusCode, body }: Dispatcher.ResponseData,
  expected: readonly number[],
): Promise<void> {
  await body.dump();
  if (!expected.includes(statusCode)) throw new Error(`the store of results said ${statusCode}`);
}
