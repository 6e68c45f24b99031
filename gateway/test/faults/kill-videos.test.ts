import { describe, expect, test } from 'vitest';
import {
  awaitEnd,
  dialects,
  lookAt,
  submitVideo,
  submitted,
  type Dialect,
} from '../behaviour/video-requests.ts';
import { isSkipped } from '../database/databases.ts';
import { isLong } from '../support/runs.ts';
import { costOf, rowsOf, startVideoPlace, usageOf } from './video-place.ts';

/** Of many submits. */
const kills = isLong ? 3 : 1;
/** Each vendor on a database of its own; `npm run test:sieges` has each on both. */
const dialectsOn = {
  sqlite: isLong ? dialects : dialects.slice(0, 1),
  postgres: isLong ? dialects : dialects.slice(1),
};

describe.each(['sqlite', 'postgres'] as const)('%s', (kind) => {
  describe.skipIf(isSkipped(kind)).each(dialectsOn[kind])('$name', (dialect) => {
    test('killed while a submit is at its upstream: refunded, never sent again', async () => {
      const place = await startVideoPlace(kind);
      const arrived = Promise.withResolvers<void>();
      place.upstream.onSubmit = () => arrived.resolve();
      const lost = submitVideo(place.url, dialect).catch(() => null);
      await arrived.promise;
      await place.kill();
      expect(await lost).toBe(null);
      await place.start();
      await expect
        .poll(() => rowsOf(place), { timeout: 40_000, interval: 200 })
        .toMatchObject([{ outcome: 'failed' }]);
      expect((await rowsOf(place)).filter(({ cost }) => (cost ?? 0n) !== 0n)).toEqual([]);
      expect(place.upstream.submits.length).toBe(1);
      await place.finish();
    }, 90_000);

    test('killed with an open task: charged once', async () => {
      const place = await startVideoPlace(kind);
      const { id, requestId } = await submitted(place.url, dialect);
      await place.kill();
      place.upstream.end({ status: 'succeeded', usage: usageOf(dialect) });
      await place.start();
      await awaitEnd(place.url, dialect, id);
      expect(await rowsOf(place)).toMatchObject([
        { id: requestId, outcome: 'completed', cost: costOf(dialect) },
      ]);
      expect(place.upstream.submits.length).toBe(1);
      await place.finish();
    }, 60_000);

    test('killed while a look is at the upstream, and when the end has been seen: charged once', async () => {
      const place = await startVideoPlace(kind);
      const { id, requestId } = await submitted(place.url, dialect);
      const looked = Promise.withResolvers<void>();
      place.upstream.onLook = () => {
        looked.resolve();
        return true;
      };
      await looked.promise;
      await place.kill();
      place.upstream.onLook = () => false;
      place.upstream.end({ status: 'succeeded', usage: usageOf(dialect) });
      await place.start();
      await awaitEnd(place.url, dialect, id);
      await place.kill();
      place.upstream.end({ status: 'failed' });
      await place.start();
      expect(dialect.stateOf((await lookAt(place.url, dialect, id)).json)).toBe(
        dialect.states.succeeded,
      );
      expect(await rowsOf(place)).toMatchObject([
        { id: requestId, outcome: 'completed', cost: costOf(dialect) },
      ]);
      expect(place.upstream.submits.length).toBe(1);
      await place.finish();
    }, 60_000);
  });

  test.skipIf(isSkipped(kind))(
    'killed at any moment of many submits: every accepted task is charged once, every other is free',
    async () => {
      const place = await startVideoPlace(kind);
      const accepted: {
        readonly dialect: Dialect;
        readonly id: string;
        readonly requestId: string;
      }[] = [];
      for (let kill = 0; kill < kills; kill += 1) {
        const fatal = accepted.length + 3 + kill;
        const dead = Promise.withResolvers<void>();
        const submitOn = async (dialect: Dialect): Promise<void> => {
          for (;;) {
            const response = await submitVideo(place.url, dialect).catch(() => null);
            if (response === null) return;
            if (response.status !== 200) continue;
            accepted.push({
              dialect,
              id: dialect.idOf(response.json),
              requestId: response.requestId,
            });
            if (accepted.length === fatal) void place.kill().then(dead.resolve);
          }
        };
        await Promise.all([...dialects, ...dialects].map(submitOn));
        await dead.promise;
        await place.start();
      }
      const { submits } = place.upstream;
      place.upstream.end({ status: 'succeeded' });
      for (const { dialect, id } of accepted) await awaitEnd(place.url, dialect, id);
      const { kysely } = place.database;
      const open = () =>
        kysely.selectFrom('tasks').select('id').where('ended_at', 'is', null).execute();
      await expect.poll(open, { timeout: 60_000, interval: 250 }).toEqual([]);
      const rows = await rowsOf(place);
      const charged = new Map(rows.map(({ id, cost }) => [id, cost ?? 0n]));
      expect(charged.size).toBe(rows.length);
      expect(accepted.filter(({ requestId }) => charged.get(requestId) === 0n)).toEqual([]);
      expect(accepted.every(({ requestId }) => charged.has(requestId))).toBe(true);
      expect(submits.length).toBeLessThanOrEqual(rows.length);
      await place.finish();
    },
    150_000,
  );
});
