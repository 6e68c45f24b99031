import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedSettings, describeSettings, loadConfig, parseConfig } from '#config/index.ts';

const full = join(import.meta.dirname, 'fixtures/full.yaml');
const environment = {
  DATABASE_PASSWORD: 'canary-pa55@word',
  MASTER_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64'),
  ADMIN_PASSWORD: 'canary correct horse',
  METRICS: 'canary-scrape-me-please',
  OPENAI: 'canary-upstream-credential',
  OIDC_SECRET: 'canary-signs-people-in',
  S3_SECRET: 'canary-signs-what-is-kept',
  CI_KEY: 'sk-canary-0123456789abcdefghijklmnopqrstu',
  HTTP_PROXY: 'http://ann:canary-proxy@proxy.example.org:3128',
  ANTHROPIC_API_KEY: 'canary-of-the-environment',
};
const bundledModels = ['bundled-model'];

test('every setting of a file has its line, its variables, and no secret', () => {
  const config = loadConfig({ path: full, environment, workingDirectory: '/srv', bundledModels });
  const described = describeSettings(config);
  const of = (name: string) => described.find((each) => each.name === name);
  const text = JSON.stringify(described);
  expect(text).not.toContain('canary');
  expect(text).not.toContain(environment.MASTER_KEY);

  const inFile = (line: number, variables: string[] = []) => ({ from: 'file', line, variables });
  expect(of('server.port')).toEqual({
    name: 'server.port',
    value: 9000,
    usual: 8080,
    secret: false,
    set: true,
    origin: inFile(4),
  });
  expect(of('server.body_limit')).toMatchObject({ value: '32MiB', usual: '64MiB' });
  expect(of('timeouts.connect')).toMatchObject({ value: '1500ms', usual: '3s' });
  expect(of('billing.database_away')).toMatchObject({ value: { up_to: '2.5' }, usual: 'refuse' });
  expect(of('console.listen')).toMatchObject({ value: '[::1]:8081', usual: null });
  expect(of('retention.error_texts')).toMatchObject({ value: 0, usual: '30d' });
  expect(of('storage.url')).toEqual({
    name: 'storage.url',
    value: 'postgres://…@db.internal/sluice',
    usual: 'sqlite:./data/sluice.db',
    secret: true,
    set: true,
    origin: inFile(13, ['DATABASE_PASSWORD']),
  });
  expect(of('secrets.master_key')).toEqual({
    name: 'secrets.master_key',
    value: null,
    usual: null,
    secret: true,
    set: true,
    origin: inFile(18, ['MASTER_KEY']),
  });
  expect(of('video.s3.access_key_id')).toMatchObject({ value: 'resu…' });
  expect(of('HTTP_PROXY')).toMatchObject({
    value: 'http://…@proxy.example.org:3128/',
    origin: { from: 'environment', variables: ['HTTP_PROXY'] },
  });
  expect(of('ANTHROPIC_API_KEY')).toMatchObject({ value: null, secret: true, set: true });
});

test('the environment and defaults are named as such', () => {
  const text = 'limits: { in_flight: 100 }\nserver: { port: "${PORT:-}" }';
  const config = parseConfig(text, {
    file: 'f.yaml',
    environment: { SLUICE_ADMIN_PASSWORD: 'canary correct horse' },
  });
  const origins = Object.fromEntries(
    describeSettings(config).map(({ name, origin }) => [name, origin]),
  );
  expect(origins).toMatchObject({
    'limits.in_flight': { from: 'file', line: 1, variables: [] },
    'server.port': null,
    'admin.password': { from: 'environment', variables: ['SLUICE_ADMIN_PASSWORD'] },
    'secrets.master_key': null,
  });
  const derived = describeSettings(config).find(({ name }) => name === 'limits.key_concurrency');
  expect(derived).toMatchObject({ value: 50, usual: null, origin: null });
});

test.each([
  ['postgres://ann:p@ss@a:5432,b/db?password=x', 'postgres://…@a:5432,b/db?…'],
  ['postgres://host/db#x', 'postgres://host/db?…'],
  ['sqlite:./data/sluice.db', 'sqlite:./data/sluice.db'],
])('of %s %s is shown', (url, shown) => {
  const config = parseConfig('{}', { file: 'f.yaml', environment: {}, workingDirectory: '/srv' });
  const named = { ...config, storage: { ...config.storage, url } };
  const setting = describeSettings(named).find(({ name }) => name === 'storage.url');
  expect(setting?.value).toBe(shown);
});

test('settings that a newly read file changes are named', () => {
  const read = (text: string) => parseConfig(text, { file: 'f.yaml', environment: {} });
  const before = read('video: { s3: { region: eu-1 } }');
  const after = read('server: { tls: { cert: a, key: b } }\nadmin: { email: a@b.c }');
  expect(changedSettings(before, before)).toEqual([]);
  expect(changedSettings(before, after)).toEqual([
    'server.tls.cert',
    'server.tls.key',
    'video.s3.region',
  ]);
});
