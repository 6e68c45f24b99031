import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { applyFile, listAudit, recordAudit } from '#administration/index.ts';
import { keyCreate } from '#commands/keys.ts';
import { userCreate } from '#commands/users.ts';
import { ConfigError, parseConfig } from '#config/index.ts';
import { contract } from '#console-api/contract/index.ts';
import { exportState, planDeclaration, readState } from '#declaration/index.ts';
import { upsertUser } from '#identity/index.ts';
import { change, openTestDatabase, testSecrets } from '../database/databases.ts';

/*
 * Everything that is derived from the descriptions of what a file declares: the plan, the export, the rows, the audit
 * log, the messages about wrong values, the options of commands and the API of keys. A difference here is one that
 * operators and clients see.
 */

const text = readFileSync(path.join(import.meta.dirname, 'fixtures/full.yaml'), 'utf8');
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
const bundledModels = ['bundled-model'];

const read = (source: string) =>
  parseConfig(source, { file: 'full.yaml', environment, workingDirectory: '/srv', bundledModels });

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase('sqlite');
});
afterAll(() => opened.close());

/** One line for each, so that a difference is easy to read. */
const lines = (values: readonly unknown[]) => values.map((each) => JSON.stringify(each)).join('\n');

const planned = async (source: string) => {
  const { steps, conflicts, notes } = planDeclaration(
    read(source).declared!,
    await readState(opened.database.kysely, testSecrets),
    { hashKey: (secret) => testSecrets.hashKey(secret) },
  );
  return lines([...steps, conflicts, notes]);
};

const apply = (source: string, now: number) =>
  applyFile(
    { database: opened.database, secrets: testSecrets, audit: recordAudit, now: () => now },
    { kind: 'file', path: 'full.yaml' },
    read(source).declared!,
    { fingerprint: source, node: 'node_a' },
  );

const tables = ['groups', 'channels', 'models', 'aliases', 'users', 'teams', 'keys'] as const;

/** Rows without what is random: ids, and what is sealed under a random number. Columns by name: tables are altered. */
async function rows() {
  const kysely = opened.database.kysely;
  const all = await Promise.all(
    tables.map(async (table) => {
      const found: object[] = await kysely.selectFrom(table).selectAll().execute();
      return [table, ...found.map((row) => withoutRandom(row))];
    }),
  );
  return lines(all.flat());
}

function withoutRandom(row: object): object {
  const values: Record<string, unknown> = { ...row };
  const { id, credentials } = values;
  if (typeof id === 'string' && typeof credentials === 'string') {
    values['credentials'] = testSecrets.open(credentials, `channel:${id}:credentials`);
  }
  return Object.fromEntries(
    Object.entries(values)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .filter(([, value]) => typeof value !== 'string' || !/^[a-z]+_[0-9a-f]{24}$/.test(value))
      .map(([column, value]) => [column, typeof value === 'bigint' ? `${value}n` : value]),
  );
}

const messagesOf = (source: string): readonly string[] => {
  try {
    read(source);
    return [];
  } catch (error) {
    return (error as ConfigError).message.split('\n');
  }
};

test('the plan, the rows, the export and the audit log of a file with every setting', async () => {
  const { email } = read(text).admin;
  await change(
    opened.database,
    (system) =>
      upsertUser(system, {
        email,
        name: null,
        role: 'admin',
        balance: '100',
        quota: null,
        groups: ['default'],
        enabled: true,
      }),
    'system',
  );
  expect(await planned(text)).toMatchSnapshot('plan of an empty database');
  await apply(text, 1_000);
  expect(await planned(text)).toMatchSnapshot('plan of the same file');
  expect(await rows()).toMatchSnapshot('rows');
  const state = await readState(opened.database.kysely, testSecrets);
  expect(exportState(state, new Set(bundledModels))).toMatchSnapshot('export');

  // Everything back to what is usual.
  const { groups, channels, models, aliases, users, teams, keys } = parse(text) as Record<
    string,
    readonly Record<string, unknown>[]
  >;
  const usual = JSON.stringify({
    admin: { email },
    groups: groups?.map(({ name }) => ({ name })),
    channels: channels?.map(({ name }) => ({ name, provider: 'ark', models: [] })),
    models: models?.map(({ id }) => ({ id, type: 'embedding' })),
    aliases: Object.fromEntries(Object.keys(aliases ?? {}).map((name) => [name, 'bundled-model'])),
    users: users?.map((user) => ({ email: user['email'] })),
    teams: teams?.map(({ name }) => ({ name })),
    keys: keys?.map(({ name }) => ({ name, user: email })),
  });
  expect(await planned(usual)).toMatchSnapshot('plan of the usual values');
  await apply(usual, 2_000);
  const after = await readState(opened.database.kysely, testSecrets);
  expect(exportState(after, new Set(bundledModels))).toMatchSnapshot('export of the usual values');
  await apply('{}', 3_000);
  expect(await rows()).toMatchSnapshot('rows of what is no longer declared');
  const audit = await listAudit(opened.database.kysely, { limit: 1_000 });
  const audited = audit.map(({ action, object, changes }) => [action, object.name, changes]);
  expect(lines(audited)).toMatchSnapshot('audit');
});

const wrong = ['ä\n', true, {}, [{}]];

test('the message about each wrong value, and about unknown members', () => {
  const file = parse(text.replaceAll('${', '$${')) as Record<string, unknown>;
  const sections = Object.entries(file).filter(([name]) => name !== 'aliases');
  const found = sections.flatMap(([section, value]) => {
    const isList = Array.isArray(value);
    const entry = (isList ? (value as unknown[])[0] : value) as Record<string, unknown>;
    const wrap = (changed: unknown) => JSON.stringify({ [section]: isList ? [changed] : changed });
    const all = [
      ['zzzzzzzzzzzz', 1] as const,
      ...Object.keys(entry).flatMap((name) => wrong.map((each) => [name, each] as const)),
    ];
    return [
      ...messagesOf(wrap({})),
      ...all.flatMap(([name, each]) => messagesOf(wrap({ ...entry, [name]: each }))),
    ];
  });
  expect([...new Set(found)].join('\n')).toMatchSnapshot();
});

test('the options of commands that make a key or a user', () => {
  const options = [keyCreate, userCreate].flatMap((command) => Object.entries(command.options));
  expect(lines(options)).toMatchSnapshot();
});

test("what the console's API reads and shows of a key", () => {
  const shapes = [contract.createKey.body, contract.changeKey.body, contract.readKey.response];
  expect(
    lines(shapes.map((schema) => z.toJSONSchema(schema, { unrepresentable: 'any' }).properties)),
  ).toMatchSnapshot();
});
