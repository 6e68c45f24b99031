import { beforeEach, describe, expect, it } from 'vitest';
import { applyFile, ensureDefaultGroup, listAudit, recordAudit } from '#administration/index.ts';
import { createKey, findUserByEmail, listKeys, upsertUser } from '#identity/index.ts';
import { listAliases, listGroups, upsertGroup, upsertModel } from '#catalogue/index.ts';
import { type Declared, parseConfig } from '#config/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { exportState, planDeclaration, readState } from '#declaration/index.ts';
import {
  change,
  currentRevision,
  dialects,
  isSkipped,
  openTestDatabase,
  testSecrets,
} from '../database/databases.ts';

const file = `
groups: [{ name: partners, price_multiplier: 0.85 }]
channels:
  - { name: main, provider: openai, api_key: sk-first-upstream, groups: [default, partners], models: [fast, gpt-5], headers: { x-team: platform }, proxy: "http://ann:canary-3@proxy:3128" }
  - { name: pair, provider: ark, api_keys: [canary-1, canary-2], models: [fast], timeouts: { first_byte: 90s }, proxy: "http://proxy:3128", enabled: false }
models:
  - { id: fast, type: chat, price: { input: 0.25, cache_write_1h: 1, output: 2 } }
aliases: { helper: fast }
users:
  - { email: ada@example.com, balance: 10.00, quota: 500 }
  - { email: grace@example.com }
teams: [{ name: research, balance: 100, budget: { daily: 20 }, members: [{ user: ada@example.com, role: owner, budget: 50 }, { user: grace@example.com }] }]
keys:
  - { name: ci, user: ada@example.com, team: research, secret: sk-ci-0123456789abcdefghijklmnopqrstu, models: [helper], quota: 5.00, expires_at: 2027-01-01T00:00:00Z }
  - { name: later, user: grace@example.com, group: partners }
`;

const read = (text: string, environment: Record<string, string> = {}): Declared => {
  const config = parseConfig(text, { file: 'f.yaml', environment, bundledModels: ['gpt-5'] });
  if (config.declared === null) throw new Error('nothing declared');
  return config.declared;
};

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('declaration', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      return () => opened.close();
    });

    const apply = (text: string, takesOver = false) =>
      applyFile(
        { database, secrets: testSecrets, audit: recordAudit, now: () => 1_000 },
        { kind: 'file', path: 'f.yaml' },
        read(text),
        { fingerprint: text, node: 'node_a', takesOver },
      );
    const plan = async (
      text: string,
      environment: Record<string, string> = {},
      takesOver = false,
    ) =>
      planDeclaration(read(text, environment), await readState(database.kysely, testSecrets), {
        hashKey: (secret) => testSecrets.hashKey(secret),
        takesOver,
      });

    it('creates what the file declares, owned by the file, and does nothing the second time', async () => {
      const first = await apply(file);
      expect(first.steps.map(({ kind, name, action }) => `${action} ${kind} ${name}`)).toEqual([
        'create group partners',
        'create model fast',
        'create alias helper',
        'create channel main',
        'create channel pair',
        'create user ada@example.com',
        'create user grace@example.com',
        'create team research',
        'create key ci',
        'create key later',
      ]);
      const state = await readState(database.kysely, testSecrets);
      const owned = [
        state.channels,
        state.models,
        state.aliases,
        state.users,
        state.teams,
        state.keys,
      ];
      expect(new Set(owned.flat().map((row) => row.owner))).toEqual(new Set(['file']));
      const revision = await currentRevision(database);
      expect((await apply(file)).steps).toEqual([]);
      expect(await currentRevision(database)).toBe(revision);
    });

    const histories: readonly [string, ...(readonly [string, string, string])[]][] = [
      [
        'a node with an earlier file undoes nothing, until its file is the one in force',
        ['a', 'first', 'applied'],
        ['b', 'first', 'applied'],
        ['b', 'second', 'applied'],
        ['a', 'first', 'earlier'],
        ['a', 'second', 'applied'],
      ],
      [
        'the node whose file is in force goes back to an earlier one, and others follow',
        ['a', 'first', 'applied'],
        ['b', 'second', 'applied'],
        ['b', 'first', 'applied'],
        ['a', 'first', 'applied'],
        ['a', 'second', 'applied'],
        ['b', 'first', 'earlier'],
      ],
      [
        'a new node with an earlier file undoes nothing',
        ['a', 'first', 'applied'],
        ['a', 'second', 'applied'],
        ['c', 'first', 'earlier'],
      ],
      [
        'a file that was never in force comes into force, wherever it is',
        ['a', 'first', 'applied'],
        ['b', 'second', 'applied'],
        ['a', 'third', 'applied'],
        ['b', 'second', 'earlier'],
      ],
      [
        'an earlier file takes over if it is told to',
        ['a', 'first', 'applied'],
        ['b', 'second', 'applied'],
        ['a', 'first', 'taken over'],
        ['b', 'second', 'earlier'],
        ['a', 'first', 'applied'],
      ],
    ];

    it.each(histories)('%s', async (_name, ...steps) => {
      const userOf = (name: string) => `users: [{ email: ada@example.com, name: ${name} }]`;
      let shown = '';
      for (const [index, [node, name, outcome]] of steps.entries()) {
        const applying = applyFile(
          { database, secrets: testSecrets, audit: recordAudit, now: () => index },
          { kind: 'file', path: 'f.yaml' },
          read(userOf(name)),
          { fingerprint: name, node, takesOver: outcome === 'taken over' },
        );
        if (outcome === 'earlier') await expect(applying).rejects.toThrow('an earlier file: ');
        else await applying;
        shown = outcome === 'earlier' ? shown : name;
        const ada = await findUserByEmail(database.kysely, 'ada@example.com');
        expect(ada?.name).toBe(shown);
      }
    });

    it('shows differences field by field, and no secret', async () => {
      await apply(file);
      const changed = file
        .replace('input: 0.25', 'input: 0.5')
        .replace('sk-first-upstream', 'sk-second-upstream')
        .replace('platform', 'other-platform')
        .replace('quota: 500', 'quota: 500.000')
        .replace('sk-ci-0123456789abcdefghijklmnopqrstu', 'sk-ci-another-0123456789abcdefghijklm');
      const { steps } = await plan(changed);
      expect(steps).toEqual([
        {
          kind: 'model',
          name: 'fast',
          action: 'update',
          fields: [
            {
              field: 'price',
              before: '{"input":"0.25","cacheWrite1h":"1","output":"2"}',
              after: '{"input":"0.5","cacheWrite1h":"1","output":"2"}',
              secret: false,
            },
          ],
        },
        {
          kind: 'channel',
          name: 'main',
          action: 'update',
          fields: [
            { field: 'api_keys', before: null, after: null, secret: true },
            { field: 'headers', before: null, after: null, secret: true },
          ],
        },
        {
          kind: 'key',
          name: 'ci',
          action: 'update',
          fields: [{ field: 'secret', before: null, after: null, secret: true }],
        },
      ]);
      await apply(changed);
      expect((await plan(changed)).steps).toEqual([]);
    });

    it('disables what leaves the file and enables what returns', async () => {
      await apply(file);
      const { steps } = await apply('{}');
      expect(new Set(steps.map(({ action }) => action))).toEqual(new Set(['disable']));
      expect(steps).toHaveLength(9);
      const state = await readState(database.kysely, testSecrets);
      expect([...state.channels, ...state.users, ...state.keys].some((row) => row.enabled)).toBe(
        false,
      );
      expect((await apply('{}')).steps).toEqual([]);

      const back = await apply(file);
      expect(back.steps.every(({ action }) => action === 'update')).toBe(true);
      const [key] = await listKeys(database.kysely);
      expect(key).toMatchObject({ name: 'ci', enabled: true, hasSecret: true });
      expect(await listAliases(database.kysely)).toMatchObject([{ name: 'helper', enabled: true }]);
    });

    it('books an opening credit once', async () => {
      await apply(file);
      const raised = file.replace('balance: 10.00', 'balance: 99');
      const { steps, notes } = await apply(raised);
      expect(steps).toEqual([]);
      expect(notes).toEqual([
        "user 'ada@example.com': the opening credit was booked when the user was created and stays; use 'sluice user credit' to correct a balance",
        "key 'later' has no secret yet: 'sluice key create' gives it one",
      ]);
      expect(await findUserByEmail(database.kysely, 'ada@example.com')).toMatchObject({
        balance: '10',
      });
    });

    it('refuses a name created in the console, and then changes nothing', async () => {
      await change(
        database,
        (console) => upsertModel(console, { ...read(file).models[0]!, displayName: 'Mine' }),
        'console',
      );
      await expect(apply(file)).rejects.toThrow(
        "model 'fast' is declared in the file but was created in the console: rename one of them, or let the file have it with --take-over",
      );
      expect(await listGroups(database.kysely)).toEqual([]);
    });

    it('takes over what the console created, of every kind, with the secrets that the file names', async () => {
      await apply(file);
      const owned = ['groups', 'models', 'aliases', 'channels', 'users', 'teams', 'keys'] as const;
      for (const table of owned) {
        await database.kysely.updateTable(table).set({ owner: 'console' }).execute();
      }
      // What another secret opened before stays with a key whose secret the file does not name.
      const later = read(file).keys[1]!;
      await change(database, (console) => createKey(console, later), 'console');
      const [{ hash: kept } = { hash: null }] = await secretsOf('later');
      const changed = file
        .replace('sk-first-upstream', 'sk-second-upstream')
        .replace('quota: 500', 'quota: 600')
        .replace('sk-ci-0123456789abcdefghijklmnopqrstu', 'sk-ci-another-0123456789abcdefghijklm');
      await expect(apply(changed)).rejects.toThrow('--take-over');

      const { steps, conflicts } = await plan(changed, {}, true);
      const owner = { field: 'owner', before: '"console"', after: '"file"', secret: false };
      const secret = (field: string) => ({ field, before: null, after: null, secret: true });
      expect(conflicts).toEqual([]);
      expect(steps).toEqual(
        [
          ['group', 'partners'],
          ['model', 'fast'],
          ['alias', 'helper'],
          ['channel', 'main', secret('api_keys')],
          ['channel', 'pair'],
          [
            'user',
            'ada@example.com',
            { field: 'quota', before: '"500"', after: '"600"', secret: false },
          ],
          ['user', 'grace@example.com'],
          ['team', 'research'],
          ['key', 'ci', secret('secret')],
          ['key', 'later'],
        ].map(([kind, name, ...fields]) => ({
          kind,
          name,
          action: 'update',
          fields: [...fields, owner],
        })),
      );
      const lines = await auditLines();
      expect((await apply(changed, true)).steps).toEqual(steps);
      expect((await auditLines()) - lines).toBe(steps.length);
      const [ci] = await secretsOf('ci');
      expect(ci).toEqual({
        hash: testSecrets.hashKey('sk-ci-another-0123456789abcdefghijklm'),
        owner: 'file',
        secret_owner: 'file',
      });
      expect(await secretsOf('later')).toEqual([
        { hash: kept, owner: 'file', secret_owner: 'console' },
      ]);
      const revision = await currentRevision(database);
      expect((await apply(changed, true)).steps).toEqual([]);
      expect((await apply(changed)).steps).toEqual([]);
      expect(await currentRevision(database)).toBe(revision);
    });

    const secretsOf = (name: string) =>
      database.kysely
        .selectFrom('keys')
        .select(['hash', 'owner', 'secret_owner'])
        .where('name', '=', name)
        .execute();
    const auditLines = async () => (await listAudit(database.kysely, { limit: 1_000 })).length;

    it('never touches what the console created', async () => {
      const person = { ...read(file).users[0]!, email: 'eve@example.com' };
      await change(database, (console) => upsertUser(console, person), 'console');
      await apply(file);
      await apply('{}');
      expect(await findUserByEmail(database.kysely, 'eve@example.com')).toMatchObject({
        enabled: true,
        owner: 'console',
      });
    });

    it('takes over rows that the gateway created itself', async () => {
      await ensureDefaultGroup(
        { database, secrets: testSecrets, audit: recordAudit, now: () => 1_000 },
        { kind: 'gateway' },
      );
      await apply('groups: [{ name: default, price_multiplier: 2 }]');
      expect(await listGroups(database.kysely)).toMatchObject([
        { name: 'default', priceMultiplier: '2', owner: 'file' },
      ]);
      await apply('{}');
      expect(await listGroups(database.kysely)).toMatchObject([
        { name: 'default', priceMultiplier: '1', enabled: true },
      ]);
    });

    it('leaves the default group to the console until the file names it', async () => {
      await change(
        database,
        (console) => upsertGroup(console, { name: 'default', priceMultiplier: '3', enabled: true }),
        'console',
      );
      await apply(file);
      const groups = await listGroups(database.kysely);
      expect(groups.find(({ name }) => name === 'default')).toMatchObject({ priceMultiplier: '3' });
    });

    it('keeps the secret of a key that the file declares without one', async () => {
      await apply(file);
      const later = read(file).keys[1]!;
      await change(database, (console) => createKey(console, later), 'console');
      expect(await plan(file)).toMatchObject({ steps: [], notes: [] });
      expect((await apply(file)).steps).toEqual([]);
      expect((await listKeys(database.kysely))[1]).toMatchObject({
        name: 'later',
        hasSecret: true,
      });
    });

    it('reports which key already has a secret', async () => {
      await apply(file);
      const renamed = file.replace('name: ci', 'name: deploy');
      expect((await plan(renamed)).conflicts).toEqual([
        "key 'deploy' has the secret of key 'ci': give it a new one",
      ]);
    });

    it('reports which user is missing', async () => {
      const text =
        'admin: { email: root@example.com }\nkeys: [{ name: k, user: root@example.com }]';
      await expect(apply(text)).rejects.toThrow(
        "key 'k' names user 'root@example.com', who does not exist yet",
      );
    });

    it('applies the same file from many nodes at once', async () => {
      const plans = await Promise.all([1, 2, 3].map(() => apply(file)));
      expect(plans.map(({ steps }) => steps.length).toSorted((a, b) => a - b)).toEqual([0, 0, 10]);
    });

    it('exports a file that changes nothing and contains no secret', async () => {
      await apply(file);
      const text = exportState(await readState(database.kysely, testSecrets), new Set(['gpt-5']));
      expect(text).not.toMatch(/upstream|platform|sk-ci|canary/);
      const environment = {
        MAIN_API_KEY: 'sk-first-upstream',
        MAIN_HEADER_X_TEAM: 'platform',
        MAIN_PROXY: 'http://ann:canary-3@proxy:3128',
        PAIR_API_KEY_1: 'canary-1',
        PAIR_API_KEY_2: 'canary-2',
      };
      expect(await plan(text, environment)).toEqual({
        steps: [],
        conflicts: [],
        notes: ["key 'later' has no secret yet: 'sluice key create' gives it one"],
      });
    });
  });
});
