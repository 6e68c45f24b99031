import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buildConnector } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mp3, wave } from '../support/sounds.ts';
import { testKey } from '../support/gateway.ts';
import { openVideoUpstream, videoConfig } from '../support/video-upstream.ts';
import { shareGateway } from './support.ts';
import { callVideo, heldOf, synthesis, type VideoResponse } from './video-requests.ts';

/* The sound that a video is made to, at an address. */

const pem = (name: string) =>
  readFileSync(new URL(`../http/fixtures/localhost-${name}.pem`, import.meta.url));

const files: Readonly<Record<string, readonly [type: string, bytes: Buffer]>> = {
  '/3.wav': ['audio/wav', wave(3)],
  '/30.wav': ['audio/x-wav', wave(30)],
  '/30.mp3': ['audio/mpeg', mp3(30)],
  '/2.wav': ['audio/wav', wave(2)],
  '/31.wav': ['audio/wav', wave(31)],
  '/31.mp3': ['audio/mpeg', mp3(31)],
  '/5.ogg': ['audio/ogg', Buffer.concat([Buffer.from('OggS'), Buffer.alloc(9_000, 1)])],
  '/picture.wav': ['image/png', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  '/unknown.wav': ['audio/wav', wave(3).subarray(0, 20)],
  '/page.wav': ['text/html', Buffer.from('<html>')],
  '/large.mp3': ['audio/mpeg', Buffer.alloc(16 * 2 ** 20)],
};
let fetched = 0;
const host = createServer({ cert: pem('cert'), key: pem('key') }, ({ url = '' }, response) => {
  fetched += 1;
  if (url === '/silent.wav') return;
  const file = files[url];
  if (file === undefined) response.writeHead(404).end();
  else {
    const [type, bytes] = file;
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.length }).end(bytes);
  }
});
const dial = buildConnector({ rejectUnauthorized: false, allowH2: false });
const upstream = await openVideoUpstream();
beforeAll(() => new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve)));
afterAll(async () => {
  host.closeAllConnections();
  host.close();
  await upstream.close();
});

const shared = shareGateway({
  config: videoConfig(
    upstream.url,
    `
users: [{ email: tester@example.com, balance: 1000 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  ),
  mediaFetch: {
    resolve: async (name) => (name === 'inside.example' ? ['10.0.0.1'] : ['93.184.216.34']),
    connect: (target, callback) => {
      const { port } = host.address() as AddressInfo;
      dial({ ...target, hostname: '127.0.0.1', port: String(port) }, callback);
    },
  },
});

const submitWith = (audioUrl: string): Promise<VideoResponse> =>
  callVideo(shared.gateway.url, synthesis.submitPath, {
    method: 'POST',
    headers: synthesis.headers,
    body: { model: synthesis.model, input: { prompt: 'a boat', audio_url: audioUrl } },
  });

test.each(['3.wav', '30.wav', '30.mp3'])('%s is sent on', async (name) => {
  const before = upstream.submits.length;
  expect((await submitWith(`https://sounds.example/${name}`)).status).toBe(200);
  expect(upstream.submits.length).toBe(before + 1);
});

const form = 'input.audio_url must be a WAV or an MP3 file';
const length = 'the audio at input.audio_url must last 3 to 30 seconds';

test.each([
  ['2.wav', length],
  ['31.wav', length],
  ['31.mp3', length],
  ['5.ogg', form],
  ['picture.wav', form],
])('%s is refused: nothing is sent, nothing is held', async (name, message) => {
  const [before, held] = [upstream.submits.length, await heldOf(shared.gateway)];
  const { status, json } = await submitWith(`https://sounds.example/${name}`);
  expect([status, json['code'], json['message']]).toEqual([400, 'InvalidParameter', message]);
  expect(upstream.submits.length).toBe(before);
  expect(await heldOf(shared.gateway)).toBe(held);
});

test.each([
  ['an address that does not exist', 'https://sounds.example/absent.wav'],
  ['a page', 'https://sounds.example/page.wav'],
  ['a file without a length', 'https://sounds.example/unknown.wav'],
  ['a file that is too large', 'https://sounds.example/large.mp3'],
  ['a host that never answers', 'https://sounds.example/silent.wav'],
])('%s is left to the upstream', async (_, address) => {
  const before = upstream.submits.length;
  expect((await submitWith(address)).status).toBe(200);
  expect(upstream.submits.length).toBe(before + 1);
});

test.each(['http://sounds.example/2.wav', 'https://inside.example/2.wav'])(
  '%s is not fetched and is left to the upstream',
  async (address) => {
    const [before, asked] = [upstream.submits.length, fetched];
    expect((await submitWith(address)).status).toBe(200);
    expect(upstream.submits.length).toBe(before + 1);
    expect(fetched).toBe(asked);
  },
);
