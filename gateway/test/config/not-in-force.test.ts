import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { protocolNames } from '#canonical/index.ts';
import { loadConfig } from '#config/index.ts';
import { notInForce } from '#config/not-in-force.ts';
import { textProtocols, videoProtocols } from '#protocols/index.ts';
import { findVendor, providerNames } from '#vendors/index.ts';
import { createWorkplace } from '../commands/support.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const full = path.join(import.meta.dirname, 'fixtures/full.yaml');
const environment = {
  DATABASE_PASSWORD: 'pa55',
  MASTER_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64'),
  ADMIN_PASSWORD: 'correct horse',
  METRICS: 'scrape-me-please',
  OPENAI: 'sk-upstream-credential',
  S3_SECRET: 'signs-what-is-kept',
  CI_KEY: 'sk-ci-0123456789abcdefghijklmnopqrstu',
};

const everyOne = `
admin: { password: correct horse }
timeouts: { image_first_byte: 1s, total: 1m }
video: { poll_interval: 5s, expire_after: 1h }
channels:
  - { name: a, provider: ark, base_url: 'https://a.test', models: [m, p] }
  - { name: d, provider: dashscope, models: [f] }
  - { name: o, provider: openai, protocols: [chat, images], models: [m], timeouts: { image_first_byte: 1s, keepalive_comment: 2s, total: 1m } }
  - { name: s, provider: simulator, protocols: [video-synthesis, video-contents], models: [f] }
models:
  - { id: m, type: chat, image_tool_model: p }
  - { id: p, type: image }
  - { id: f, type: video }
users: [{ email: a@b.test }]
teams: [{ name: t, members: [{ user: a@b.test, role: owner }] }]
`;

describe('sluice check', () => {
  test('warns of every key and value that is not in force yet', async () => {
    const { sluice, json } = createWorkplace(everyOne);
    const lines = ['teams[0].members[0].role: owner is not in force yet'];
    const { code, err } = await sluice('check');
    expect(code).toBe(0);
    expect(err.split('\n').filter((line) => line.includes('in force'))).toEqual(
      lines.map((line) => `warning: ${line}`),
    );
    expect(await json('check')).toMatchObject({ ok: true, warnings: lines });
  });

  test('says nothing of a file that names none of them', async () => {
    const quiet = `admin: { email: a@b.test, password: '' }
video: { poll_interval: 5s }
channels: [{ name: o, provider: openai, models: [m] }]
models: [{ id: m, type: chat }]
`;
    const { sluice } = createWorkplace(quiet, { SLUICE_ADMIN_PASSWORD: 'correct horse' });
    expect((await sluice('check')).err).not.toContain('in force');
  });
});

/*
 * A name that no file but those that carry every setting from the file into the database and out again mentions is read
 * by nobody. The words say it, not the types: a name that something else has too is not seen.
 */

const carriers = [
  'base/config/**',
  'access/declaration/**',
  'access/other-gateways/**',
  'access/price-lists/**',
  'access/catalogue/bundled/**',
  'access/catalogue/build-snapshot.ts',
  'access/catalogue/snapshot.ts',
  'access/**/*.repository.ts',
  // It makes the first channels, as a file would declare them.
  'process/startup/first-start.ts',
];

/** What the words cannot tell, with the reason. */
const untellable: Readonly<Record<string, string>> = {
  'teams[].members[].role': 'users have roles too',
};

const source = path.join(root, 'gateway/src');
const words: ReadonlySet<string> = new Set(
  globSync('**/*.ts', { cwd: source })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => !carriers.some((glob) => path.posix.matchesGlob(file, glob)))
    .flatMap((file) => readFileSync(path.join(source, file), 'utf8').match(/\w+/g) ?? []),
);

const camelCase = (key: string): string =>
  key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The names of all settings and of all fields of what a file declares. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    /^[a-z][A-Za-z0-9]*$/.test(name) ? [name, ...namesIn(part)] : namesIn(part),
  );
}

const listed = notInForce.filter(({ values }) => values === undefined);
const tellable = listed.filter(({ path: key }) => untellable[key] === undefined);
const nameOf = (key: string): string => camelCase(key.slice(key.lastIndexOf('.') + 1));

test('what is listed is read by nobody', () => {
  expect(tellable.map(({ path: key }) => key).filter((key) => words.has(nameOf(key)))).toEqual([]);
});

test('what is read by nobody is listed', () => {
  const config = loadConfig({ path: full, environment, bundledModels: ['bundled-model'] });
  const unread = new Set(namesIn(config).filter((name) => !words.has(name)));
  expect([...unread].toSorted()).toEqual(
    [...new Set(tellable.map(({ path: key }) => nameOf(key)))].toSorted(),
  );
});

test('every reason why the words cannot tell is of a key that is listed', () => {
  const keys = notInForce.map(({ path: key }) => key);
  expect(Object.keys(untellable).filter((key) => !keys.includes(key))).toEqual([]);
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

test('the documentation names all of them', () => {
  const page = readFileSync(path.join(root, 'docs/configuration.md'), 'utf8');
  const section = /^## Not in force yet$([^]*?)^## /m.exec(page)?.[1] ?? '';
  const terms = notInForce.flatMap(({ path: key, values }) => values ?? key.split('.').at(-1)!);
  expect(
    terms.filter((term) => !section.includes(`\`${term}\``) && !section.includes(`.${term}\``)),
  ).toEqual([]);
});
