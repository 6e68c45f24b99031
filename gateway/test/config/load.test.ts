import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, loadConfig, parseConfig } from '#config/index.ts';

const environment = {
  DATABASE_PASSWORD: 'pa55',
  MASTER_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64'),
  ADMIN_PASSWORD: 'correct horse',
  METRICS: 'scrape-me-please',
  OPENAI: 'sk-upstream-credential',
  S3_SECRET: 'signs-what-is-kept',
  OIDC_SECRET: 'signs-people-in',
  CI_KEY: 'sk-ci-0123456789abcdefghijklmnopqrstu',
};

const full = join(import.meta.dirname, 'fixtures/full.yaml');

test('a file with every setting loads completely', () => {
  const config = loadConfig({
    path: full,
    environment,
    workingDirectory: '/srv',
    bundledModels: ['bundled-model'],
  });
  expect(config).toMatchSnapshot({
    file: expect.any(String),
    origins: expect.any(Object),
    lines: expect.any(Object),
  });
});

test('the lines of entries are known in every layout', () => {
  const text = `groups:
  - name: a

  # of another group
  - { name: b }
channels: [
  { name: one, provider: simulator, models: [demo-chat] },
  { name: two, provider: simulator, models: [demo-chat] } ]
aliases:
  quick: bundled-model
  2: bundled-model
`;
  const { lines } = parseConfig(text, {
    file: 'f.yaml',
    environment: {},
    bundledModels: ['bundled-model', 'demo-chat'],
  });
  // A mapping has names that are numbers first.
  const [models, users, teams, keys] = [[], [], [], []];
  expect(lines).toEqual({
    groups: [2, 5],
    channels: [7, 8],
    aliases: [11, 10],
    models,
    users,
    teams,
    keys,
  });
});

test('the configuration is frozen at every level', () => {
  const config = loadConfig({ path: full, environment, bundledModels: ['bundled-model'] });
  expect(Object.isFrozen(config)).toBe(true);
  expect(Object.isFrozen(config.declared?.channels[0]?.models[0])).toBe(true);
  expect(Object.isFrozen(config.server.trustedProxies)).toBe(true);
});

test('without a file everything has its default and nothing is declared', () => {
  const workingDirectory = mkdtempSync(join(tmpdir(), 'sluice-'));
  const config = loadConfig({ environment: {}, workingDirectory });
  expect({ ...config, storage: null, video: null }).toMatchSnapshot();
  expect(config.storage).toEqual({
    url: `sqlite:${workingDirectory}/data/sluice.db`,
    dataDir: `${workingDirectory}/data`,
  });
  expect(config.video.storageUrl).toBe(`file:${workingDirectory}/data/results`);
});

test('the path comes from the argument, then the environment, then the working directory', () => {
  const workingDirectory = mkdtempSync(join(tmpdir(), 'sluice-'));
  for (const [name, port] of [
    ['sluice.yaml', 1],
    ['environment.yaml', 2],
    ['argument.yaml', 3],
  ] as const) {
    writeFileSync(join(workingDirectory, name), `server: { port: ${port} }\n`);
  }
  const load = (path: string | undefined, variables: Record<string, string>) =>
    loadConfig({ path, environment: variables, workingDirectory });
  expect(load(undefined, {})).toMatchObject({ file: 'sluice.yaml', server: { port: 1 } });
  const named = { SLUICE_CONFIG: 'environment.yaml' };
  expect(load(undefined, named)).toMatchObject({ server: { port: 2 } });
  expect(load('argument.yaml', named)).toMatchObject({ server: { port: 3 } });
  expect(() => load('absent.yaml', {})).toThrow(
    'absent.yaml: expected a readable file, got no such file',
  );
});

test('JSON reads like YAML', () => {
  const text = '{\n\t"server": {\n\t\t"port": 9000\n\t},\n\t"aliases": {}\n}';
  const config = parseConfig(text, { file: 'sluice.json', environment: {} });
  expect(config.server.port).toBe(9000);
  expect(() => parseConfig('{\n\t"server": { "prot": 1 }\n}', { file: 'sluice.json' })).toThrow(
    'sluice.json:2: server.prot: expected a known key, got "prot" (did you mean "port"?)',
  );
});

test('an empty file declares nothing', () => {
  const config = parseConfig('# nothing yet\n', { file: 'sluice.yaml', environment: {} });
  expect(config.declared).toEqual({
    groups: [],
    channels: [],
    models: [],
    aliases: {},
    users: [],
    teams: [],
    keys: [],
  });
});

test.each([
  ['openai', 'https://host', 'https://host/v1'],
  ['openai', 'https://host/', 'https://host/v1'],
  ['openai', 'https://host/v1/', 'https://host/v1'],
  ['openai', 'https://host/proxy/v1', 'https://host/proxy/v1'],
  ['openai-compatible', 'http://127.0.0.1:8000', 'http://127.0.0.1:8000/v1'],
  ['openai-compatible', 'https://host/api/paas/v4', 'https://host/api/paas/v4'],
  ['anthropic', 'https://host', 'https://host/v1'],
  ['gemini', 'https://host', 'https://host/v1beta'],
  ['gemini', 'https://host/v1', 'https://host/v1'],
  ['dashscope', 'https://host', 'https://host/api/v1'],
  ['ark', 'https://host/', 'https://host/api/v3'],
  ['simulator', 'http://127.0.0.1:4000/', 'http://127.0.0.1:4000'],
])('base URL of %s: %s becomes %s', (provider, given, expected) => {
  const text = `channels: [{ name: a, provider: ${provider}, base_url: "${given}", models: [] }]`;
  const config = parseConfig(text, { file: 'sluice.yaml', environment: {} });
  expect(config.declared?.channels[0]?.baseUrl).toBe(expected);
});

test.each([
  ['openai', 'https://api.openai.com/v1', ['chat', 'responses', 'images', 'embeddings']],
  ['anthropic', 'https://api.anthropic.com/v1', ['messages']],
  ['gemini', 'https://generativelanguage.googleapis.com/v1beta', ['generate-content']],
  ['dashscope', 'https://dashscope.aliyuncs.com/api/v1', ['video-synthesis']],
  ['ark', 'https://ark.cn-beijing.volces.com/api/v3', ['video-contents', 'images']],
])('%s has its own address and protocols', (provider, baseUrl, protocols) => {
  const text = `channels: [{ name: a, provider: ${provider}, models: [] }]`;
  const config = parseConfig(text, { file: 'sluice.yaml', environment: {} });
  expect(config.declared?.channels[0]).toMatchObject({ baseUrl, protocols });
});

test('money keeps every digit that was written', () => {
  const prices = ['0.1', '0.10', '1e-7', '"3.000000001"', '.5', '123456.123456789', '0'];
  const text = `models:\n${prices
    .map((price, index) => `  - { id: m${index}, type: chat, price: { input: ${price} } }`)
    .join('\n')}`;
  const config = parseConfig(text, { file: 'sluice.yaml', environment: {} });
  expect(config.declared?.models.map((model) => model.price?.input)).toEqual([
    '0.1',
    '0.10',
    '0.0000001',
    '3.000000001',
    '0.5',
    '123456.123456789',
    '0',
  ]);
});

test('several workers need PostgreSQL, and no Redis', () => {
  const text = 'server: { workers: 2 }\nstorage: { url: "postgres://p/d" }';
  const config = parseConfig(text, { file: 'f.yaml', environment: {}, bundledModels: [] });
  expect([config.server.workers, config.redis.url]).toEqual([2, null]);
});

test('anchors and aliases of YAML work', () => {
  const text =
    'timeouts: &fast { connect: 1s }\nchannels:\n  - { name: a, provider: openai, models: [], timeouts: *fast }\n';
  const config = parseConfig(text, { file: 'sluice.yaml', environment: {} });
  expect(config.declared?.channels[0]?.timeouts).toEqual({ connect: 1000 });
});

test('provider keys of the environment are offered', () => {
  const config = parseConfig('', {
    file: null,
    environment: { ARK_API_KEY: 'ark-key', OPENAI_API_KEY: 'open-key', GEMINI_API_KEY: '' },
  });
  expect(config.environmentKeys).toEqual([
    { provider: 'openai', apiKey: 'open-key' },
    { provider: 'ark', apiKey: 'ark-key' },
  ]);
  expect(config.declared).toBeNull();
});

test('the master key and the password may come from the environment alone', () => {
  const config = parseConfig('', {
    file: null,
    environment: { SLUICE_MASTER_KEY: environment.MASTER_KEY, SLUICE_ADMIN_PASSWORD: 'a good one' },
  });
  expect(config.secrets.masterKey).toHaveLength(32);
  expect(config.admin).toEqual({ email: 'admin@localhost', password: 'a good one' });
});

test('hostile text is refused quickly, without a crash', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 12; level += 1) {
    const before = String.fromCharCode(96 + level);
    const now = String.fromCharCode(97 + level);
    bomb.push(`${now}: &${now} [${Array(10).fill(`*${before}`).join(', ')}]`);
  }
  const texts = [
    bomb.join('\n'),
    'a: &a [*a]',
    `a: ${'['.repeat(100_000)}`,
    `${'- '.repeat(5_000)}x`,
    '__proto__: { polluted: true }',
    '{ "__proto__": { "host": "x" } }',
    '? [a, b]\n: c',
    '!!js/function "x"',
    '\0',
  ];
  for (const text of texts) {
    expect(() => parseConfig(text, { file: 'sluice.yaml', environment: {} })).toThrow(ConfigError);
  }
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('the digest of the lists depends on what they say, not on layout, comments and settings', () => {
  const digestOf = (text: string) =>
    parseConfig(text, { file: 'f.yaml', environment: { NAME: 'ada' } }).listsDigest;
  const text = 'server: { port: 1 }\nusers: [{ email: ada@example.com }]';
  expect(digestOf(`# other\nusers:\n  - email: "\${NAME}@example.com"`)).toBe(digestOf(text));
  expect(digestOf(text.replace('ada@', 'bob@'))).not.toBe(digestOf(text));
});
