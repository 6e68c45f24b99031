import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyFile, recordAudit } from '#administration/index.ts';
import { parseConfig } from '#config/index.ts';
import { exportState, planDeclaration, readState } from '#declaration/index.ts';
import { openTestDatabase, testSecrets } from '../database/databases.ts';
import { runs } from '../support/runs.ts';

/** Names that YAML, placeholders or environment variables could misread. */
const name = fc.oneof(
  fc.constantFrom(
    'yes',
    'null',
    '1.0',
    '0x10',
    '${HOME}',
    '$${x}',
    '~',
    'a: b',
    '# x',
    "it's",
    '&a',
    '-',
    'ünï-✓',
    '日本',
  ),
  fc.stringMatching(/^[a-z][a-z0-9.:/_-]{0,12}$/),
);
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 4 });
const money = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), fc.stringMatching(/^[0-9]{1,9}$/))
  .map(([whole, fraction]) => `${whole}.${fraction}`);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const count = fc.integer({ min: 0, max: 100_000 });

const price = fc.oneof(
  fc.constant({ type: 'chat', price: null }),
  fc
    .record({ input: money, output: money, cache_read: maybe(money), cache_write_1h: maybe(money) })
    .map((parts) => ({ type: 'chat', price: parts })),
  fc
    .record({ above: fc.integer({ min: 1, max: 500 }), input: money, cache_write_1h: money })
    .map((tier) => ({
      type: 'chat',
      price: { input: '1', output: '2', tiers: [tier, { above: 501, output: '3' }] },
    })),
  fc
    .record({ input: money, output: money, input_image: money })
    .map((parts) => ({ type: 'image', price: parts })),
  fc.tuple(money, maybe(fc.constant('0.50'))).map(([amount, layer]) => ({
    type: 'image',
    price: {
      image_tiers: [
        { name: '1K', max_pixels: 100, price: amount },
        { name: '2K', max_pixels: 200, price: amount },
      ],
      layer_factor: layer,
      reference_image: amount,
    },
  })),
  money.map((amount) => ({
    type: 'video',
    price: { video_second: { '720P': amount, '1080': amount } },
  })),
  fc.tuple(money, money).map(([text, withVideo]) => ({
    type: 'video',
    price: { video_tokens: { '4K': { text, with_video: withVideo } } },
  })),
);

const file = fc
  .record({ groups: names, channels: names, models: names, teams: names, keys: names })
  .chain((all) => {
    const one = (list: readonly string[]) => fc.constantFrom(...list);
    const some = (list: readonly string[]) => fc.subarray([...list], { minLength: 1 });
    const user = fc.constantFrom('a@b.c', 'D@E.F');
    return fc.record({
      groups: fc.tuple(
        ...all.groups.map((group) =>
          fc.record({
            name: fc.constant(group),
            price_multiplier: fc.integer({ min: 0, max: 9 }).map((digit) => `1.${digit}`),
          }),
        ),
      ),
      models: fc.tuple(
        ...all.models.map((id) =>
          fc
            .record({
              enabled: fc.boolean(),
              display_name: maybe(name),
              context_window: maybe(fc.integer({ min: 1, max: 9_999 })),
              kind: price,
            })
            .map(({ kind, ...rest }) => ({ id, ...rest, ...kind })),
        ),
      ),
      channels: fc.tuple(
        ...all.channels.map((channel) =>
          fc.record({
            name: fc.constant(channel),
            provider: fc.constantFrom('openai', 'ark', 'simulator'),
            base_url: maybe(fc.constantFrom('https://host.example', 'http://127.0.0.1:1/x')),
            api_keys: fc.constantFrom([], ['same'], ['same', 'same']),
            groups: some(all.groups),
            models: fc
              .tuple(some(all.models), fc.subarray(['*a', 'gpt-*']))
              .map(([models, patterns]) => [
                ...models.map((model, index) =>
                  index === 0 ? model : { name: model, upstream: 'other' },
                ),
                ...patterns,
              ]),
            weight: count,
            headers: fc.constantFrom({}, { 'x-a': 'same' }),
            timeouts: fc.constantFrom({}, { connect: '1500ms', total: '2h' }),
            user_agents: fc.constantFrom([], ['*/1.?']),
            proxy: fc.constantFrom(null, 'direct', 'http://proxy.example.com:3128/'),
            bills_after_cancel: fc.boolean(),
            cache: fc.constantFrom('auto', 'off'),
            state: fc.constantFrom('guarded', 'owned', 'any'),
            shared_state: fc.subarray(['vs_a', 'file-*', '*', 'a?b']),
            enabled: fc.boolean(),
          }),
        ),
      ),
      users: fc
        .tuple(maybe(name), money, maybe(money), fc.boolean(), fc.subarray(all.groups))
        .map(([label, balance, quota, enabled, groups]) => [
          { email: 'a@b.c', name: label, balance, quota, enabled, groups },
          { email: 'D@E.F', role: 'admin' },
        ]),
      teams: fc.tuple(
        ...all.teams.map((team) =>
          fc.record({
            name: fc.constant(team),
            balance: money,
            rpm: maybe(count),
            groups: fc.subarray(['default', ...all.groups]),
            budget: fc.record({ daily: maybe(money), total: maybe(money) }),
            members: fc.constantFrom([], [{ user: 'd@e.f', budget: '1.50' }, { user: 'a@b.c' }]),
          }),
        ),
      ),
      keys: fc.tuple(
        ...all.keys.map((key) =>
          fc.record({
            name: fc.constant(key),
            user,
            team: maybe(one(all.teams)),
            group: one(all.groups),
            models: fc.subarray(all.models),
            quota: maybe(money),
            rpm: maybe(count),
            ips: fc.constantFrom([], ['10.0.0.0/8', '::1']),
            expires_at: maybe(fc.constant('2027-01-01T00:00:00.500+02:00')),
            conversion: fc.constantFrom('strict', 'lenient'),
            enabled: fc.boolean(),
          }),
        ),
      ),
    });
  })
  .map((sections) => ({ ...sections, aliases: { 'an alias': sections.models[0]?.id } }));

/** The environment that an export asks for. Every secret of the generated files is the same text. */
const filled = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/(?<!\$)\$\{(\w+)\}/g)].map(([, variable]) => [variable, 'same']),
  );

test('an applied and exported file round-trips', async () => {
  await fc.assert(
    fc.asyncProperty(file, async (sections) => {
      // `$${` keeps names that look like placeholders what they are.
      const text = JSON.stringify(sections).replaceAll('${', () => '$${');
      const opened = await openTestDatabase('sqlite');
      try {
        const declared = parseConfig(text, { file: 'f.json', environment: {} }).declared!;
        await applyFile(
          { database: opened.database, secrets: testSecrets, audit: recordAudit, now: Date.now },
          { kind: 'file', path: 'f.json' },
          declared,
          { fingerprint: 'a', node: 'node_a' },
        );
        const exported = exportState(
          await readState(opened.database.kysely, testSecrets),
          new Set(),
        );
        const again = parseConfig(exported, {
          file: 'e.yaml',
          environment: filled(exported),
        }).declared!;
        const state = await readState(opened.database.kysely, testSecrets);
        const plan = planDeclaration(again, state, (secret) => testSecrets.hashKey(secret));
        expect({ steps: plan.steps, conflicts: plan.conflicts }).toEqual({
          steps: [],
          conflicts: [],
        });
      } finally {
        await opened.close();
      }
    }),
    { numRuns: runs(6, 20), endOnFailure: true },
  );
}, 60_000);
