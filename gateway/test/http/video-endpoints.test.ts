import { describe, expect, test } from 'vitest';
import type { TaskView } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { bearer, call, startGateway, type GatewaySettings } from './support.ts';

const submits = [
  '/v1/services/aigc/video-generation/video-synthesis',
  '/api/v1/services/aigc/video-generation/video-synthesis',
] as const;
const contents = '/api/v3/contents/generations/tasks';

const ids = {
  'video-synthesis': '7b0e1d9c-5a1f-4c1e-9d3a-0b2c4d6e8f10',
  'video-contents': 'cgt-20261122105012-k3v9a8b7c6d5e4f3g2h1',
} as const;

const paths = [
  ['video-synthesis', `/v1/tasks/${ids['video-synthesis']}`],
  ['video-synthesis', `/api/v1/tasks/${ids['video-synthesis']}`],
  ['video-contents', `${contents}/${ids['video-contents']}`],
] as const;

const taskOf = (protocol: keyof typeof ids): TaskView => ({
  id: ids[protocol],
  model: 'm',
  state: 'running',
  createdAt: Date.UTC(2026, 10, 22),
  updatedAt: Date.UTC(2026, 10, 22),
  endedAt: null,
  demand: { resolution: '720P', seconds: 5, withVideo: false },
  requestMembers: {},
  members: {},
  quantity: null,
  failure: null,
});

const enable = { 'x-dashscope-async': 'enable' };
const json = { 'content-type': 'application/json' };

describe('a submit of the first dialect', () => {
  test.each([
    ['is missing', {}],
    ['is empty', { 'x-dashscope-async': '' }],
    ['says otherwise', { 'x-dashscope-async': 'disable' }],
    ['says otherwise under the other name', { 'x-vendord-async': 'true' }],
  ])('is refused before its body is read if the header %s', async (_, headers) => {
    const gateway = await startGateway();
    for (const path of submits) {
      const options = {
        headers: { ...bearer(), 'content-type': 'text/html', ...headers },
        body: '{',
      };
      const response = await call(gateway.port, path, options);
      expect([response.status, response.json]).toEqual([
        400,
        expect.objectContaining({
          code: 'InvalidParameter',
          message: 'current user api does not support synchronous calls',
        }),
      ]);
      expect(response.headers['x-request-id']).toMatch(/^req_/);
    }
    expect(gateway.exchanges).toEqual([]);
  });

  test.each(['X-DashScope-Async', 'x-vendord-async', 'X-VendorD-Async'])(
    'reaches the relay with %s, whatever the case of its value',
    async (name) => {
      const gateway = await startGateway();
      for (const path of submits) {
        for (const value of ['enable', 'Enable', 'ENABLE']) {
          const headers = { ...bearer(), ...json, [name]: value };
          await call(gateway.port, path, { headers, body: '{}' });
        }
      }
      expect(gateway.exchanges.length).toBe(6);
      expect(new Set(gateway.exchanges.map(({ protocol }) => protocol))).toEqual(
        new Set(['video-synthesis']),
      );
    },
  );

  test('is refused for its rate before its header', async () => {
    const gateway = await startGateway({ caller: { rpm: 0 } });
    const response = await call(gateway.port, submits[0], { headers: bearer(), body: '{}' });
    expect([response.status, response.json]).toEqual([
      429,
      expect.objectContaining({ code: 'Throttling' }),
    ]);
  });

  test('is refused for its key before its header', async () => {
    const gateway = await startGateway();
    const options = { headers: bearer('sk-unknown-0123456789'), body: '{}' };
    expect((await call(gateway.port, submits[0], options)).status).toBe(401);
  });
});

test('a submit of the second dialect needs no such header', async () => {
  const gateway = await startGateway();
  await call(gateway.port, contents, { headers: { ...bearer(), ...json }, body: '{}' });
  expect(gateway.exchanges).toMatchObject([{ protocol: 'video-contents', operation: 'generate' }]);
});

describe('a look', () => {
  test.each(paths)('asks for the own task: %s %s', async (protocol, path) => {
    const asked: unknown[] = [];
    const gateway = await startGateway({
      caller: { rpm: 0, maxConcurrency: 0 },
      tasks: {
        find: async (...question) => {
          asked.push(question);
          return taskOf(protocol);
        },
      },
    });
    const response = await call(gateway.port, path, { headers: bearer() });
    expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json']);
    expect(response.headers['x-request-id']).toMatch(/^req_/);
    expect(response.text).toContain(ids[protocol]);
    expect(asked).toEqual([[{ userId: 'user-1', protocol }, ids[protocol]]]);
  });

  test.each(paths)('at an unknown task is 404: %s %s', async (_, path) => {
    const gateway = await startGateway();
    const response = await call(gateway.port, path, { headers: bearer() });
    expect(response.status).toBe(404);
    expect(response.text).toMatch(
      /"InvalidTask".*"task not found"|"task not found".*"InvalidTask"/,
    );
    expect(response.headers['x-should-retry']).toBe('false');
  });

  test.each(paths)('at what cannot be an id is the same 404: %s %s', async (_, path) => {
    const settings: GatewaySettings = {
      tasks: { find: () => expect.fail('the database was asked') },
    };
    const gateway = await startGateway(settings);
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    const expected = (await call((await startGateway()).port, path, { headers: bearer() })).text;
    for (const id of ['x', 'a%00b', '9'.repeat(3000), 'null']) {
      const response = await call(gateway.port, folder + id, { headers: bearer() });
      expect([id.slice(0, 9), response.status]).toEqual([id.slice(0, 9), 404]);
      expect(withoutIds(response.text)).toBe(withoutIds(expected));
    }
  });

  test.each(paths)('without the database is 503: %s %s', async (_, path) => {
    const gateway = await startGateway({
      tasks: { find: () => Promise.reject(new GatewayError('unavailable')) },
    });
    const response = await call(gateway.port, path, { headers: bearer() });
    expect([response.status, Number(response.headers['retry-after']) > 0]).toEqual([503, true]);
  });

  test.each(paths)('needs a key: %s %s', async (_, path) => {
    const gateway = await startGateway();
    expect((await call(gateway.port, path)).status).toBe(401);
  });
});

function withoutIds(text: string): string {
  return text.replaceAll(/req_[\w-]+|[\da-f]{8}-[\da-f-]{27}/g, '*');
}

describe('the list', () => {
  test('has the own tasks that the query asks for', async () => {
    const asked: unknown[] = [];
    const gateway = await startGateway({
      tasks: {
        list: async (...question) => {
          asked.push(question);
          return { total: 7, tasks: [taskOf('video-contents')] };
        },
      },
    });
    const query = `page_num=2&page_size=3&filter.model=m&filter.task_ids=a&filter.task_ids=b`;
    const response = await call(gateway.port, `${contents}?${query}`, { headers: bearer() });
    expect([response.status, response.json]).toMatchObject([
      200,
      { total: 7, items: [{ id: ids['video-contents'] }] },
    ]);
    expect(asked).toEqual([
      [
        { userId: 'user-1', protocol: 'video-contents' },
        expect.objectContaining({ pageNumber: 2, pageSize: 3, model: 'm', ids: ['a', 'b'] }),
      ],
    ]);
  });

  test('refuses a query that says nothing', async () => {
    const gateway = await startGateway();
    const path = `${contents}?page_size=many`;
    const response = await call(gateway.port, path, { headers: bearer() });
    expect([response.status, response.text]).toEqual([
      400,
      expect.stringContaining('"InvalidParameter"'),
    ]);
  });
});

describe('a removal', () => {
  const path = `${contents}/${ids['video-contents']}`;
  test.each([
    ['cancelled', 200, /^\{\}$/],
    ['hidden', 200, /^\{\}$/],
    ['running', 400, /"InvalidParameter"/],
    [null, 404, /"InvalidTask"/],
  ] as const)('that ends as %s is %i', async (end, status, body) => {
    const gateway = await startGateway({ tasks: { remove: async () => end } });
    for (const headers of [bearer(), { ...bearer(), ...json }]) {
      const response = await call(gateway.port, path, { method: 'DELETE', headers });
      expect([response.status, response.text]).toEqual([status, expect.stringMatching(body)]);
    }
  });
});

test.each([
  [submits[0], 'PUT', 'POST'],
  [submits[1], 'GET', 'POST'],
  [`/v1/tasks/${ids['video-synthesis']}`, 'DELETE', 'GET, HEAD'],
  [`/api/v1/tasks/${ids['video-synthesis']}`, 'POST', 'GET, HEAD'],
  [contents, 'PUT', 'POST, GET, HEAD'],
  [`${contents}/${ids['video-contents']}`, 'PATCH', 'GET, HEAD, DELETE'],
])('%s does not take %s', async (path, method, allow) => {
  const gateway = await startGateway();
  const response = await call(gateway.port, path, { method, headers: { ...bearer(), ...enable } });
  expect([response.status, response.headers.allow?.split(', ').toSorted()]).toEqual([
    405,
    allow.split(', ').toSorted(),
  ]);
});

test.each([
  ['/api/v1/services/aigc/nothing', /"code":"InvalidTask"/],
  ['/api/v1/tasks', /"code":"InvalidTask"/],
  ['/api/v3/contents/generations', /"error"/],
])('%s is unknown, in the form of its dialect', async (path, body) => {
  const gateway = await startGateway();
  const response = await call(gateway.port, path, { headers: bearer() });
  expect([response.status, response.text]).toEqual([404, expect.stringMatching(body)]);
});
