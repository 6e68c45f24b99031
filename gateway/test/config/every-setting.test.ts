import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { protocolNames } from '#canonical/index.ts';
import { loadConfig } from '#config/index.ts';
import { textProtocols, videoProtocols } from '#protocols/index.ts';
import { findVendor, providerNames } from '#vendors/index.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const full = path.join(import.meta.dirname, 'fixtures/full.yaml');
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

/*
 * A name that no file but those that carry every setting from the file into the database and out again mentions is read
 * by nobody. The words say it, not the types: a name that something else has too is not seen.
 */

const carriers = [
  'base/config/**',
  'access/declaration/**',
  'access/catalogue/bundled/**',
  'access/catalogue/build-snapshot.ts',
  'access/catalogue/snapshot.ts',
  'access/**/*.repository.ts',
  // It makes the first channels, as a file would declare them.
  'process/startup/first-start.ts',
];

const source = path.join(root, 'gateway/src');
const words: ReadonlySet<string> = new Set(
  globSync('**/*.ts', { cwd: source })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => !carriers.some((glob) => path.posix.matchesGlob(file, glob)))
    .flatMap((file) => readFileSync(path.join(source, file), 'utf8').match(/\w+/g) ?? []),
);

/** The names of all settings and of all fields of what a file declares. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    /^[a-z][A-Za-z0-9]*$/.test(name) ? [name, ...namesIn(part)] : namesIn(part),
  );
}

/** The snapshot, which carries it too, has it under another name. */
const renamed: Readonly<Record<string, string>> = { apiKeys: 'credentials' };

test('every setting is read', () => {
  const config = loadConfig({ path: full, environment, bundledModels: ['bundled-model'] });
  const names = namesIn(config).map((name) => renamed[name] ?? name);
  expect(names.filter((name) => !words.has(name))).toEqual([]);
});

test('every provider is served', () => {
  expect(providerNames.filter((name) => findVendor(name) === undefined)).toEqual([]);
});

test('every protocol is spoken', () => {
  const spoken = new Set<string>([
    ...Object.keys(textProtocols),
    ...Object.keys(videoProtocols),
    'embeddings',
    'images',
  ]);
  expect(protocolNames.filter((name) => !spoken.has(name))).toEqual([]);
});
