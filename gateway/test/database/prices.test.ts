import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseMultiplier, ratesOf, receiptOf, tokenLines } from '#billing/index.ts';
import {
  appendPriceVersions,
  createCatalogueStore,
  disableModel,
  readPriceVersion,
  upsertGroup,
  upsertModel,
  type CatalogueProblem,
  type CatalogueStore,
  type Model,
} from '#catalogue/index.ts';
import type { DeclaredPrice } from '#config/index.ts';
import { nextRevision, type OpenDatabase } from '#database/index.ts';
import {
  change,
  dialects,
  isSkipped,
  openTestDatabase,
  testSecrets,
  watchByHand,
} from './databases.ts';
import { model } from './samples.ts';

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('price versions', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    let problems: CatalogueProblem[] = [];
    let clock = 1_000;
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
    });
    afterAll(() => opened.close());
    beforeEach(() => {
      problems = [];
    });

    const openStore = async (): Promise<CatalogueStore> => {
      const store = createCatalogueStore({
        database,
        secrets: testSecrets,
        watch: watchByHand(database),
        simulatorUrl: () => null,
        onProblem: (problem) => problems.push(problem),
        now: () => clock,
      });
      await store.load();
      return store;
    };
    const declare = (id: string, price: DeclaredPrice | null) =>
      change(database, (file) => upsertModel(file, { ...model, id, price }));
    const modelOf = (store: CatalogueStore, id: string): Model => {
      const found = store.snapshot().models.get(id);
      if (found === undefined) throw new Error(`no model ${id}`);
      return found;
    };
    const versionsOf = (id: string) =>
      database.kysely
        .selectFrom('price_versions')
        .selectAll()
        .where('model', '=', id)
        .orderBy('created_at')
        .execute();
    /** As a person or another program could leave it. */
    const spoil = (id: string, price: unknown) =>
      database.kysely.transaction().execute(async (trx) => {
        await trx
          .updateTable('models')
          .set({
            settings: JSON.stringify({ capabilities: [], price }),
            revision: await nextRevision(trx),
          })
          .where('id', '=', id)
          .execute();
      });

    it('stores the price of every priced model, and none for an unpriced one', async () => {
      const store = await openStore();
      for (const { id, price, priceVersion } of store.snapshot().models.values()) {
        expect(priceVersion === null).toBe(price === null);
        if (priceVersion === null) continue;
        expect(await readPriceVersion(database.kysely, priceVersion)).toEqual({
          id: priceVersion,
          model: id,
          price,
          createdAt: 1_000,
        });
      }
      expect(modelOf(store, 'demo-chat').priceVersion).toMatch(/^[0-9a-f]{16}$/);
    });

    it('adds a version when the price changes, and none when it returns or anything else changes', async () => {
      const store = await openStore();
      await declare('m', { input: '1', output: '2' });
      await store.refresh();
      const first = modelOf(store, 'm');

      clock = 2_000;
      await declare('m', { input: '1', output: '3' });
      await store.refresh();
      const second = modelOf(store, 'm');
      expect(second.priceVersion).not.toBe(first.priceVersion);
      expect(await versionsOf('m')).toMatchObject([
        { id: first.priceVersion, created_at: 1_000 },
        { id: second.priceVersion, created_at: 2_000 },
      ]);

      clock = 3_000;
      await declare('m', { input: '1.00', output: '2.0' });
      await store.refresh();
      expect(modelOf(store, 'm').priceVersion).toBe(first.priceVersion);
      await declare('m-other', null);
      await store.refresh();
      expect(await versionsOf('m')).toHaveLength(2);
      expect(await versionsOf('m-other')).toEqual([]);
    });

    it('restores the bundled price when the file does not mention it any more', async () => {
      const store = await openStore();
      const bundled = modelOf(store, 'gpt-5');
      await declare('gpt-5', { input: '99', output: '99' });
      await store.refresh();
      expect(modelOf(store, 'gpt-5').priceVersion).not.toBe(bundled.priceVersion);
      await change(database, (file) => disableModel(file, 'gpt-5'));
      await store.refresh();
      expect(modelOf(store, 'gpt-5').priceVersion).toBe(bundled.priceVersion);
    });

    it('is the same on every node, and the same price object while nothing changes', async () => {
      const [one, other] = [await openStore(), await openStore()];
      for (const { id, priceVersion } of one.snapshot().models.values()) {
        expect(modelOf(other, id).priceVersion).toBe(priceVersion);
      }
      const { price } = modelOf(one, 'demo-chat');
      await declare('unrelated', { input: '5', output: '6' });
      await one.refresh();
      expect(modelOf(one, 'demo-chat').price).toBe(price);
    });

    it('can be written by many at once', async () => {
      const price = { input: '7', output: '8' };
      const versions = Array.from({ length: 450 }, (_, at) => ({
        id: `v${at}`,
        model: 'crowd',
        price,
      }));
      await Promise.all(
        [1, 2, 3].map((now) => appendPriceVersions(database.kysely, versions, now)),
      );
      expect(await versionsOf('crowd')).toHaveLength(450);
      expect(await readPriceVersion(database.kysely, 'never-seen')).toBeNull();
    });

    it('allows a receipt to be recomputed after the price has changed', async () => {
      const store = await openStore();
      await declare('r', { input: '3', cacheRead: '0.3', output: '15' });
      await store.refresh();
      const { price, priceVersion } = modelOf(store, 'r');
      const tokens = {
        input: 3,
        cacheRead: 12_304,
        cacheWrite: 0,
        cacheWrite1h: 0,
        output: 550,
        reasoning: 0,
      };
      const receiptBy = (by: DeclaredPrice) =>
        receiptOf(tokenLines(ratesOf(by), tokens), parseMultiplier('0.9'));
      const charged = receiptBy(price ?? {});
      expect(charged.cost).toBe(10_755_180n);

      await declare('r', { input: '4', output: '20' });
      await store.refresh();
      const kept = await readPriceVersion(database.kysely, priceVersion ?? '');
      expect(receiptBy(kept?.price ?? {})).toEqual(charged);
    });

    it.each([
      ['a number', { input: 1, output: '2' }],
      ['no number', { input: 'free', output: '2' }],
      ['less than nothing', { input: '-1', output: '2' }],
      ['digits beyond what is charged', { input: '0.0000000001', output: '2' }],
      ['a list', []],
      ['text', '3'],
      ['tiers that shrink', { imageTiers: ['2', '1'].map(tierOf) }],
      ['no tiers', { imageTiers: [] }],
      ['half a video price', { videoTokens: { '720P': { text: '1' } } }],
    ])(
      'R-43: %s is an invalid price: the last valid one stays, with an alarm',
      async (_, damaged) => {
        await declare('spoilt', { input: '1', output: '2' });
        const store = await openStore();
        const good = modelOf(store, 'spoilt');
        await spoil('spoilt', damaged);
        await store.refresh();
        expect(modelOf(store, 'spoilt')).toMatchObject({
          price: { input: '1', output: '2' },
          priceVersion: good.priceVersion,
        });
        expect(problems).toEqual([{ kind: 'price', name: 'spoilt', lastGood: true }]);

        // A node that starts now has no last good one: unpriced, so refused before anything is sent.
        problems = [];
        const late = await openStore();
        expect(modelOf(late, 'spoilt')).toMatchObject({ price: null, priceVersion: null });
        expect(problems).toEqual([{ kind: 'price', name: 'spoilt', lastGood: false }]);
      },
    );

    it('R-43: an invalid multiplier leaves the last valid one in force', async () => {
      await change(database, (file) =>
        upsertGroup(file, { name: 'vip', priceMultiplier: '0.9', enabled: true }),
      );
      const store = await openStore();
      await change(database, (file) =>
        upsertGroup(file, { name: 'vip', priceMultiplier: '', enabled: true }),
      );
      await store.refresh();
      expect(store.snapshot().groups.get('vip')?.priceMultiplier).toBe('0.9');
      expect(problems).toContainEqual({ kind: 'price_multiplier', name: 'vip', lastGood: true });
      const late = await openStore();
      expect(late.snapshot().groups.has('vip')).toBe(false);
    });

    it('a tampered version is not accepted as a price', async () => {
      const row = { id: 'bad', model: 'm', price: '{"input":"free"}', created_at: 1 };
      await database.kysely.insertInto('price_versions').values(row).execute();
      await expect(readPriceVersion(database.kysely, 'bad')).rejects.toThrow('is damaged');
    });

    it('a snapshot is used only after its prices are stored', async () => {
      const store = await openStore();
      const before = store.snapshot();
      await declare('late', { input: '1', output: '2' });
      await database.kysely.schema.alterTable('price_versions').renameTo('elsewhere').execute();
      await expect(store.refresh()).rejects.toBeInstanceOf(Error);
      expect(store.snapshot()).toBe(before);
      await database.kysely.schema.alterTable('elsewhere').renameTo('price_versions').execute();
      await store.refresh();
      expect(await versionsOf('late')).toHaveLength(1);
    });
  });
});

function tierOf(maxPixels: string) {
  return { name: maxPixels, maxPixels: Number(maxPixels), price: '1' };
}
