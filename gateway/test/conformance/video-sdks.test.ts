import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { sendRaw, shareGateway } from '../behaviour/support.ts';
import { awaitEnd, contents, synthesis, type Dialect } from '../behaviour/video-requests.ts';
import { testKey } from '../support/gateway.ts';
import { openVideoUpstream, videoConfig } from '../support/video-upstream.ts';

/*
 * What the vendors' SDKs for Python send, byte for byte: recorded from them, with KEY, MODEL and TASK for what differs.
 * They write many nulls, and declare JSON with a DELETE that has a body.
 */

interface Recorded {
  readonly sdk: string;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

const recorded = JSON.parse(
  readFileSync(new URL('video-sdk-requests.json', import.meta.url), 'utf8'),
) as readonly Recorded[];

const upstream = await openVideoUpstream();
afterAll(() => upstream.close());
const shared = shareGateway({
  config: videoConfig(
    upstream.url,
    `
users: [{ email: tester@example.com, balance: 1000 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  ),
});

/** Sends a recorded request. @returns the status and the parsed body */
async function send(
  { method, path, headers, body }: Recorded,
  { model = '', task = '' }: { model?: string; task?: string },
): Promise<readonly [status: number, body: Record<string, unknown>]> {
  const fill = (text: string) =>
    text.replaceAll('KEY', testKey).replaceAll('MODEL', model).replaceAll('TASK', task);
  const bytes = fill(body);
  const lines = [
    `${method} ${fill(path)} HTTP/1.1`,
    `Host: ${new URL(shared.gateway.url).host}`,
    ...headers.map(([name, value]) =>
      name === 'Connection' ? 'Connection: close' : `${name}: ${fill(value)}`,
    ),
    ...(bytes === '' ? [] : [`Content-Length: ${Buffer.byteLength(bytes)}`]),
  ];
  const client = await sendRaw(shared.gateway.url, `${lines.join('\r\n')}\r\n\r\n${bytes}`);
  await client.ended;
  const [head = '', text = ''] = client.received().split('\r\n\r\n');
  return [Number(head.split(' ')[1]), JSON.parse(text) as Record<string, unknown>];
}

const of = (dialect: Dialect, method: string, isList = false): Recorded => {
  const base = dialect === synthesis ? '/api/v1/' : '/api/v3/';
  const found = recorded.find(
    (each) =>
      each.path.startsWith(base) && each.method === method && each.path.includes('?') === isList,
  );
  if (found === undefined) throw new Error(`no recorded ${method} of ${dialect.name}`);
  return found;
};

test('dashscope: submit, fetch', async () => {
  const [status, accepted] = await send(of(synthesis, 'POST'), { model: 'one' });
  expect([status, accepted['output']]).toMatchObject([200, { task_status: 'PENDING' }]);
  expect(upstream.submits.at(-1)?.body).toEqual({
    model: 'theirs-one',
    parameters: { duration: 5, seed: 3, resolution: '720P' },
    input: {
      prompt: 'A lighthouse',
      extend_prompt: true,
      negative_prompt: 'fog',
      function: 'video-synthesis',
      img_url: 'https://example.com/a.png',
    },
  });
  const task = synthesis.idOf(accepted);
  const [, running] = await send(of(synthesis, 'GET'), { task });
  expect(running['output']).toMatchObject({ task_id: task, task_status: 'PENDING' });
  upstream.end({ status: 'succeeded', usage: 5 });
  await awaitEnd(shared.gateway.url, synthesis, task);
  const [, done] = await send(of(synthesis, 'GET'), { task });
  expect(done).toMatchObject({
    output: { task_status: 'SUCCEEDED', video_url: 'https://videos.test/1.mp4' },
    usage: { duration: 5, video_count: 1, SR: 720 },
  });
});

test('volcengine: create, get, list, delete', async () => {
  const [status, accepted] = await send(of(contents, 'POST'), { model: 'two' });
  expect([status, accepted]).toEqual([200, { id: expect.stringMatching(/^cgt-/) }]);
  const sent = upstream.submits.at(-1)!.body;
  expect(sent).toMatchObject({
    model: 'theirs-two',
    content: [
      { type: 'text', text: 'A lighthouse' },
      {
        type: 'image_url',
        image_url: { url: 'https://example.com/a.png' },
        role: 'first_frame',
      },
    ],
    resolution: '720p',
    ratio: '16:9',
    duration: 5,
    execution_expires_after: 86_400,
  });
  expect(sent).not.toHaveProperty('callback_url');
  expect(sent).not.toHaveProperty('frames');
  const task = contents.idOf(accepted);
  const get = of(contents, 'GET');
  expect(await send(get, { task })).toMatchObject([200, { id: task, model: 'two' }]);
  upstream.end({ status: 'succeeded', usage: 108_900 });
  await awaitEnd(shared.gateway.url, contents, task);
  const [, done] = await send(get, { task });
  expect(done).toMatchObject({
    status: 'succeeded',
    content: { video_url: 'https://videos.test/2.mp4' },
    usage: { completion_tokens: 108_900, total_tokens: 108_900 },
  });
  const [, list] = await send(of(contents, 'GET', true), { task });
  expect(list).toMatchObject({ total: 1, items: [{ id: task }] });
  expect(await send(of(contents, 'DELETE'), { task })).toEqual([200, {}]);
  expect((await send(get, { task }))[0]).toBe(404);
});
