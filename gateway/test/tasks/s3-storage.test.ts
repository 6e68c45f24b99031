import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createS3Storage } from '#results/storage.ts';
import { freePort } from '../support/free-port.ts';

/*
 * Against a store of S3's protocol that runs here: `pip install 'moto[server,s3]'`, whose program SLUICE_TEST_S3_SERVER
 * names. Without it nothing is shown, and the report says so.
 */

const program = process.env['SLUICE_TEST_S3_SERVER'];
const absence =
  program === undefined ? '(SKIPPED: SLUICE_TEST_S3_SERVER names no moto_server)' : '';
if (program === undefined) process.stderr.write(`copies in S3 are not tested ${absence}\n`);

describe.skipIf(program === undefined)(`a bucket ${absence}`, () => {
  let endpoint = '';
  let stop = async (): Promise<void> => {};
  beforeAll(async () => {
    const port = await freePort();
    const server = spawn(program!, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    stop = async () => {
      server.kill();
      await once(server, 'exit');
    };
    endpoint = `http://127.0.0.1:${port}`;
    const isUp = () =>
      fetch(endpoint).then(
        () => true,
        () => false,
      );
    while (!(await isUp())) await sleep(50);
    await fetch(`${endpoint}/results`, {
      method: 'PUT',
      headers: {
        authorization: 'AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request',
      },
    });
  }, 60_000);
  afterAll(() => stop());

  const open = () =>
    createS3Storage({
      bucket: 'results',
      prefix: 'videos/of us',
      region: 'us-east-1',
      endpoint,
      accessKeyId: 'key',
      secretAccessKey: 'secret',
    });
  const video = Buffer.alloc(300_000, 'moving pictures ');

  async function* pieces(body = video): AsyncGenerator<Buffer> {
    for (let at = 0; at < body.length; at += 65_536) yield body.subarray(at, at + 65_536);
  }
  const file = (length: number | null = video.length) => ({
    pieces: pieces(),
    length,
    type: 'video/mp4',
  });
  async function collect(from: AsyncIterable<Buffer>): Promise<Buffer> {
    const all: Buffer[] = [];
    for await (const piece of from) all.push(piece);
    return Buffer.concat(all);
  }

  test('keeps, gives parts of, and removes a file', async () => {
    const storage = open();
    expect(await storage.size('t1', 'video.mp4')).toBe(null);
    await storage.write('t1', 'video.mp4', file());
    expect(await storage.size('t1', 'video.mp4')).toBe(video.length);
    const part = await storage.read('t1', 'video.mp4', 10, 99_999);
    expect(await collect(part)).toEqual(video.subarray(10, 100_000));
    await storage.remove('t1', ['video.mp4', 'never.png']);
    expect(await storage.size('t1', 'video.mp4')).toBe(null);
  });

  test('an upload that breaks off leaves nothing', async () => {
    const storage = open();
    async function* broken(): AsyncGenerator<Buffer> {
      yield video.subarray(0, 1_000);
      throw new Error('the vendor is gone');
    }
    const half = { ...file(), pieces: broken() };
    await expect(storage.write('t2', 'video.mp4', half)).rejects.toThrow('the vendor is gone');
    expect(await storage.size('t2', 'video.mp4')).toBe(null);
  });

  test('a length that nobody knows is refused', async () => {
    await expect(open().write('t3', 'video.mp4', file(null))).rejects.toThrow('length');
  });

  test('a file that is gone is no file', async () => {
    await expect(open().read('t4', 'video.mp4', 0, 1)).rejects.toThrow('404');
  });
});
