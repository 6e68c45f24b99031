import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createKeyDirectory,
  findKey,
  findUserByEmail,
  listKeys,
  upsertKey,
  upsertUser,
} from '#identity/index.ts';
import { createDatabaseBreaker, createRevisionWatch } from '#database/index.ts';
import { groupings, listUsage, sumUsage, totalUsage } from '#usage/index.ts';
import { record, recordAll } from '../journal/records.ts';
import { sqlPayloads } from '../support/sql-payloads.ts';
import { change, dialects, isSkipped, openTestDatabase, testSecrets } from './databases.ts';
import { key, user } from './samples.ts';
import { countRows } from './table-rows.ts';

/* S-05, S-06: what is text stays text, in whatever place of a query it is given. */

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('names that would be SQL', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      await change(opened.database, async (file) => {
        await upsertUser(file, user);
        await upsertKey(file, key);
      });
    });
    afterAll(() => opened.close());

    it('are more than a hundred', () => expect(new Set(sqlPayloads).size).toBeGreaterThan(150));

    it('find nothing, and change nothing', async () => {
      const { database } = opened;
      const { kysely } = database;
      await recordAll(database, [record('req_other', { model: 'x', channel: 'x' })]);
      const before = await countRows(database);
      const watch = createRevisionWatch({ database, interval: 2 ** 30 });
      const directory = createKeyDirectory({
        database,
        secrets: testSecrets,
        watch,
        breaker: createDatabaseBreaker(),
      });
      for (const [at, text] of sqlPayloads.entries()) {
        expect([text, await directory.find(`sk-${text}`)]).toEqual([text, null]);
        // Without the spaces, which no key has, it comes to the database.
        const packed = text.replaceAll(' ', '/**/');
        expect([text, await directory.find(`sk-${packed}`)]).toEqual([text, null]);
        expect([text, await findKey(kysely, text)]).toEqual([text, null]);
        expect([text, await findUserByEmail(kysely, text)]).toEqual([text, null]);
        expect([text, await listKeys(kysely, { user: text })]).toEqual([text, []]);
        for (const member of ['key', 'user', 'team', 'model', 'channel'] as const) {
          const { data } = await listUsage(kysely, { [member]: text });
          expect([member, text, data]).toEqual([member, text, []]);
        }
        const filter = { model: text, channel: text };
        expect(await totalUsage(kysely, filter)).toEqual({ requests: 0, cost: 0n });
        const by = groupings[at % groupings.length] ?? 'day';
        expect(await sumUsage(kysely, { ...filter, key: text }, [by])).toEqual([]);
        const cursor = Buffer.from(`1 ${text}`).toString('base64url');
        const page = await listUsage(kysely, { cursor }).catch((error: unknown) => error);
        if (!(page instanceof RangeError)) expect(page).toEqual({ data: [], next: null });
      }
      expect(await countRows(database)).toEqual(before);
    }, 60_000);

    it('are found if they exist, and each is only itself', async () => {
      const { database } = opened;
      const { kysely } = database;
      const names = [...new Set(sqlPayloads)];
      await change(database, async (file) => {
        for (const [at, name] of names.entries()) {
          await upsertKey(file, { ...key, name, secret: `sk-named-${at}-0123456789abcdef` });
        }
      });
      const keys = new Map((await listKeys(kysely)).map(({ name, id }) => [name, id]));
      const records = names.map((name, at) =>
        record(`req_${at}`, { model: name, channel: name, keyId: keys.get(name) ?? '' }),
      );
      await recordAll(database, records);
      for (const [at, name] of names.entries()) {
        expect((await findKey(kysely, name))?.name).toBe(name);
        for (const member of ['key', 'model', 'channel'] as const) {
          const { data } = await listUsage(kysely, { [member]: name });
          expect([name, member, data.map(({ id }) => id)]).toEqual([name, member, [`req_${at}`]]);
        }
        const sums = await sumUsage(kysely, { model: name }, ['channel']);
        expect(sums).toMatchObject([{ names: [name], requests: 1 }]);
      }
    }, 60_000);
  });
});
