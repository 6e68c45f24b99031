import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
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

const files: Readonly<
  Record<string, readonly [type: string, bytes: Buffer, announced?: number | null]>
> = {
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
  '/large.mp3': ['audio/mpeg', mp3(20), 16 * 2 ** 20],
  '/stored.mp3': ['binary/octet-stream', mp3(31)],
  '/stored.zip': ['binary/octet-stream', Buffer.from('PK')],
  // A picture in its titles, of no announced length.
  '/pictured.mp3': ['audio/mpeg', Buffer.concat([id3(15 * 2 ** 20), mp3(20)]), null],
  // 25 s at 1 MB each.
  '/fine.wav': ['audio/wav', fine(25), null],
};

/** The head of a WAV file of 96 kHz, stereo, of 32 bits and more. */
function fine(seconds: number): Buffer {
  const file = wave(0);
  file.writeUInt32LE(1_000_000, 28);
  file.writeUInt32LE(seconds * 1_000_000, 40);
  return file;
}

function id3(size: number): Buffer {
  const tag = Buffer.alloc(10 + size);
  tag.write('ID3');
  for (const [at, shift] of [21, 14, 7, 0].entries()) tag[6 + at] = (size >>> shift) & 0x7f;
  return tag;
}

let fetched = 0;
function serve({ url = '' }: IncomingMessage, response: ServerResponse): void {
  fetched += 1;
  if (url === '/silent.wav') return;
  const file = files[url];
  if (file === undefined) {
    response.writeHead(404).end();
    return;
  }
  const [type, bytes, length = bytes.length] = file;
  const announced = length === null ? {} : { 'content-length': length };
  response.writeHead(200, { 'content-type': type, ...announced });
  response.write(bytes);
  if (length === null || length === bytes.length) response.end();
}
const host = createServer({ cert: pem('cert'), key: pem('key') }, serve);
const plainHost = createPlainServer(serve);
const dial = buildConnector({ rejectUnauthorized: false, allowH2: false });
const upstream = await openVideoUpstream();
beforeAll(async () => {
  for (const each of [host, plainHost]) await once(each.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  for (const each of [host, plainHost]) {
    each.closeAllConnections();
    each.close();
  }
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
      const { port } = (target.protocol === 'http:' ? plainHost : host).address() as AddressInfo;
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

test.each(['https://sounds.example', 'http://sounds.example'])(
  'what has the right length is sent on, from %s',
  async (origin) => {
    const [before, asked] = [upstream.submits.length, fetched];
    for (const name of ['3.wav', '30.wav', '30.mp3']) {
      expect([name, (await submitWith(`${origin}/${name}`)).status]).toEqual([name, 200]);
    }
    expect(upstream.submits.length).toBe(before + 3);
    expect(fetched).toBe(asked + 3);
  },
);

const form = 'input.audio_url must be a WAV or an MP3 file';
const length = 'the audio at input.audio_url must last 3 to 30 seconds';

const size = 'the audio at input.audio_url must have at most 15 MB';

test.each([
  ['https', '2.wav', length],
  ['http', '2.wav', length],
  ['https', '31.wav', length],
  ['https', '31.mp3', length],
  ['https', 'stored.mp3', length],
  ['https', '5.ogg', form],
  ['https', 'picture.wav', form],
  ['https', 'large.mp3', size],
  ['http', 'large.mp3', size],
  ['https', 'pictured.mp3', size],
  ['https', 'fine.wav', size],
])('%s://…/%s is refused: nothing is sent, nothing is held', async (scheme, name, message) => {
  const [before, held] = [upstream.submits.length, await heldOf(shared.gateway)];
  const { status, json } = await submitWith(`${scheme}://sounds.example/${name}`);
  expect([status, json['code'], json['message']]).toEqual([400, 'InvalidParameter', message]);
  expect(upstream.submits.length).toBe(before);
  expect(await heldOf(shared.gateway)).toBe(held);
});

test.each([
  ['an address that does not exist', 'https://sounds.example/absent.wav'],
  ['a page', 'https://sounds.example/page.wav'],
  ['a file without a length', 'https://sounds.example/unknown.wav'],
  ['a file of no type that is not a sound', 'https://sounds.example/stored.zip'],
  ['a host that never answers', 'https://sounds.example/silent.wav'],
])('%s is left to the upstream', async (_, address) => {
  const before = upstream.submits.length;
  expect((await submitWith(address)).status).toBe(200);
  expect(upstream.submits.length).toBe(before + 1);
});

test.each(['http://inside.example/2.wav', 'https://inside.example/2.wav'])(
  '%s is not fetched and is left to the upstream',
  async (address) => {
    const [before, asked] = [upstream.submits.length, fetched];
    expect((await submitWith(address)).status).toBe(200);
    expect(upstream.submits.length).toBe(before + 1);
    expect(fetched).toBe(asked);
  },
);
