import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { ask, askRaw } from './client.ts';
import { absence, readRecordings, recordingsFolder } from './recordings.ts';

let folder: string;
let simulator: Simulator;
const sse = ': hi\r\n\r\nevent: a\r\ndata: {"t":"é🚀"}\r\n\r\ndata: [DONE]\r\n\r\n';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recordings-'));
  const stream = {
    status: 200,
    stream: true,
    headers: { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked', 'x-kept': '1' },
    sse,
  };
  const error = {
    status: 429,
    headers: { 'retry-after': '3' },
    body: { error: { message: 'no' } },
  };
  await writeFile(join(folder, 'a-stream.json'), JSON.stringify(stream));
  await writeFile(join(folder, 'an-error.json'), JSON.stringify(error));
  await writeFile(join(folder, '..', 'outside.json'), JSON.stringify(error));
  simulator = await startSimulator({ recordings: folder });
});
afterAll(async () => {
  await simulator.close();
  await rm(folder, { recursive: true });
  await rm(join(folder, '..', 'outside.json'), { force: true });
});

const replay = (id: string) => ({ 'x-simulator-replay': id });

test('a recorded stream comes back byte for byte, however it is sliced', async () => {
  for (const fault of ['', 'slice=1', 'slice=random;seed=9', 'crlf']) {
    const headers = { ...replay('a-stream'), ...(fault && { 'x-simulator-fault': fault }) };
    const response = await askRaw(simulator, 'chat', {}, headers);
    expect(response.body.toString()).toBe(sse);
    expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-kept': '1' });
  }
});

test('a recorded stream can be cut at an event', async () => {
  const headers = { ...replay('a-stream'), 'x-simulator-fault': 'close-at=2' };
  const response = await askRaw(simulator, 'chat', {}, headers);
  expect(response.body.toString()).toBe(sse.slice(0, sse.indexOf('data: [DONE]')));
});

test('a recorded error, asked for by model name', async () => {
  const response = await ask(simulator, 'chat', { model: 'replay:an-error' });
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('3');
  expect(response.json).toEqual({ error: { message: 'no' } });
});

test.each(['../outside', '..%2Foutside', '/etc/passwd', 'a-stream.json', '', '.', 'none'])(
  'the id %o finds nothing',
  async (id) => {
    const response = await ask(simulator, 'chat', { model: `replay:${id}` });
    expect(response.text).not.toContain('"no"');
    expect(response.status).toBe(id === '' ? 200 : 404);
  },
);

describe.skipIf(absence !== null)(`real recordings ${absence ?? ''}`, () => {
  test('all can be replayed', { timeout: 60_000 }, async () => {
    const real = await startSimulator({ recordings: recordingsFolder });
    const recordings = readRecordings();
    expect(recordings.length).toBeGreaterThan(0);
    try {
      for (const { id, status, sse, body } of recordings) {
        const response = await ask(real, 'chat', {}, replay(id));
        const expected: string = sse ?? (typeof body === 'string' ? body : JSON.stringify(body));
        expect([id, response.status]).toEqual([id, status]);
        expect(response.text === expected.replace(/^\ufeff/, '')).toBe(true);
      }
    } finally {
      await real.close();
    }
  });
});
