import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildConnector } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { openVideoUpstream, videoConfig } from '../support/video-upstream.ts';
import { shareGateway } from './support.ts';
import {
  awaitEnd,
  callVideo,
  contents,
  dialects,
  lookAt,
  submitted,
  type Dialect,
} from './video-requests.ts';

/* Copies of finished videos, behind links that need no key. */

const pem = (name: string) =>
  readFileSync(new URL(`../http/fixtures/localhost-${name}.pem`, import.meta.url));
const video = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at % 251));

/** Whether the vendor gives its videos out. */
let isOpen = true;
let fetched = 0;
const host = createServer({ cert: pem('cert'), key: pem('key') }, (_request, response) => {
  fetched += 1;
  if (!isOpen) response.writeHead(503).end();
  else response.writeHead(200, { 'content-type': 'video/mp4' }).end(video);
});
const dial = buildConnector({ rejectUnauthorized: false, allowH2: false });
const upstream = await openVideoUpstream();
const folder = mkdtempSync(join(tmpdir(), 'sluice-results-'));
beforeAll(() => new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve)));
afterAll(async () => {
  host.closeAllConnections();
  host.close();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

const publicUrl = 'https://ai.example.com/base';
const shared = shareGateway({
  publicUrl,
  config: videoConfig(
    upstream.url,
    `
users: [{ email: tester@example.com, balance: 1000 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  ).replace(
    'video: { poll_interval: 1s }',
    `video: { poll_interval: 1s, keep_results: true, storage_url: 'file://${folder}' }`,
  ),
  mediaFetch: {
    resolve: async () => ['93.184.216.34'],
    connect: (target, callback) => {
      const { port } = host.address() as AddressInfo;
      dial({ ...target, hostname: '127.0.0.1', port: String(port) }, callback);
    },
  },
});

/** Few enough questions that no limit of the key refuses them. */
const patience = { timeout: 60_000, interval: 500 };

const linkIn = (dialect: Dialect, task: Record<string, unknown>): string => {
  const section = dialect === contents ? task['content'] : task['output'];
  return (section as { video_url: string }).video_url;
};

/** A task that has succeeded, and its link once it is ours. */
async function copied(dialect: Dialect): Promise<{ id: string; link: string; path: string }> {
  const { url } = shared.gateway;
  const { id } = await submitted(url, dialect);
  upstream.end({ status: 'succeeded', usage: dialect === contents ? 100_000 : 5 });
  await awaitEnd(url, dialect, id);
  let link = '';
  await expect
    .poll(async () => {
      link = linkIn(dialect, (await lookAt(url, dialect, id)).json);
      return link;
    }, patience)
    .toContain(`${publicUrl}/v1/results/`);
  return { id, link, path: link.slice(publicUrl.length) };
}

/** Without a key. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(shared.gateway.url + path, { headers, method });
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe.each(dialects)('$name', (dialect) => {
  test('a link to the copy is shown, and plays without a key', async () => {
    const { id, link, path } = await copied(dialect);
    expect(link).toMatch(
      new RegExp(
        `^${publicUrl}/v1/results/${id}/video\\.mp4\\?expires=\\d{10}&signature=[\\w-]{43}$`,
      ),
    );
    const response = await get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    expect(await bytesOf(response)).toEqual(video);
  });

  test('until the copy is there, the vendor’s link is shown', { timeout: 120_000 }, async () => {
    const { url } = shared.gateway;
    isOpen = false;
    const { id } = await submitted(url, dialect);
    upstream.end({ status: 'succeeded', usage: dialect === contents ? 100_000 : 5 });
    const before = fetched;
    const task = await awaitEnd(url, dialect, id);
    expect(linkIn(dialect, task)).toMatch(/^https:\/\/videos\.test\//);
    await expect.poll(() => fetched, patience).toBeGreaterThan(before);
    expect(linkIn(dialect, (await lookAt(url, dialect, id)).json)).toMatch(/^https:\/\/videos\.t/);
    isOpen = true;
    await expect
      .poll(async () => linkIn(dialect, (await lookAt(url, dialect, id)).json), patience)
      .toContain(publicUrl);
    expect(readdirSync(join(folder, id))).toEqual(['video.mp4']);
  });
});

test('the list shows the same link', async () => {
  const { id, link } = await copied(contents);
  const { json } = await callVideo(
    shared.gateway.url,
    `${contents.submitPath}?filter.task_ids=${id}`,
  );
  const [task] = json['items'] as Record<string, unknown>[];
  expect(linkIn(contents, task!)).toBe(link);
});

test('players ask for parts', async () => {
  const { path } = await copied(contents);
  const part = await get(path, { range: 'bytes=10-19' });
  expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 10-19/1000']);
  expect(await bytesOf(part)).toEqual(video.subarray(10, 20));
  const end = await get(path, { range: 'bytes=-5' });
  expect(await bytesOf(end)).toEqual(video.subarray(-5));
  const beyond = await get(path, { range: 'bytes=1000-' });
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */1000']);
  const tag = part.headers.get('etag')!;
  expect((await get(path, { range: 'bytes=0-0', 'if-range': tag })).status).toBe(206);
  expect((await get(path, { range: 'bytes=0-0', 'if-range': '"other"' })).status).toBe(200);
  const head = await get(path, { range: 'bytes=0-0' }, 'HEAD');
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '1000']);
});

test('a link that was changed opens nothing', async () => {
  const { id, path } = await copied(contents);
  const [, expires = ''] = /expires=(\d+)/.exec(path) ?? [];
  const changed = [
    path.replace('video.mp4', 'video.mov'),
    path.replace(
      id,
      id.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    ),
    path.replace(expires, String(Number(expires) + 1)),
    path.slice(0, -1),
    path.replace(/signature=.*/, 'signature='),
    path.replace(/\?.*/, ''),
    `/v1/results/${id}/..%2F..%2Fsluice.db?expires=${expires}&signature=x`,
  ];
  const answers = await Promise.all(changed.map(async (each) => (await get(each)).status));
  expect(answers).toEqual(changed.map(() => 404));
});

test('a copy that is gone is 404', async () => {
  const { id, path } = await copied(contents);
  rmSync(join(folder, id), { recursive: true });
  expect((await get(path)).status).toBe(404);
});
