import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyFile, recordAudit } from '#administration/index.ts';
import { type Kind, kinds, parseConfig } from '#config/index.ts';
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

const byForm: Partial<Record<Kind['list'][number]['form'], fc.Arbitrary<unknown>>> = {
  count: maybe(count),
  amount: maybe(money),
  flag: fc.boolean(),
  time: maybe(fc.constant('2027-01-01T00:00:00.500+02:00')),
};

/** Entries with every member of their kind: of some forms by themselves, of the others as given here. */
function entry({ name: kind, list }: Kind, own: Readonly<Record<string, fc.Arbitrary<unknown>>>) {
  const members = list.map(({ name: member, form, stored }) => {
    const values = own[member] ?? (stored === 'hash' ? fc.constant(null) : byForm[form]);
    if (values === undefined) throw new Error(`no values for ${member} of a ${kind}`);
    return [member, values] as const;
  });
  return fc.record(Object.fromEntries(members));
}

const file = fc
  .record({ groups: names, channels: names, models: names, teams: names, keys: names })
  .chain((all) => {
    const one = (list: readonly string[]) => fc.constantFrom(...list);
    const some = (list: readonly string[]) => fc.subarray([...list], { minLength: 1 });
    const user = fc.constantFrom('a@b.c', 'D@E.F');
    return fc.record({
      groups: fc.tuple(
        ...all.groups.map((group) =>
          entry(kinds.group, {
            name: fc.constant(group),
            price_multiplier: fc.integer({ min: 0, max: 9 }).map((digit) => `1.${digit}`),
          }),
        ),
      ),
      models: fc.tuple(
        ...all.models.map((id) =>
          fc
            .tuple(
              entry(kinds.model, {
                id: fc.constant(id),
                type: fc.constant(null),
                display_name: maybe(name),
                owned_by: maybe(name),
                context_window: maybe(fc.integer({ min: 1, max: 9_999 })),
                max_output_tokens: maybe(fc.integer({ min: 1, max: 9_999 })),
                capabilities: fc.subarray(['vision', 'tools', 'reasoning']),
                echo_reasoning: fc.constantFrom(null, 'require', 'allow', 'strip'),
                allow: fc.subarray(['speed.fast', 'models.other']),
                price: fc.constant(null),
              }),
              price,
            )
            .map(([rest, kind]) => ({ ...rest, id, ...kind })),
        ),
      ),
      channels: fc.tuple(
        ...all.channels.map((channel) =>
          entry(kinds.channel, {
            name: fc.constant(channel),
            provider: fc.constantFrom('openai', 'ark', 'simulator'),
            base_url: maybe(fc.constantFrom('https://host.example', 'http://127.0.0.1:1/x')),
            api_keys: fc.constantFrom([], ['same'], ['same', 'same']),
            protocols: fc.constant(null),
            groups: some(all.groups),
            models: fc
              .tuple(some(all.models), fc.subarray(['*a', 'gpt-*']))
              .map(([models, patterns]) => [
                ...models.map((model, index) =>
                  index === 0 ? model : { name: model, upstream: 'other' },
                ),
                ...patterns,
              ]),
            headers: fc.constantFrom({}, { 'x-a': 'same' }),
            timeouts: fc.constantFrom({}, { connect: '1500ms', total: '2h' }),
            user_agents: fc.constantFrom([], ['*/1.?']),
            proxy: fc.constantFrom(null, 'direct', 'http://proxy.example.com:3128/'),
            cache: fc.constantFrom('auto', 'off'),
            state: fc.constantFrom('guarded', 'owned', 'any'),
            shared_state: fc.subarray(['vs_a', 'file-*', '*', 'a?b']),
          }),
        ),
      ),
      users: fc.tuple(
        entry(kinds.user, {
          email: fc.constant('a@b.c'),
          name: maybe(name),
          role: fc.constantFrom('member', 'viewer', 'operator'),
          groups: fc.subarray(all.groups),
        }),
        fc.constant({ email: 'D@E.F', role: 'admin' }),
      ),
      teams: fc.tuple(
        ...all.teams.map((team) =>
          entry(kinds.team, {
            name: fc.constant(team),
            groups: fc.subarray(['default', ...all.groups]),
            budget: fc.record({ daily: maybe(money), total: maybe(money) }),
            database_away: fc.constantFrom(null, 'refuse', { up_to: '2.50' }),
            time_zone: fc.constantFrom('UTC', 'Europe/Berlin'),
            members: fc.constantFrom(
              [],
              [{ user: 'd@e.f', role: 'owner', budget: '1.50' }, { user: 'a@b.c' }],
            ),
          }),
        ),
      ),
      keys: fc.tuple(
        ...all.keys.map((key) =>
          entry(kinds.key, {
            name: fc.constant(key),
            user,
            team: maybe(one(all.teams)),
            group: one(all.groups),
            models: fc.subarray(all.models),
            ips: fc.constantFrom([], ['10.0.0.0/8', '::1']),
            conversion: fc.constantFrom('strict', 'lenient'),
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
        const plan = planDeclaration(again, state, {
          hashKey: (secret) => testSecrets.hashKey(secret),
        });
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
