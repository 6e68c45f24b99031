import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { en } from './words/en.ts';

/* What pages leave behind as they change: texts and styles that nothing uses. A name that is put together counts as used. */

const root = import.meta.dirname;
const read = (ending: RegExp) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path) && !/^words\/|\.test\.|\.d\.ts$/.test(path))
    .map((path) => ({ path: join(root, path), text: readFileSync(join(root, path), 'utf8') }));
const sources = read(/\.tsx?$/);
const literals = sources.flatMap(({ text }) =>
  Array.from(text.matchAll(/'([\w.-]+)'|`((?:[\w.-]|\$\{[^}`]*\})+)`/g), ([, plain, pattern]) =>
    (plain ?? pattern ?? '').replaceAll(/\$\{[^}]*\}/g, '*'),
  ),
);
const plain = new Set(literals);
const patterns = [...plain]
  .filter((each) => /^\w+\..*\*/.test(each))
  .map((each) => new RegExp(`^${each.replaceAll('.', '\\.').replaceAll('*', '[\\w-]+')}$`));
const isUsed = (name: string) => plain.has(name) || patterns.some((each) => each.test(name));

function namesOf(words: object, prefix = ''): string[] {
  return Object.entries(words).flatMap(([name, value]: [string, string | object]) =>
    typeof value === 'string' ? prefix + name : namesOf(value, `${prefix}${name}.`),
  );
}

test('every text is used', () => {
  const names = namesOf(en).map((name) => name.replace(/_(zero|one|other)$/, ''));
  expect(names.filter((name) => !isUsed(name))).toEqual([]);
});

test.each(read(/\.module\.css$/))('$path and its users know the same classes', ({ path, text }) => {
  const rules = text.replaceAll(/\/\*[^]*?\*\/|:global\([^)]*\)/g, '');
  const classes = Array.from(
    rules.matchAll(/\.([a-z][\w-]*)(?=[^;{}]*\{)/gi),
    ([, name = '']) => name,
  );
  const users = sources.flatMap((source) =>
    Array.from(source.text.matchAll(/import (\w+) from '(\S+\.css)'/g), ([, name = '', css = '']) =>
      resolve(source.path, '..', css) === path
        ? Array.from(
            source.text.matchAll(new RegExp(`\\b${name}\\[([^\\]]+)\\]`, 'g')),
            ([, key = '']) => key,
          )
        : [],
    ).flat(),
  );
  const keys = users.flatMap((key) => /^'(.*)'$/.exec(key)?.[1] ?? []);
  expect(keys.filter((key) => !classes.includes(key))).toEqual([]);
  // Others are named by a value.
  if (keys.length === users.length)
    expect(classes.filter((each) => !keys.includes(each))).toEqual([]);
});
