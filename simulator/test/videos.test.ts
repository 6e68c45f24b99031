import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import type { Json } from './client.ts';

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ clock: () => Date.UTC(2026, 10, 22, 2, 50, 12, 718) });
});
afterEach(() => simulator.close());

interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly key?: string;
}

async function ask(path: string, { method = 'GET', body, headers = {}, key = 'k' }: Asked = {}) {
  const response = await fetch(simulator.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const json = (await response.json()) as Json;
  return { status: response.status, json };
}

const enable = { 'x-dashscope-async': 'enable' };
const synthesis = '/api/v1/services/aigc/video-generation/video-synthesis';
const contents = '/api/v3/contents/generations/tasks';

const submitSynthesis = (changes: object = {}, asked: Asked = {}) =>
  ask(synthesis, {
    method: 'POST',
    body: { model: 'demo-video-1', input: { prompt: 'a cat' }, ...changes },
    headers: enable,
    ...asked,
  });
const submitContents = (changes: object = {}, asked: Asked = {}) =>
  ask(contents, {
    method: 'POST',
    body: { model: 'demo-video-2', content: [{ type: 'text', text: 'a cat' }], ...changes },
    ...asked,
  });

async function newSynthesis(changes: object = {}): Promise<string> {
  return (await submitSynthesis(changes)).json.output.task_id;
}

async function newContents(changes: object = {}): Promise<string> {
  return (await submitContents(changes)).json.id;
}

const lookAt = (id: string, asked: Asked = {}) => ask(`/api/v1/tasks/${id}`, asked);

describe('dashscope', () => {
  test('a task is queued, runs and succeeds', async () => {
    const { status, json } = await submitSynthesis({
      parameters: { resolution: '720P', duration: 5 },
    });
    expect(status).toBe(200);
    expect(json.output.task_status).toBe('PENDING');
    const { task_id: id } = json.output;
    expect((await lookAt(id)).json.output).toEqual({
      task_id: id,
      task_status: 'PENDING',
      submit_time: '2026-11-22 10:50:12.718',
    });
    simulator.advance(1_000);
    expect((await lookAt(id)).json.output.task_status).toBe('RUNNING');
    simulator.advance(3_000);
    const { json: end } = await lookAt(id);
    expect(end.output).toMatchObject({
      task_status: 'SUCCEEDED',
      end_time: '2026-11-22 10:50:16.718',
      orig_prompt: 'a cat',
    });
    expect(end.usage).toEqual({
      duration: 5,
      output_video_duration: 5,
      input_video_duration: 0,
      SR: 720,
      video_count: 1,
    });
    const video = await fetch(end.output.video_url);
    expect(video.headers.get('content-type')).toBe('video/mp4');
    const bytes = Buffer.from(await video.arrayBuffer());
    expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
    const part = await fetch(end.output.video_url, { headers: { range: 'bytes=4-7' } });
    expect([part.status, await part.text()]).toEqual([206, 'ftyp']);
    const beyond = await fetch(end.output.video_url, { headers: { range: 'bytes=999999-' } });
    expect(beyond.status).toBe(416);
  });

  test('the header for tasks belongs to the submit and to nothing else', async () => {
    expect(await submitSynthesis({}, { headers: {} })).toMatchObject({
      status: 403,
      json: { code: 'AccessDenied', message: expect.stringContaining('synchronous calls') },
    });
    const id = await newSynthesis();
    expect(await lookAt(id, { headers: enable })).toMatchObject({
      status: 403,
      json: { code: 'AccessDenied', message: expect.stringContaining('asynchronous calls') },
    });
  });

  test.each<[string, object]>([
    ['no input', { input: undefined }],
    ['an empty input', { input: {} }],
    ['a prompt that is a number', { input: { prompt: 1 } }],
    ['an address of another scheme', { input: { img_url: 'ftp://a/b.png' } }],
    ['a duration below the range', { parameters: { duration: 2 } }],
    ['a duration above the range', { parameters: { duration: 16 } }],
    ['a fractional duration', { parameters: { duration: 5.5 } }],
    ['a duration as text', { parameters: { duration: '5' } }],
    ['a resolution in lower case', { parameters: { resolution: '720p' } }],
    ['a resolution beside a size', { parameters: { resolution: '720P', size: '1280*720' } }],
    ['a size of no tier', { parameters: { size: '9000*9000' } }],
    ['a flag that is a text', { parameters: { prompt_extend: 'true' } }],
  ])('%s is refused, and no task is made', async (_what, changes) => {
    expect((await submitSynthesis(changes)).status).toBe(400);
    expect(simulator.tasks()).toEqual([]);
  });

  test('unknown members pass', async () => {
    const { status } = await submitSynthesis({ parameters: { shot_type: 'multi' }, extra: 1 });
    expect(status).toBe(200);
  });

  test('an unknown id, and another credential’s, is unknown with 200', async () => {
    const id = await newSynthesis();
    const unknown = await lookAt('5f2c6b1e-0000-4000-8000-000000000000');
    expect(unknown).toMatchObject({ status: 200, json: { output: { task_status: 'UNKNOWN' } } });
    expect((await lookAt(id, { key: 'other' })).json.output.task_status).toBe('UNKNOWN');
  });

  test('a failure is flat', async () => {
    const id = await newSynthesis({ model: 'video-1-failing' });
    simulator.advance(5_000);
    const { status, json } = await lookAt(id);
    expect(status).toBe(200);
    expect(json.output).toMatchObject({ task_status: 'FAILED', code: 'DataInspectionFailed' });
  });

  test('a queued task can be cancelled, a running one cannot', async () => {
    const [first, second] = [await newSynthesis(), await newSynthesis()];
    expect((await ask(`/api/v1/tasks/${first}/cancel`, { method: 'POST', body: {} })).status).toBe(
      200,
    );
    expect((await lookAt(first)).json.output.task_status).toBe('CANCELED');
    simulator.advance(1_500);
    const late = await ask(`/api/v1/tasks/${second}/cancel`, { method: 'POST', body: {} });
    expect(late).toMatchObject({ status: 400, json: { code: 'UnsupportedOperation' } });
  });

  test('a credential may look twenty times a second', async () => {
    const id = await newSynthesis();
    for (let time = 0; time < 20; time += 1) expect((await lookAt(id)).status).toBe(200);
    expect(await lookAt(id)).toMatchObject({
      status: 429,
      json: { code: 'Throttling.RateQuota' },
    });
    simulator.advance(1_000);
    expect((await lookAt(id)).status).toBe(200);
  });

  test.each([
    ['video-1-absurd', 1e15],
    ['video-1-negative', -7],
    ['video-1-fractional', 0.5],
    ['video-1-textual', 'a lot'],
  ])('%s reports what no video has', async (model, duration) => {
    const id = await newSynthesis({ model });
    simulator.advance(5_000);
    expect((await lookAt(id)).json.usage.duration).toBe(duration);
  });

  test('usage: none, of an older model, and as the prompt says', async () => {
    const bare = await newSynthesis({ model: 'video-1-bare' });
    const old = await newSynthesis({ model: 'wan2.5-i2v' });
    const told = await newSynthesis({ input: { prompt: 'a cat, generates 5.04 seconds' } });
    simulator.advance(5_000);
    expect((await lookAt(bare)).json.usage).toBeUndefined();
    expect((await lookAt(old)).json.usage).toMatchObject({ video_duration: 5 });
    expect((await lookAt(told)).json.usage.duration).toBe(5.04);
  });

  test('strange states come and go', async () => {
    const id = await newSynthesis({ model: 'video-1-strange' });
    const seen: string[] = [];
    for (const step of [0, 1_000, 1_000, 1_000, 1_000]) {
      simulator.advance(step);
      seen.push((await lookAt(id)).json.output.task_status);
    }
    expect(seen).toEqual(['PENDING', 'SUSPENDED', 'UNKNOWN', 'RUNNING', 'SUCCEEDED']);
  });
});

describe('ark', () => {
  test('a task is queued, runs and succeeds', async () => {
    const id = await newContents({ resolution: '720p', duration: 5, seed: 3 });
    expect(id).toMatch(/^cgt-20261122025012-[0-9a-f]{5}$/);
    const look = async () => (await ask(`${contents}/${id}`)).json;
    expect(await look()).toMatchObject({ id, status: 'queued' });
    simulator.advance(1_000);
    expect((await look()).status).toBe('running');
    simulator.advance(3_000);
    expect(await look()).toMatchObject({
      status: 'succeeded',
      content: { video_url: expect.stringMatching(/^http:.*\.mp4\?/) },
      usage: { completion_tokens: 108_000, total_tokens: 108_000 },
      created_at: 1_795_315_812,
      seed: 3,
      resolution: '720p',
      duration: 5,
      framespersecond: 24,
    });
  });

  test.each<[string, object]>([
    ['no content', { content: [] }],
    ['an unknown member', { frames: 121 }],
    ['the gateway’s own members', { prompt: 'a cat' }],
    ['an unknown type', { content: [{ type: 'draft_task' }] }],
    ['an empty text', { content: [{ type: 'text', text: '' }] }],
    [
      'an unknown role',
      { content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' }, role: 'x' }] },
    ],
    ['a resolution in upper case', { resolution: '720P' }],
    ['an unknown ratio', { ratio: '5:5' }],
    ['a duration as text', { duration: '5' }],
    ['a duration below the range', { duration: 3 }],
    ['a seed beyond the range', { seed: 2 ** 32 }],
    ['a short expiry', { execution_expires_after: 60 }],
  ])('%s is refused, and no task is made', async (_what, changes) => {
    expect(await submitContents(changes)).toMatchObject({
      status: 400,
      json: { error: { code: expect.stringMatching(/Parameter$/) } },
    });
    expect(simulator.tasks()).toEqual([]);
  });

  test('many tasks are listed with one call, those of the credential only', async () => {
    const ids = [await newContents(), await newContents(), await newContents()];
    const query = ids
      .slice(0, 2)
      .map((id) => `filter.task_ids=${id}`)
      .join('&');
    const { json } = await ask(`${contents}?page_size=100&${query}`);
    expect(json.total).toBe(2);
    expect(json.items.map(({ id }: { id: string }) => id)).toEqual([ids[1], ids[0]]);
    expect((await ask(contents, { key: 'other' })).json).toEqual({ total: 0, items: [] });
    expect((await ask(`${contents}?page_size=501`)).status).toBe(400);
    expect((await ask(`${contents}?filter.status=running`)).json.total).toBe(0);
  });

  test('a queued task is cancelled by DELETE, a running one is refused, a final one is removed', async () => {
    const [queued, other] = [await newContents(), await newContents()];
    const remove = (id: string) => ask(`${contents}/${id}`, { method: 'DELETE' });
    expect(await remove(queued)).toEqual({ status: 200, json: {} });
    expect((await ask(`${contents}/${queued}`)).json.status).toBe('cancelled');
    simulator.advance(1_500);
    expect((await remove(other)).status).toBe(400);
    simulator.advance(5_000);
    expect((await remove(other)).status).toBe(200);
    expect((await ask(`${contents}/${other}`)).status).toBe(404);
  });

  test('a task that takes too long expires; one without an expiry of its own may succeed late', async () => {
    const stuck = await newContents({ model: 'video-2-late', execution_expires_after: 86_400 });
    const late = await newContents({ model: 'video-2-late' });
    simulator.advance(86_400_000);
    expect((await ask(`${contents}/${stuck}`)).json.status).toBe('expired');
    expect((await ask(`${contents}/${late}`)).json.status).toBe('running');
    simulator.advance(3_600_000);
    expect((await ask(`${contents}/${late}`)).json.status).toBe('succeeded');
  });

  test('other spellings of the first states', async () => {
    const id = await newContents({ model: 'video-2-strange' });
    expect((await ask(`${contents}/${id}`)).json.status).toBe('pending');
    simulator.advance(1_000);
    expect((await ask(`${contents}/${id}`)).json.status).toBe('processing');
    simulator.advance(1_000);
    expect((await ask(`${contents}/${id}`)).status).toBe(404);
  });
});

test('tasks in a file are known to other processes, and to those that come later', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'simulator-'));
  const tasks = join(folder, 'tasks.jsonl');
  const first = await startSimulator({ tasks });
  const second = await startSimulator({ tasks });
  try {
    const body = { model: 'demo-video-2', content: [{ type: 'text', text: 'a cat' }] };
    const headers = { authorization: 'Bearer k' };
    const made = await fetch(first.url + contents, {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
    });
    const { id } = (await made.json()) as Json;
    await first.close();
    second.advance(5_000);
    const look = await fetch(`${second.url}${contents}/${id}`, { headers });
    expect(await look.json()).toMatchObject({ id, status: 'succeeded' });
    await fetch(`${second.url}${contents}/${id}`, { method: 'DELETE', headers });
    expect((await fetch(`${second.url}${contents}/${id}`, { headers })).status).toBe(404);
  } finally {
    await second.close();
    rmSync(folder, { recursive: true });
  }
});

describe('faults', () => {
  test('a submit that a fault refuses makes nothing; one that is not answered does', async () => {
    const refused = { headers: { ...enable, 'x-simulator-fault': 'status=503' } };
    expect((await submitSynthesis({}, refused)).status).toBe(503);
    expect(simulator.tasks()).toEqual([]);
    const cut = { headers: { ...enable, 'x-simulator-fault': 'cut-at=0' } };
    await expect(submitSynthesis({}, cut)).rejects.toThrow(/terminated|fetch failed/);
    expect(simulator.tasks()).toMatchObject([{ vendor: 'dashscope', state: 'queued' }]);
  });

  test('a fault of looks concerns no submit', async () => {
    simulator.setLookFault('status=429;retry-after=7');
    const id = await newContents();
    expect((await ask(`${contents}/${id}`)).status).toBe(429);
    simulator.setLookFault('');
    expect((await ask(`${contents}/${id}`)).status).toBe(200);
  });

  test('a test in another process sets the clock and the fault of looks by HTTP', async () => {
    const id = await newContents();
    expect((await ask('/__clock?advance=4000', { method: 'POST' })).status).toBe(200);
    expect((await ask(`${contents}/${id}`)).json.status).toBe('succeeded');
    expect((await ask('/__look-fault?is=status%3D500', { method: 'POST' })).status).toBe(200);
    expect((await ask(`${contents}/${id}`)).status).toBe(500);
    const listed = (await ask('/__tasks')).json;
    expect(listed).toMatchObject([
      { id, credential: 'k', looks: 2, body: { model: 'demo-video-2' } },
    ]);
  });
});
