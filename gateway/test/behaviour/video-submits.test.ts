import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { answerText, openVideoUpstream, videoConfig } from '../support/video-upstream.ts';
import { shareGateway } from './support.ts';
import {
  callVideo,
  contents,
  dialects,
  heldOf,
  rowsOf,
  submitted,
  submitVideo,
  synthesis,
  type Dialect,
} from './video-requests.ts';
import { noonZone } from '../support/time-zones.ts';

const upstream = await openVideoUpstream();
afterAll(() => upstream.close());
const accept = upstream.onSubmit;
beforeEach(() => {
  upstream.onSubmit = accept;
});

const poor = 'sk-poor-0123456789abcdefghijklmnopqrstuvwx';
const narrow = 'sk-narrow-0123456789abcdefghijklmnopqrstuv';
const slow = 'sk-slow-0123456789abcdefghijklmnopqrstuvwx';
const teamed = 'sk-teamed-0123456789abcdefghijklmnopqrstuv';
const capped = 'sk-capped-0123456789abcdefghijklmnopqrstuv';

/** Room for one video of each dialect. */
const roomKeys = {
  'video-synthesis': 'sk-room-one-0123456789abcdefghijklmnopqrstuv',
  'video-contents': 'sk-room-two-0123456789abcdefghijklmnopqrstuv',
} as const;

const statuses = [400, 401, 403, 429, 500, 502, 503] as const;
const cuts = ['cut', 'broken', 'empty', 'words', '504'] as const;

const extra = `
  - { id: unpriced, type: video }
  - { id: talk, type: chat, price: { input: 1, output: 2 } }
  - { id: asleep, type: video, enabled: false, price: { video_second: { 720P: 0.1 } } }
  - { id: nowhere, type: video, price: { video_second: { 720P: 0.1 } } }
  - { id: nowhere-2, type: video, price: { video_tokens: { 720P: { text: 7, with_video: 4 } } } }
users:
  - { email: tester@example.com, balance: 1000 }
  - { email: poor@example.com, balance: 0.3 }
  - { email: one@example.com, balance: 0.99 }
  - { email: two@example.com, balance: 1.6 }
teams:
  - { name: crew, balance: 100, time_zone: ${noonZone}, budget: { daily: 0.3 }, members: [{ user: tester@example.com }] }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: poor, user: poor@example.com, secret: ${poor} }
  - { name: one, user: one@example.com, secret: ${roomKeys['video-synthesis']} }
  - { name: two, user: two@example.com, secret: ${roomKeys['video-contents']} }
  - { name: narrow, user: tester@example.com, secret: ${narrow}, models: [talk] }
  - { name: slow, user: tester@example.com, secret: ${slow}, rpm: 0 }
  - { name: teamed, user: tester@example.com, team: crew, secret: ${teamed} }
  - { name: capped, user: tester@example.com, secret: ${capped}, quota: 0.3 }
`;

const shared = shareGateway({
  config: videoConfig(
    upstream.url,
    extra,
    [...statuses, ...cuts, 'said'].map((end) => `-${end}`),
  ),
});

async function uncertainSubmits(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^sluice_video_submits_uncertain_total (\d+)$/m.exec(text)?.[1]);
}

const other = (dialect: Dialect): Dialect => (dialect === synthesis ? contents : synthesis);

describe.each(dialects)('$name', (dialect) => {
  test('an accepted submit is sent once, as it came but for what is priced', async () => {
    const before = upstream.submits.length;
    const body = {
      ...dialect.body('MODEL', { resolution: '720p', seconds: 7 }),
      unknown: { deep: [1.0] },
    };
    const text = JSON.stringify(body)
      .replace('"MODEL"', ` "${dialect.model}" `)
      .replace('{"deep":[1]}', '{"deep" : [ 1.0, 12345678901234567890 ]}');
    const response = await callVideo(shared.gateway.url, dialect.submitPath, {
      method: 'POST',
      headers: { ...dialect.headers, 'user-agent': 'maker/1' },
      body: text,
    });
    expect([response.status, response.requestId]).toEqual([200, expect.stringMatching(/^req_/)]);
    const id = dialect.idOf(response.json);
    expect(response.text).not.toContain('upstream-');
    expect(id).not.toBe('');
    const sent = upstream.submits.slice(before);
    expect(sent.length).toBe(1);
    const [submit] = sent;
    expect(submit?.text).toContain('{"deep" : [ 1.0, 12345678901234567890 ]}');
    expect(submit?.body['model']).toBe(`theirs-${dialect.model}`);
    expect(submit?.headers).toMatchObject({
      authorization: `Bearer secret-${dialect.model}`,
      'content-type': 'application/json',
      'user-agent': 'maker/1',
      connection: 'close',
      ...(dialect === synthesis && { 'x-dashscope-async': 'enable' }),
    });
  });

  test('a large body is read in a thread, and is sent as it came', async () => {
    const before = upstream.submits.length;
    const image = `data:image/png;base64,${Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      Buffer.alloc(3 * 2 ** 20, 7),
    ]).toString('base64')}`;
    const body = dialect.body(dialect.model, { resolution: '720P', seconds: 5 });
    if (dialect === synthesis) Object.assign(body['input'] as object, { img_url: image });
    else (body['content'] as object[]).push({ type: 'image_url', image_url: { url: image } });
    const response = await callVideo(shared.gateway.url, dialect.submitPath, {
      method: 'POST',
      headers: dialect.headers,
      body,
    });
    expect([response.status, response.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
    expect(upstream.submits.length).toBe(before + 1);
    expect(upstream.submits.at(-1)?.text).toContain(image);
    const bad = {
      ...body,
      ...(dialect === synthesis ? { parameters: { duration: 99 } } : { seed: -2 }),
    };
    const refused = await callVideo(shared.gateway.url, dialect.submitPath, {
      method: 'POST',
      headers: dialect.headers,
      body: bad,
    });
    expect(refused.status).toBe(400);
    expect(upstream.submits.length).toBe(before + 1);
  });

  const notAvailable = (model: string) =>
    `model '${model}' is not available, please use a different model`;
  const otherModel = other(dialect).model;

  test.each<[string, Record<string, unknown> | string, string, number, string, string]>([
    ['no JSON', '{"model":', testKey, 400, 'InvalidParameter', 'invalid request body'],
    ['no model', {}, testKey, 400, 'InvalidParameter', 'model is required'],
    ['another dialect', dialect.body(otherModel), testKey, 400, '', notAvailable(otherModel)],
    ['another type', dialect.body('talk'), testKey, 400, '', notAvailable('talk')],
    ['an unknown model', dialect.body('nobody'), testKey, 400, '', notAvailable('nobody')],
    [
      'no price',
      dialect.body('unpriced'),
      testKey,
      400,
      '',
      `${notAvailable('unpriced')}: no price is set`,
    ],
    [
      'no channel',
      dialect.body(dialect === synthesis ? 'nowhere' : 'nowhere-2'),
      testKey,
      400,
      '',
      notAvailable(dialect === synthesis ? 'nowhere' : 'nowhere-2'),
    ],
    [
      'a model that is asleep',
      dialect.body('asleep'),
      testKey,
      403,
      '',
      "model 'asleep' is not available",
    ],
    [
      'a model that the key may not use',
      dialect.body(dialect.model),
      narrow,
      403,
      '',
      `model '${dialect.model}' is not allowed for this API key`,
    ],
    [
      'a resolution without a price',
      dialect.body(dialect.model, { resolution: dialect === synthesis ? '4K' : '1080P' }),
      testKey,
      400,
      'InvalidParameter',
      dialect === synthesis ? 'resolution' : 'resolution 1080P is not available for this model',
    ],
    [
      '480P, which the model does not list',
      dialect.body(dialect === synthesis ? 'nowhere' : 'nowhere-2', { resolution: '480P' }),
      testKey,
      400,
      'InvalidParameter',
      'resolution 480P is not available for this model',
    ],
    ['little money', dialect.body(dialect.model), poor, 402, '', 'insufficient balance'],
    ['little quota', dialect.body(dialect.model), capped, 402, '', 'key quota limit exceeded'],
    ['a small budget', dialect.body(dialect.model), teamed, 429, '', 'team daily budget exceeded'],
    ['a rate', dialect.body(dialect.model), slow, 429, '', 'rate limit exceeded'],
    ['an unknown key', dialect.body(dialect.model), `${poor}9`, 401, '', 'invalid api key'],
  ])('%s: refused, nothing sent, nothing held', async (_, body, key, status, code, message) => {
    const { gateway } = shared;
    const [sent, held] = [upstream.submits.length, await heldOf(gateway)];
    const response = await callVideo(gateway.url, dialect.submitPath, {
      method: 'POST',
      body,
      headers: dialect.headers,
      key,
    });
    const [ownCode, ownMessage] = dialect.errorOf(response.json);
    expect([response.status, ownMessage]).toEqual([status, expect.stringContaining(message)]);
    if (code !== '') expect(ownCode).toBe(code);
    expect(response.requestId).toMatch(/^req_/);
    expect(upstream.submits.length).toBe(sent);
    expect(await heldOf(gateway)).toBe(held);
    const { kysely } = gateway.app.database;
    const tasks = kysely.selectFrom('tasks').select('id');
    expect(await tasks.where('request_id', '=', response.requestId).execute()).toEqual([]);
    const rows = await rowsOf(gateway, response.requestId);
    expect(rows.filter(({ outcome }) => outcome !== 'refused')).toEqual([]);
  });

  const answers: Readonly<Record<(typeof statuses)[number], number>> = {
    400: 400,
    401: 502,
    403: 502,
    429: 429,
    500: 502,
    502: 502,
    503: 529,
  };

  test.each(statuses)('a %i of the upstream', async (theirs) => {
    const { gateway } = shared;
    const held = await heldOf(gateway);
    const before = upstream.submits.length;
    upstream.onSubmit = (_submit, response) => {
      const headers = theirs === 429 ? { 'retry-after': '7' } : {};
      response.writeHead(theirs, headers).end('{"code":"X","message":"their words"}');
    };
    const model = `${dialect.model}-${theirs}`;
    const response = await submitVideo(gateway.url, dialect, { model });
    const status = answers[theirs];
    expect(response.status).toBe(status);
    expect(response.text).not.toContain('their words');
    expect(response.headers.get('retry-after')).toBe(status === 429 ? '7' : null);
    expect(upstream.submits.length).toBe(before + 1);
    expect(await heldOf(gateway)).toBe(held);
    expect(await rowsOf(gateway, response.requestId)).toMatchObject([
      { outcome: 'failed', status, cost: null, attempts: [{ status: theirs }] },
    ]);
  });

  const answersOf: Readonly<
    Record<(typeof cuts)[number], (response: Parameters<typeof accept>[1]) => void>
  > = {
    cut: (response) => void response.socket?.resetAndDestroy(),
    broken: (response) => void response.writeHead(200).write('{"id', () => void response.destroy()),
    empty: (response) => answerText(response, '{"ok":true}'),
    words: (response) => answerText(response, 'accepted'),
    504: (response) => void response.writeHead(504).end('{}'),
  };

  test('an error with status 200 is an error: nothing was accepted', async () => {
    const { gateway } = shared;
    const held = await heldOf(gateway);
    const error = { code: 'InvalidParameter', message: 'their words' };
    upstream.onSubmit = (_submit, response) =>
      answerText(response, JSON.stringify(dialect === synthesis ? error : { error }));
    const response = await submitVideo(gateway.url, dialect, { model: `${dialect.model}-said` });
    expect(response.status).toBe(400);
    expect(await heldOf(gateway)).toBe(held);
    expect(await rowsOf(gateway, response.requestId)).toMatchObject([
      { outcome: 'failed', status: 400, attempts: [{ class: 'started' }] },
    ]);
  });

  test('unusable responses are 502, nothing is repeated, and the money is held for half a minute', async () => {
    const { gateway } = shared;
    const tasks = gateway.app.database.kysely;
    const held = await heldOf(gateway);
    const counted = await uncertainSubmits(gateway.url);
    const ids: string[] = [];
    for (const cut of cuts) {
      const before = upstream.submits.length;
      upstream.onSubmit = (_submit, response) => answersOf[cut](response);
      const response = await submitVideo(gateway.url, dialect, {
        model: `${dialect.model}-${cut}`,
      });
      expect([cut, response.status]).toEqual([cut, 502]);
      expect(upstream.submits.length).toBe(before + 1);
      expect(await rowsOf(gateway, response.requestId)).toEqual([]);
      ids.push(response.requestId);
    }
    expect(await heldOf(gateway)).toBeGreaterThan(held);
    expect(await uncertainSubmits(gateway.url)).toBe(counted + cuts.length);

    const open = await tasks
      .selectFrom('tasks')
      .selectAll()
      .where('request_id', 'in', ids)
      .execute();
    expect(open.map(({ due_at, created_at }) => due_at! - created_at >= 30_000)).toEqual(
      cuts.map(() => true),
    );
    await tasks.updateTable('tasks').set({ due_at: 0 }).where('request_id', 'in', ids).execute();
    for (const id of ids) {
      await expect
        .poll(() => rowsOf(gateway, id), { timeout: 20_000 })
        .toMatchObject([
          {
            outcome: 'failed',
            status: 502,
            error: 'upstream_abnormal',
            cost: null,
            attempts: [{ channel: expect.any(String), class: 'uncertain' }],
          },
        ]);
    }
  });

  test('of parallel submits with money for one, one is admitted', async () => {
    const { gateway } = shared;
    const before = upstream.submits.length;
    const key = roomKeys[dialect.name];
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => submitVideo(gateway.url, dialect, {}, { key })),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 402, 402, 402, 402, 402, 402, 402,
    ]);
    expect(upstream.submits.length).toBe(before + 1);
  });

  test('the hold of an accepted task is that of its whole bound', async () => {
    const { gateway } = shared;
    const held = await heldOf(gateway);
    const { requestId } = await submitted(gateway.url, dialect, { resolution: '720P', seconds: 5 });
    const bound = dialect === synthesis ? 500_000_000n : 820_316_000n;
    const meters = ((await heldOf(gateway)) - held) / bound;
    expect((await heldOf(gateway)) - held).toBe(bound * meters);
    expect(meters).toBeGreaterThan(0n);
    expect(await rowsOf(gateway, requestId)).toEqual([]);
  });
});
