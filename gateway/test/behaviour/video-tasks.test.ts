import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { parseConfig } from '#config/index.ts';
import { testKey } from '../support/gateway.ts';
import { openVideoUpstream, videoConfig } from '../support/video-upstream.ts';
import { shareGateway } from './support.ts';
import {
  awaitEnd,
  callVideo,
  contents,
  dialects,
  heldOf,
  lookAt,
  rowsOf,
  submitted,
  synthesis,
  type Dialect,
} from './video-requests.ts';

const upstream = await openVideoUpstream();
afterAll(() => upstream.close());

const second = 'sk-second-0123456789abcdefghijklmnopqrstuv';
const teamed = 'sk-teamed-0123456789abcdefghijklmnopqrstuv';
const stranger = 'sk-stranger-0123456789abcdefghijklmnopqrst';
const mate = 'sk-mate-0123456789abcdefghijklmnopqrstuvwx';

const config = videoConfig(
  upstream.url,
  `
users:
  - { email: tester@example.com, balance: 1000 }
  - { email: stranger@example.com, balance: 1000 }
teams:
  - { name: crew, balance: 100, members: [{ user: tester@example.com }, { user: stranger@example.com }] }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: second, user: tester@example.com, secret: ${second} }
  - { name: teamed, user: tester@example.com, team: crew, secret: ${teamed} }
  - { name: stranger, user: stranger@example.com, secret: ${stranger} }
  - { name: mate, user: stranger@example.com, team: crew, secret: ${mate} }
`,
);
const shared = shareGateway({ config });

/** Multiplies every price. */
async function reprice(by: 1 | 2): Promise<void> {
  const { app } = shared.gateway;
  const { dataDir } = app;
  const priced = config.replaceAll(
    /(?<=(?:\d+P|text|with_video): )[\d.]+/g,
    (price) => `${Number(price) * by}`,
  );
  const text = `
server: { port: 0 }
storage: { url: "${shared.gateway.databaseUrl}", data_dir: "${dataDir}" }
${priced}`;
  await app.reload(parseConfig(text, { file: 'test.yaml', environment: {}, bundledModels: [] }));
}

beforeEach(() => upstream.end({ status: 'failed' }));

interface Worked {
  readonly dialect: Dialect;
  readonly seconds: number;
  readonly resolution: string;
  /** What the upstream reports. */
  readonly usage?: number;
  /** USD. */
  readonly cost: string;
  readonly units: Readonly<Record<string, unknown>>;
  readonly isEstimated: boolean;
}

const worked: readonly Worked[] = [
  {
    dialect: synthesis,
    seconds: 5,
    resolution: '720P',
    usage: 5.04,
    cost: '0.504',
    units: { video_ms: 5040, resolution: '720P' },
    isEstimated: false,
  },
  {
    dialect: synthesis,
    seconds: 10,
    resolution: '1080P',
    usage: 6,
    cost: '0.9',
    units: { video_ms: 6000, resolution: '1080P' },
    isEstimated: false,
  },
  {
    dialect: synthesis,
    seconds: 7,
    resolution: '480P',
    cost: '0.35',
    units: { video_ms: 7000, resolution: '480P' },
    isEstimated: true,
  },
  {
    dialect: contents,
    seconds: 5,
    resolution: '720P',
    usage: 108_900,
    cost: '0.7623',
    units: { video_tokens: 108_900, resolution: '720P', with_video: false },
    isEstimated: false,
  },
];

test.each(worked)(
  '$dialect.name: $seconds s at $resolution with $usage reported cost $cost',
  async ({ dialect, seconds, resolution, usage, cost, units, isEstimated }) => {
    const { gateway } = shared;
    const held = await heldOf(gateway);
    const { id, requestId } = await submitted(gateway.url, dialect, { seconds, resolution });
    expect(await heldOf(gateway)).toBeGreaterThan(held);
    const open = await lookAt(gateway.url, dialect, id);
    expect(open.status).toBe(200);
    expect(open.text).not.toMatch(/upstream-|theirs/);
    upstream.end({ status: 'succeeded', ...(usage !== undefined && { usage }) });
    const task = await awaitEnd(gateway.url, dialect, id);
    expect(JSON.stringify(task)).toContain('https://videos.test/');
    expect(JSON.stringify(task)).not.toMatch(/upstream-|theirs/);
    const rows = await rowsOf(gateway, requestId);
    expect(rows).toMatchObject([
      {
        outcome: 'completed',
        status: 200,
        model: dialect.model,
        protocol: dialect.name,
        cost,
        estimated: isEstimated,
      },
    ]);
    expect(rows[0]?.units).toMatchObject(units);
    expect(await heldOf(gateway)).toBe(held);
  },
);

describe.each(dialects)('$name', (dialect) => {
  test('a task that fails is refunded, and its vendor’s words are not shown', async () => {
    const { gateway } = shared;
    const held = await heldOf(gateway);
    const { id, requestId } = await submitted(gateway.url, dialect);
    upstream.end({ status: 'failed', code: 'OutputVideoSensitive' });
    const task = await awaitEnd(gateway.url, dialect, id, 'failed');
    expect(JSON.stringify(task)).toContain('OutputVideoSensitive');
    expect(JSON.stringify(task)).not.toMatch(/words of the vendor|upstream-|theirs/);
    expect(await heldOf(gateway)).toBe(held);
    const [row, ...more] = await rowsOf(gateway, requestId);
    expect([row, more]).toMatchObject([{ outcome: 'failed' }, []]);
    expect(Number(row?.cost)).toBe(0);
  });

  test('belongs to its user, whatever key or team they use, and to nobody else', async () => {
    const { gateway } = shared;
    const { id } = await submitted(gateway.url, dialect);
    for (const key of [testKey, second, teamed]) {
      expect((await lookAt(gateway.url, dialect, id, { key })).status).toBe(200);
    }
    const unknown =
      dialect === synthesis
        ? '7b0e1d9c-5a1f-4c1e-9d3a-0b2c4d6e8f10'
        : 'cgt-20261122105012-k3v9a8b7c6d5e4f3g2h1';
    const nobody = await lookAt(gateway.url, dialect, unknown);
    expect(nobody.status).toBe(404);
    for (const key of [stranger, mate]) {
      const response = await lookAt(gateway.url, dialect, id, { key });
      expect([response.status, withoutIds(response.text)]).toEqual([404, withoutIds(nobody.text)]);
      expect(headersOf(response.headers)).toEqual(headersOf(nobody.headers));
    }
    const invalid = await lookAt(gateway.url, dialect, id, { key: `${testKey}x` });
    const invalidToo = await lookAt(gateway.url, dialect, unknown, { key: `${testKey}x` });
    expect([invalid.status, withoutIds(invalid.text)]).toEqual([401, withoutIds(invalidToo.text)]);
    const [one, two] = dialect === synthesis ? [contents, id] : [synthesis, id];
    expect((await lookAt(gateway.url, one, two)).status).toBe(404);
  });

  test('a submit continues after its client has left', async () => {
    const { gateway } = shared;
    const before = upstream.submits.length;
    const accept = upstream.onSubmit;
    const arrived = Promise.withResolvers<() => void>();
    upstream.onSubmit = (submit, response) =>
      arrived.resolve(() => {
        upstream.onSubmit = accept;
        accept(submit, response);
      });
    const leaving = new AbortController();
    const left = fetch(gateway.url + dialect.submitPath, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        authorization: `Bearer ${testKey}`,
        'content-type': 'application/json',
        ...dialect.headers,
      },
      body: JSON.stringify(dialect.body(dialect.model)),
    }).then(
      () => false,
      () => true,
    );
    const answer = await arrived.promise;
    leaving.abort();
    expect(await left).toBe(true);
    answer();
    const { kysely } = gateway.app.database;
    const newest = () =>
      kysely
        .selectFrom('tasks')
        .select(['id', 'state', 'request_id'])
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow();
    await expect.poll(async () => (await newest()).state).not.toBe('submitting');
    const { id, request_id: requestId } = await newest();
    expect(upstream.submits.length).toBe(before + 1);
    upstream.end({ status: 'succeeded', usage: 5 });
    await awaitEnd(gateway.url, dialect, id);
    expect(await rowsOf(gateway, requestId)).toMatchObject([{ outcome: 'completed' }]);
  });

  test('is charged at the price of its submit', async () => {
    const { gateway } = shared;
    const { id, requestId } = await submitted(gateway.url, dialect);
    await reprice(2);
    try {
      upstream.end({ status: 'succeeded', usage: dialect === synthesis ? 5 : 100_000 });
      await awaitEnd(gateway.url, dialect, id);
      const cost = dialect === synthesis ? '0.5' : '0.7';
      expect(await rowsOf(gateway, requestId)).toMatchObject([{ cost }]);
    } finally {
      await reprice(1);
    }
  });
});

describe('the list and removals of the second dialect', () => {
  test('show and hide the own tasks only', async () => {
    const { gateway } = shared;
    const { id } = await submitted(gateway.url, contents);
    const other = await submitted(gateway.url, contents, {}, { key: stranger });
    const list = async (key: string) => {
      const path = `${contents.submitPath}?page_size=500`;
      const { json } = await callVideo(gateway.url, path, { key });
      return (json['items'] as { id: string }[]).map((task) => task.id);
    };
    expect(await list(testKey)).toContain(id);
    expect(await list(testKey)).not.toContain(other.id);
    expect(await list(mate)).toContain(other.id);
    const remove = (key: string, of = id) =>
      callVideo(gateway.url, contents.taskPath(of), { method: 'DELETE', key });
    const unknown = await remove(testKey, 'cgt-20261122105012-k3v9a8b7c6d5e4f3g2h1');
    const foreign = await remove(stranger);
    expect([foreign.status, withoutIds(foreign.text)]).toEqual([404, withoutIds(unknown.text)]);
    expect((await remove(testKey)).status).toBe(400);
    upstream.end({ status: 'succeeded', usage: 1000 });
    await awaitEnd(gateway.url, contents, id);
    expect([(await remove(testKey)).text, (await remove(testKey)).status]).toEqual(['{}', 404]);
    expect((await lookAt(gateway.url, contents, id)).status).toBe(404);
    expect(await list(testKey)).not.toContain(id);
  });
});

function withoutIds(text: string): string {
  return text.replaceAll(/req_[\w-]+|[\da-f]{8}-[\da-f-]{27}|cgt-\w+-\w+/g, '*');
}

function headersOf(headers: Headers): unknown {
  return Array.from(headers).filter(([name]) => name !== 'x-request-id' && name !== 'date');
}
