import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { distinctList } from '#config/collection.ts';
import { type Kind, kinds, parseEntry } from '#config/index.ts';
import {
  type Form,
  amount,
  choice,
  count,
  defineKind,
  factor,
  member,
  moment,
  names,
  text,
  yesOrNo,
} from '#config/kinds/kind.ts';
import { decimal, flag, integer, isName, string, timestamp } from '#config/leaf.ts';
import { optionsOf } from '#commands/member-options.ts';
import { givenAnytime, shownMembers, shownValues } from '#console-api/contract/members.ts';
import { compareFields, fieldsOf } from '#declaration/index.ts';
import { writeEntry } from '#declaration/export.ts';
import { columnsOf, entryOf } from '#database/rows.ts';
import { assertTables, table } from '../support/written-page.ts';

/* A member of what a file declares is described once; everything else follows. */

/** What the documentation shows as the default. */
function defaultOf({ usual, usualValue }: Kind['list'][number]): string {
  if (usual !== undefined) return usual;
  if (usualValue === undefined) return 'required';
  const isNothing = (value: unknown) => value === null;
  if (isNothing(usualValue)) return '–';
  if (typeof usualValue !== 'object')
    return `\`${JSON.stringify(usualValue).replaceAll('"', '')}\``;
  const values = Object.values(usualValue);
  if (!Array.isArray(usualValue) && values.length > 0 && values.every(isNothing)) return '–';
  return Array.isArray(usualValue) ? `\`[${usualValue.join(', ')}]\`` : '`{}`';
}

const documented = Object.values(kinds).filter(({ name }) => name !== 'alias') as readonly Kind[];

test('docs/configuration.md has every member with its default and its sentence', () => {
  const tables = documented.map((kind) => {
    const rows = Object.entries(kind.members).map(([name, { doc = '', usual, schema }]) => {
      const found = schema.safeParse(undefined);
      const usualValue = found.success ? (found.data ?? null) : undefined;
      return [`\`${name}\``, defaultOf({ usual, usualValue } as never), doc];
    });
    return [`### \`${kind.section}\``, table([['Key', 'Default', ''], ...rows])];
  });
  assertTables('configuration.md', Object.fromEntries(tables));
});

const added: readonly (readonly [
  name: string,
  form: Form,
  given: string | readonly string[],
  shown: unknown,
])[] = [
  ['text', text(string('a name', isName, { fallback: null })), 'blue', 'blue'],
  ['choice', choice(['low', 'high'], { fallback: 'low' }), 'high', 'high'],
  ['count', count(integer(0, 99, { fallback: null })), '7', 7],
  ['amount', amount(null), '2.5', '2.5'],
  [
    'factor',
    factor(decimal('a factor', { places: 2, minimum: '0', maximum: '9' }, { fallback: '1' })),
    '1.5',
    '1.5',
  ],
  [
    'time',
    moment(timestamp({ fallback: null })),
    '2027-01-01T00:00:00Z',
    '2027-01-01T00:00:00.000Z',
  ],
  ['flag', yesOrNo(flag({ fallback: false })), 'true', true],
  ['a list', names(distinctList(string('a name', isName), () => [])), ['b', 'a'], ['b', 'a']],
];

describe.each(added)('a new member that is %s', (_name, form, given, shown) => {
  const about = { doc: 'a sentence', option: ['VALUE', 'a line of the help'] } as const;
  const column = defineKind('key', { ...kinds.key.members, new_member: member(form, about) });
  const setting = defineKind('key', {
    ...kinds.key.members,
    new_member: member(form, { ...about, stored: 'settings' }),
  });

  test.each([
    ['in a column', column],
    ['in the settings', setting],
  ])('%s is in everything that follows', (_where, kind) => {
    const required = { name: 'k', user: 'ada@example.com' };
    const usual = parseEntry(kind, required);
    const entry = parseEntry(kind, { ...required, new_member: given });
    // The plan and the audit log.
    expect(compareFields(fieldsOf(kind, usual), fieldsOf(kind, entry))).toMatchObject([
      { field: 'new_member', after: JSON.stringify(shown) },
    ]);
    // The export.
    expect(writeEntry(kind, entry)).toHaveProperty('new_member', shown);
    expect(writeEntry(kind, usual)).not.toHaveProperty('new_member');
    // The row.
    const owned = { owner: 'file', enabled: 1, created_at: 0, updated_at: 0 };
    expect(
      fieldsOf(kind, { ...entry, ...entryOf(kind, { ...columnsOf(kind, entry), ...owned }) }),
    ).toEqual(fieldsOf(kind, entry));
    // Rows of before have none.
    const { settings } = columnsOf(kinds.key, usual);
    const before = { ...columnsOf(kind, usual), ...owned, settings };
    expect(fieldsOf(kind, { ...usual, ...entryOf(kind, before) })).toEqual(fieldsOf(kind, usual));
    // Commands.
    expect(optionsOf(kind)).toHaveProperty('new-member.help', about.option[1]);
    // The console's API.
    expect(shownMembers(kind)).toHaveProperty('new_member');
    expect(shownValues(kind, entry)).toHaveProperty('new_member', shown);
    expect(givenAnytime(kind)).toHaveProperty('new_member');
  });
});

/** They carry members from the file to the database, to people and back. */
const carriers = [
  'base/config/**',
  'access/declaration/**',
  'access/catalogue/*.repository.ts',
  'access/identity/{keys,users}.repository.ts',
  'access/administration/**',
  'edge/console-api/keys/**',
  'edge/console-api/contract/{keys,members}.ts',
  'edge/console-api/writes.ts',
  'process/commands/{key-,user-,member-}*.ts',
  'process/startup/**',
  'store/database/*.ts',
];

/** Files that do something with a member, or mean something else by its name. */
const users: Readonly<Record<string, readonly string[]>> = {
  'access/administration/admin-keys.ts': ['expires_at'],
  'access/administration/channels.ts': ['api_keys', 'base_url'],
  'access/administration/sessions.ts': ['expires_at'],
  'access/declaration/export.ts': ['api_keys', 'base_url'],
  'base/config/database-away.ts': ['database_away'],
  'base/config/leaf.ts': ['time_zone'],
  'base/config/rules/channels.ts': ['api_keys', 'base_url'],
  'base/config/settings.ts': ['cap_output', 'database_away'],
  'edge/console-api/contract/keys.ts': ['expires_at'],
  'edge/console-api/keys/routes.ts': ['database_away'],
  'process/startup/first-start.ts': ['api_keys'],
  'store/database/schema.ts': ['expires_at', 'time_zone'],
};

test('a member is named by its description and by what uses it, and by nothing that carries it', () => {
  const source = path.resolve(import.meta.dirname, '../../src');
  const files = globSync('**/*.ts', { cwd: source })
    .filter((file) => !file.endsWith('.test.ts') && !file.startsWith('base/config/kinds/'))
    .filter((file) => carriers.some((glob) => path.posix.matchesGlob(file, glob)));
  const named = files.flatMap((file) => {
    const words = new Set(readFileSync(path.join(source, file), 'utf8').match(/\w+/g));
    // Names of one word mean other things too.
    return Object.values(kinds)
      .flatMap(({ list }) => [...list])
      .filter(({ name }) => name.includes('_'))
      .filter(({ name, property }) => words.has(name) || words.has(property))
      .filter(({ name }) => users[file]?.includes(name) !== true)
      .map(({ name }) => `${file}: ${name}`);
  });
  expect(named).toEqual([]);
});
