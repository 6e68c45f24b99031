import { describe, expect, test } from 'vitest';
import { awaitEnd, dialects, lookAt, submitVideo, submitted } from '../behaviour/video-requests.ts';
import { isSkipped } from '../database/databases.ts';
import { isLong } from '../support/runs.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { answerText } from '../support/video-upstream.ts';
import { costOf, rowsOf, startVideoPlace, usageOf, type VideoPlace } from './video-place.ts';

async function startAway(): Promise<VideoPlace & { readonly proxy: TcpProxy }> {
  const place = await startVideoPlace('postgres');
  const { proxy } = place;
  if (proxy === null) throw new Error('PostgreSQL has a proxy');
  // The key is known from here on.
  expect((await submitVideo(place.url, dialects[0]!, { model: 'nobody' })).status).toBe(400);
  return Object.create(place, { proxy: { value: proxy } }) as typeof place & { proxy: TcpProxy };
}

/** What is done without the database is the same for each vendor. */
const some = isLong ? dialects : dialects.slice(0, 1);

describe.skipIf(isSkipped('postgres')).each(some)('$name, without the database', (dialect) => {
  test('before a submit: 503, and nothing is sent', { timeout: 90_000 }, async () => {
    const place = await startAway();
    place.proxy.cut();
    expect((await submitVideo(place.url, dialect)).status).toBe(503);
    expect(place.upstream.submits.length).toBe(0);
    place.proxy.restore();
    await expect
      .poll(async () => (await submitVideo(place.url, dialect)).status, {
        timeout: 30_000,
        interval: 250,
      })
      .toBe(200);
    expect(place.upstream.submits.length).toBe(1);
    place.upstream.end({ status: 'failed' });
    await expect.poll(() => endedOf(place), { timeout: 30_000, interval: 200 }).toContain('failed');
    await place.finish();
  });

  test(
    'while a submit is at its upstream, for seconds: the client waits',
    { timeout: 90_000 },
    async () => {
      const place = await startAway();
      place.upstream.onSubmit = (submit, response) => {
        place.proxy.cut();
        answerText(response, submit.accept());
        setTimeout(() => place.proxy.restore(), 2_000);
      };
      const { id, requestId } = await submitted(place.url, dialect);
      place.upstream.end({ status: 'succeeded', usage: usageOf(dialect) });
      await awaitEnd(place.url, dialect, id);
      expect((await rowsOf(place)).filter((row) => row.id === requestId)).toEqual([
        { id: requestId, outcome: 'completed', cost: costOf(dialect) },
      ]);
      expect(place.upstream.submits.length).toBe(1);
      await place.finish();
    },
  );

  test(
    'while a submit is at its upstream, for long: 503, and the task is followed',
    { timeout: 120_000 },
    async () => {
      const place = await startAway();
      place.upstream.onSubmit = (submit, response) => {
        place.proxy.cut();
        answerText(response, submit.accept());
      };
      const response = await submitVideo(place.url, dialect);
      expect(response.status).toBe(503);
      place.upstream.end({ status: 'succeeded', usage: usageOf(dialect) });
      place.proxy.restore();
      await expect
        .poll(() => rowsOf(place), { timeout: 60_000, interval: 200 })
        .toContainEqual({ id: response.requestId, outcome: 'completed', cost: costOf(dialect) });
      expect(place.upstream.submits.length).toBe(1);
      await place.finish();
    },
  );

  test('while a submit is being refused: the client waits', { timeout: 90_000 }, async () => {
    const place = await startAway();
    place.upstream.onSubmit = (_submit, response) => {
      place.proxy.cut();
      response.writeHead(400).end('{"code":"InvalidParameter","message":"theirs"}');
      setTimeout(() => place.proxy.restore(), 2_000);
    };
    const response = await submitVideo(place.url, dialect);
    expect(response.status).toBe(400);
    expect((await rowsOf(place)).filter(({ id }) => id === response.requestId)).toMatchObject([
      { outcome: 'failed' },
    ]);
    await place.finish();
  });

  test(
    'while a task ends: looks get 503, and it is charged once',
    { timeout: 90_000 },
    async () => {
      const place = await startAway();
      const { id, requestId } = await submitted(place.url, dialect);
      place.upstream.end({ status: 'succeeded', usage: usageOf(dialect) });
      place.upstream.onLook = () => {
        place.proxy.cut();
        return false;
      };
      await expect
        .poll(async () => (await lookAt(place.url, dialect, id)).status, {
          timeout: 30_000,
          interval: 100,
        })
        .toBe(503);
      place.upstream.onLook = () => false;
      place.proxy.restore();
      await expect
        .poll(() => rowsOf(place), { timeout: 90_000, interval: 200 })
        .toContainEqual({ id: requestId, outcome: 'completed', cost: costOf(dialect) });
      await place.finish();
    },
  );
});

async function endedOf({ database }: VideoPlace): Promise<string[]> {
  const rows = await database.kysely.selectFrom('tasks').select('state').execute();
  return rows.map(({ state }) => state);
}
