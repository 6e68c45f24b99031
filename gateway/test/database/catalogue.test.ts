import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bundledModels,
  bundledModelsOf,
  createCatalogueStore,
  disableAlias,
  disableChannel,
  disableModel,
  listAliases,
  listChannels,
  listGroups,
  listModels,
  resolveModel,
  upsertAlias,
  upsertChannel,
  upsertGroup,
  upsertModel,
  type CatalogueStore,
} from '#catalogue/index.ts';
import { createSecrets, type OpenDatabase } from '#database/index.ts';
import {
  change,
  dialects,
  isSkipped,
  openTestDatabase,
  testSecrets,
  watchByHand,
} from './databases.ts';
import { channel, model } from './samples.ts';

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('catalogue', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    let store: CatalogueStore;
    let simulatorUrl: string | null = null;
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      store = createCatalogueStore({
        database,
        secrets: testSecrets,
        watch: watchByHand(database),
        simulatorUrl: () => simulatorUrl,
      });
      await store.load();
    });
    afterAll(() => opened.close());

    const routesOf = (group: string, name: string) =>
      store
        .snapshot()
        .routes.get(group)
        ?.get(name)
        ?.map((route) => ({
          channel: route.channel.name,
          upstream: route.upstreamModel,
        }));

    it('has the default group and the bundled models before anything is configured', () => {
      const { groups, models, channels } = store.snapshot();
      expect([...groups.values()]).toEqual([{ name: 'default', priceMultiplier: '1' }]);
      expect(models.size).toBe(bundledModels.length);
      expect(channels).toEqual([]);
    });

    it('applying declarations again changes nothing', async () => {
      const apply = () =>
        change(database, async (file) => [
          await upsertGroup(file, { name: 'vip', priceMultiplier: '0.9', enabled: true }),
          await upsertChannel(file, channel),
          await upsertModel(file, model),
          await upsertAlias(file, { name: 'quick', model: 'fast' }),
        ]);
      expect(await apply()).toEqual(['created', 'created', 'created', 'created']);
      expect(await apply()).toEqual(['unchanged', 'unchanged', 'unchanged', 'unchanged']);
      const { kysely } = database;
      expect(await listGroups(kysely)).toMatchObject([{ name: 'vip', priceMultiplier: '0.9' }]);
      expect(await listChannels(kysely, testSecrets)).toMatchObject([channel]);
      expect(await listModels(kysely)).toMatchObject([model]);
      expect(await listAliases(kysely)).toMatchObject([{ name: 'quick', model: 'fast' }]);
    });

    it('swaps the snapshot at once; holders of the old one keep it', async () => {
      const old = store.snapshot();
      await store.refresh();
      expect(old.channels).toEqual([]);
      expect(store.snapshot().revision).toBeGreaterThan(old.revision);
      expect(routesOf('default', 'fast')).toEqual([
        { channel: 'openai-main', upstream: 'gpt-5-mini' },
      ]);
      expect(routesOf('vip', 'fast')).toBeUndefined();
      expect(store.snapshot().channels[0]).toMatchObject({
        credentials: channel.apiKeys,
        headers: channel.headers,
        billsAfterCancel: true,
        state: 'owned',
        sharedState: ['vs_handbook', 'file-*'],
      });
      const same = store.snapshot();
      await store.refresh();
      expect(store.snapshot()).toBe(same);
    });

    it('follows aliases, and a declared model overrides parts of a bundled one', async () => {
      expect(resolveModel(store.snapshot(), 'quick')?.id).toBe('fast');
      expect(resolveModel(store.snapshot(), 'claude-haiku-4-5-20251001')?.id).toBe(
        'claude-haiku-4-5',
      );
      expect(resolveModel(store.snapshot(), 'unheard-of')).toBeNull();
      await change(database, (file) =>
        upsertModel(file, { ...model, id: 'gpt-5', price: { input: '9', output: '9' } }),
      );
      await store.refresh();
      expect(resolveModel(store.snapshot(), 'gpt-5')?.model).toMatchObject({
        contextWindow: 400_000,
        maxOutputTokens: 32_000,
        displayName: 'GPT-5',
        price: { input: '9', output: '9' },
      });
    });

    it('lets an alias replace an undeclared bundled model wherever it is named', async () => {
      const alias = (name: string) => ({ name, model: 'fast' });
      await change(database, async (file) => {
        await upsertAlias(file, alias('claude-haiku-4-5'));
        await upsertAlias(file, alias('gpt-5'));
        await upsertChannel(file, {
          ...channel,
          name: 'claude',
          models: [
            { name: 'claude-haiku-4-5', upstream: 'claude-haiku-4-5' },
            { name: 'claude-opus-4-5', upstream: 'claude-opus-4-5' },
          ],
        });
      });
      await store.refresh();
      const snapshot = store.snapshot();
      for (const name of ['claude-haiku-4-5', 'claude-haiku-4-5-20251001']) {
        expect(resolveModel(snapshot, name)).toMatchObject({ id: 'fast', model: { id: 'fast' } });
      }
      expect(snapshot.models.has('claude-haiku-4-5')).toBe(false);
      expect(routesOf('default', 'claude-haiku-4-5')).toBeUndefined();
      expect(routesOf('default', 'claude-opus-4-5')).toHaveLength(1);
      // One that somebody declared keeps its name, until its declaration is gone.
      expect(resolveModel(snapshot, 'gpt-5')?.id).toBe('gpt-5');
      await change(database, (file) => disableModel(file, 'gpt-5'));
      await store.refresh();
      expect(resolveModel(store.snapshot(), 'gpt-5')?.id).toBe('fast');
      await change(database, async (file) => {
        await disableAlias(file, 'gpt-5');
        await disableAlias(file, 'claude-haiku-4-5');
        await disableChannel(file, 'claude');
      });
      await store.refresh();
      expect(resolveModel(store.snapshot(), 'gpt-5')?.id).toBe('gpt-5');
    });

    it('leaves a simulator channel out until its address is known', async () => {
      const demo = {
        ...channel,
        name: 'demo',
        provider: 'simulator' as const,
        baseUrl: null,
        models: [{ name: 'demo-chat', upstream: 'demo-chat' }],
      };
      await change(database, (file) => upsertChannel(file, demo));
      await store.refresh();
      expect(routesOf('default', 'demo-chat')).toBeUndefined();
      simulatorUrl = 'http://127.0.0.1:9';
      await store.refresh();
      expect(routesOf('default', 'demo-chat')).toEqual([
        { channel: 'demo', upstream: 'demo-chat' },
      ]);
    });

    it('keeps disabled models, and drops the routes of disabled channels', async () => {
      await change(database, async (file) => {
        await disableModel(file, 'fast');
        await disableChannel(file, 'openai-main');
      });
      await store.refresh();
      expect(resolveModel(store.snapshot(), 'fast')?.model.enabled).toBe(false);
      expect(routesOf('default', 'fast')).toBeUndefined();
    });

    it('restores a bundled model once the file does not mention it', async () => {
      const own = {
        ...model,
        id: 'gpt-5',
        displayName: 'Ours',
        price: { input: '99', output: '99' },
      };
      await change(database, (file) => upsertModel(file, own));
      await store.refresh();
      expect(store.snapshot().models.get('gpt-5')?.price?.input).toBe('99');
      await change(database, (file) => disableModel(file, 'gpt-5'));
      await store.refresh();
      const bundled = bundledModels.find(({ id }) => id === 'gpt-5');
      expect(store.snapshot().models.get('gpt-5')).toMatchObject({
        enabled: true,
        price: bundled?.price,
        displayName: bundled?.displayName,
      });
    });

    it('stores no credential in clear text, and reports another master key', async () => {
      const rows = await database.kysely.selectFrom('channels').selectAll().execute();
      expect(JSON.stringify(rows)).not.toContain('canary');
      if (dialect === 'sqlite') {
        const file = opened.url.slice('sqlite:'.length);
        for (const path of [file, `${file}-wal`]) {
          expect(readFileSync(path).includes('canary')).toBe(false);
        }
      }
      const others = createSecrets(Buffer.alloc(32, 8));
      await expect(listChannels(database.kysely, others)).rejects.toThrow('another master key');
    });

    it('keeps the last snapshot while the database is unreachable', async () => {
      const last = store.snapshot();
      await opened.database.close();
      await expect(store.refresh()).rejects.toBeInstanceOf(Error);
      expect(store.snapshot()).toBe(last);
    });
  });
});

describe('bundled models', () => {
  it('are unique, and each belongs to a provider, except those that BytePlus has', () => {
    expect(new Set(bundledModels.map(({ id }) => id)).size).toBe(bundledModels.length);
    const ofNone = bundledModels.filter(({ providers }) => providers.length === 0);
    expect(ofNone.map(({ id }) => id).filter((id) => !/^seed(ream|ance)-/.test(id))).toEqual([]);
  });

  it('prices every demo model above zero', () => {
    const demo = bundledModelsOf('simulator');
    expect(demo.map(({ id }) => id)).toContain('demo-chat');
    for (const { price } of demo) expect(JSON.stringify(price)).toMatch(/[1-9]/);
  });
});
