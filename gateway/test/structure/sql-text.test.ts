import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

/*
 * S-05, S-06: a value never becomes part of a statement's text. Kysely binds what its builders are given, and what
 * stands in a template of its `sql` tag; every other way to make a statement of parts is refused here.
 */

const source = path.resolve(import.meta.dirname, '../../src');
const files = globSync('**/*.ts', { cwd: source })
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(path.join(source, file), 'utf8') }));

/** Whose parts are names that stand in the source; what comes from outside is bound there as well. */
const ofConstants: ReadonlySet<string> = new Set([
  // One statement for a thousand rows, by the names of a table and its columns.
  'store/usage/bulk-insert.repository.ts',
  // SET takes no parameter; the number of milliseconds stands in the source.
  'store/database/postgres.ts',
  // LISTEN takes no parameter.
  'store/database/listening.ts',
  // The body of a function is a text in PostgreSQL.
  'store/database/migrations/triggers.ts',
]);

const verb = String.raw`\s*(?:select|insert\s+into|update|delete\s+from|replace\s+into|create|drop|alter|truncate|with|pragma|attach|union|where|order\s+by|begin)\b`;

const rules: readonly (readonly [name: string, pattern: RegExp, example: string])[] = [
  [
    'text taken for SQL as it is',
    /\bsql\s*\.\s*raw\b|\bRawNode\b|\bCompiledQuery\.raw\b/,
    'sql.raw(name)',
  ],
  [
    'a template given to a driver',
    /\.(?:raw|exec|prepare|query|execute)\(\s*`[^`]*\$\{/s,
    'db.prepare(`select ${name}`)',
  ],
  [
    'a template that reads like SQL, without the tag',
    new RegExp(String.raw`(?<![\w>])\`${verb}[^\`]*\$\{`, 'is'),
    'const text = `Select * from ${table}`',
  ],
  [
    'a text that reads like SQL, with another added to it',
    new RegExp(String.raw`(['"])${verb}[^'"\n]*\1\s*\+`, 'i'),
    "'delete from ' + table",
  ],
  [
    'the name of a driver’s own text',
    /\bquery(?:Text)?:\s*`[^`]*\$\{|\btext:\s*`\s*(?:select|insert|update|delete)\b[^`]*\$\{/is,
    '{ text: `select ${x}` }',
  ],
];

describe('statements', () => {
  test('are found in the source', () => {
    expect(files.filter(({ text }) => /\bsql(?:<[^`]*>)?`/.test(text)).length).toBeGreaterThan(5);
  });

  test.each(rules)('are never made of %s', (_name, pattern, example) => {
    expect(example).toMatch(pattern);
    expect('sql<Row>`select ${name}`; sql`select ${name}`').not.toMatch(pattern);
    const found = files.filter(({ text }) => pattern.test(text)).map(({ file }) => file);
    expect(found.filter((file) => !ofConstants.has(file))).toEqual([]);
  });

  test('are made of constants where they are made', () => {
    const made = files.filter(({ text }) => rules.some(([, pattern]) => pattern.test(text)));
    expect(made.map(({ file }) => file).toSorted()).toEqual([...ofConstants].toSorted());
    const users = files.filter(({ text }) => /\bBulkInsert\b/.test(text));
    const inserts = users.flatMap(({ text }) => Array.from(text.matchAll(/: BulkInsert = \{/g)));
    expect(inserts.length).toBeGreaterThan(0);
    for (const { text } of users) expect(text).not.toMatch(/\btable: (?!'|keyof)/);
  });

  // What somebody types would be a pattern there: `%` reads every row, and `_` finds what was not asked for.
  test('compare by a pattern only with one from the source', () => {
    const isPattern =
      /\b(?:not\s+)?i?like\s+(?!')|['"](?:not )?i?like['"]\s*,|\bglob\s+\$\{|\bregexp?\b\s+\$\{/i;
    expect('where name like ${text}').toMatch(isPattern);
    expect("where('name', 'like', text)").toMatch(isPattern);
    const statements = files.flatMap(({ file, text }) =>
      Array.from(text.matchAll(/\bsql(?:<[^`]*>)?`[^`]*`|\.where\([^)]*\)/g), ([found]) => ({
        file,
        found,
      })),
    );
    expect(statements.length).toBeGreaterThan(50);
    expect(statements.filter(({ found }) => isPattern.test(found))).toEqual([]);
  });
});
