import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const section = (page: string, heading: string): string =>
  page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';

/** Without line ends and the targets of links. */
const plain = (text: string): string =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();

const model = read('docs/threat-model.md');
const promises = section(read('SECURITY.md'), 'What is meant to hold')
  .split(/^- /m)
  .slice(1)
  .map(plain);

/** The rows of a section's table: what is promised, and the files that test it. */
const rows = ['Promises and their tests', 'Availability', 'What ships'].flatMap((heading) =>
  section(model, heading)
    .split('\n')
    .filter((line) => line.includes('`'))
    .map((line) => {
      const [, promise = '', tests = ''] = line.split('|');
      return {
        promise: plain(promise),
        files: Array.from(tests.matchAll(/`([^`]+)`/g), ([, file = '']) => file),
      };
    }),
);

describe('the threat model', () => {
  test('has every promise of SECURITY.md, in its words', () => {
    expect(promises.length).toBeGreaterThan(5);
    const named = new Set(rows.map(({ promise }) => promise));
    expect(promises.filter((promise) => !named.has(promise))).toEqual([]);
  });

  test.each(rows)('$promise', ({ files }) => {
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      expect(existsSync(join(root, file)), file).toBe(true);
      expect(file).toMatch(/\.test\.ts$/);
    }
  });
});
