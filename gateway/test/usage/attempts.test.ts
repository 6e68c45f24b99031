import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import {
  channelTraffic,
  errorTexts,
  linesOf,
  listUsage,
  removeErrorTexts,
  sumUsage,
  type AttemptRecord,
  type ExchangeRecord,
} from '#usage/index.ts';
import { removeOldUsage } from '#usage/retention.repository.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { record, recordLines } from '../journal/records.ts';

const hour = 3_600_000;
/** The beginning of an hour. */
const begin = Math.floor(1_760_000_000_000 / hour) * hour;

function attempt(channel: string, time: number, parts: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    channel,
    class: 'shown',
    status: 200,
    result: 'completed',
    startedAt: time + 10,
    durationMs: 40,
    upstreamRequestId: null,
    ...parts,
  };
}

const missing = {
  class: 'started',
  status: 404,
  result: 'model-missing',
  blame: 'model',
  words: 'DeploymentNotFound: it does not exist',
} as const;

/** A request that azure-eu fails, and openai-main answers. */
const rescued = (id: string, time: number): ExchangeRecord =>
  record(id, {
    time,
    model: 'gpt-5',
    channel: 'openai-main',
    ttftMs: 200,
    attempts: [
      attempt('azure-eu', time, missing),
      attempt('openai-main', time, { startedAt: time + 60, durationMs: 400 }),
    ],
  });

const failed = (id: string, time: number): ExchangeRecord =>
  record(id, {
    time,
    model: 'gpt-5',
    channel: null,
    outcome: 'failed',
    status: 502,
    error: 'upstream_abnormal',
    message: 'upstream response abnormal',
    ttftMs: null,
    attempts: [
      attempt('azure-eu', time, missing),
      attempt('openai-main', time, {
        class: 'started',
        status: 200,
        result: 'ending=MALFORMED_FUNCTION_CALL',
        blame: 'none',
      }),
    ],
  });

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('attempts', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      const lines = linesOf([
        record('req_0', {
          model: 'gpt-4',
          time: begin,
          channel: 'azure-eu',
          attempts: [attempt('azure-eu', begin)],
        }),
        rescued('req_1', begin + 1_000),
        rescued('req_2', begin + 2_000),
        failed('req_3', begin + hour),
      ]);
      await recordLines(database, lines);
      // A record that is applied twice counts once.
      await recordLines(database, lines);
    });
    afterEach(() => opened.close());

    it('are counted by hour, channel, model, outcome and error', async () => {
      const rows = await database.kysely
        .selectFrom('attempts_hourly')
        .selectAll()
        .where('model', '=', 'gpt-5')
        .orderBy('hour')
        .orderBy('channel')
        .execute();
      const common = { model: 'gpt-5', first_tokens: 0, first_token_ms: 0 };
      const azure = { ...common, channel: 'azure-eu', outcome: 'failed', error: 'model-missing' };
      expect(rows).toEqual([
        { ...azure, hour: begin, attempts: 2, duration_ms: 80, last_at: begin + 2_050 },
        {
          ...common,
          hour: begin,
          channel: 'openai-main',
          outcome: 'answered',
          error: '',
          attempts: 2,
          duration_ms: 800,
          first_tokens: 2,
          // From the beginning of the attempt, not from that of the request.
          first_token_ms: 280,
          last_at: begin + 2_460,
        },
        { ...azure, hour: begin + hour, attempts: 1, duration_ms: 40, last_at: begin + hour + 50 },
        {
          ...common,
          hour: begin + hour,
          channel: 'openai-main',
          outcome: 'failed',
          error: 'ending',
          attempts: 1,
          duration_ms: 40,
          last_at: begin + hour + 50,
        },
      ]);
    });

    it('are in the sums of usage, of the channel that was tried', async () => {
      const sums = await sumUsage(database.kysely, {}, ['channel']);
      expect(
        sums.map(({ names: [name], requests, attempts, failed_attempts }) => [
          name,
          requests,
          attempts,
          failed_attempts,
        ]),
      ).toEqual([
        ['openai-main', 2, 3, 1],
        ['(no channel)', 1, 0, 0],
        ['azure-eu', 1, 4, 3],
      ]);
    });

    it('say which channel fails, since when and in which words', async () => {
      const traffic = await channelTraffic(database.kysely, begin + hour + 60_000);
      expect(traffic.get('azure-eu')).toEqual({
        attempts: 4,
        failed: 3,
        hours: [
          ...Array.from({ length: 23 }, () => ({ attempts: 0, failed: 0 })),
          { attempts: 3, failed: 2 },
          { attempts: 1, failed: 1 },
        ],
        firstToken: expect.any(Number),
        errors: [{ error: 'model-missing', attempts: 3 }],
        answeredAt: begin + 50,
        failing: { since: begin + 1_050, attempts: 3 },
        lastFailure: {
          id: 'req_3',
          time: begin + hour + 50,
          error: 'model-missing',
          blame: 'model',
          status: 404,
          text: 'DeploymentNotFound: it does not exist',
        },
      });
      // A day after its last attempt nothing is said about a channel.
      expect(await channelTraffic(database.kysely, begin + 26 * hour)).toEqual(new Map());
    });

    it.each([
      [{ tried: 'azure-eu' }, ['req_3', 'req_2', 'req_1', 'req_0']],
      [{ tried: 'openai-main' }, ['req_3', 'req_2', 'req_1']],
      [{ tried: 'azure-eu', from: begin + 2_000 }, ['req_3', 'req_2']],
      [{ tried: 'azure-eu', error: 'model-missing', to: begin + 2_000 }, ['req_1']],
      [{ error: 'ending' }, ['req_3']],
      [{ error: 'upstream_abnormal' }, ['req_3']],
      [{ error: 'overloaded' }, []],
    ])('find their requests: %j', async (filter, ids) => {
      const { data } = await listUsage(database.kysely, filter);
      expect(data.map(({ id }) => id)).toEqual(ids);
    });

    it('keep the texts of errors apart from the row, and not as long', async () => {
      const { kysely } = database;
      const { attempts } = (await listUsage(kysely, { error: 'ending' })).data[0]!;
      expect(JSON.stringify(attempts)).not.toContain('Deployment');
      const texts = new Map([
        [0, 'upstream response abnormal'],
        [1, missing.words],
      ]);
      expect(await errorTexts(kysely, 'req_3')).toEqual(texts);
      expect(await removeErrorTexts(kysely, begin + hour, 1)).toBe(1);
      expect(await removeErrorTexts(kysely, begin + hour, 10)).toBe(1);
      expect(await errorTexts(kysely, 'req_1')).toEqual(new Map());
      expect(await errorTexts(kysely, 'req_3')).toEqual(texts);
      // That it failed is known as long as the row.
      expect((await listUsage(kysely, { error: 'model-missing' })).data).toHaveLength(3);
      await removeOldUsage(database, begin + hour, 10);
      expect(await errorTexts(kysely, 'req_3')).toEqual(texts);
      const left = await kysely.selectFrom('usage_errors').select('id').distinct().execute();
      expect(left).toEqual([{ id: 'req_3' }]);
    });
  });
});
