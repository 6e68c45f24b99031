import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundledAliases, bundledModels } from '../../src/catalogue/bundled.ts';
import { commandTable } from '../../src/commands/table.ts';
import { ConfigError, formatProblem, parseConfig } from '../../src/config/index.ts';

const root = resolve(import.meta.dirname, '../../..');

const markdownIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const pages = ['.', 'docs', 'docs/decisions', 'bench', 'simulator'].flatMap(markdownIn);

const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const withoutCode = (text: string): string => text.replace(/^```[^]*?^```/gm, '');

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  return Array.from(withoutCode(read(page)).matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

describe.each(pages)('%s', (page) => {
  test('links to pages and headings that are there', () => {
    const broken = [];
    for (const [, link = ''] of withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      const isThere = existsSync(join(root, target));
      if (!isThere || (anchor !== undefined && !anchorsOf(target).includes(anchor))) {
        broken.push(link);
      }
    }
    expect(broken).toEqual([]);
  });

  test.each(configurationsIn(page))('line $line: $first passes the check', ({ text }) => {
    expect(problemsOf(text)).toEqual([]);
  });
});

const sections = /^(?:#.*\n)*(?:server|storage|channels|users|teams|keys):/;

/** The examples that are configuration files, whole or in part. */
function configurationsIn(page: string): { line: number; first: string; text: string }[] {
  const text = read(page);
  return Array.from(text.matchAll(/^```yaml\n([^]*?)^```/gm), (match) => ({
    line: text.slice(0, match.index).split('\n').length,
    first: match[1]!.split('\n', 1)[0]!,
    text: match[1]!,
  })).filter((example) => sections.test(example.text));
}

function problemsOf(text: string): string[] {
  const names = Array.from(text.matchAll(/\$\{(\w+)/g), ([, name = '']) => name);
  const environment = Object.fromEntries(
    names.map((name) => [
      name,
      name === 'SLUICE_MASTER_KEY'
        ? randomBytes(32).toString('base64')
        : `sk-${randomBytes(16).toString('hex')}`,
    ]),
  );
  try {
    parseConfig(text, {
      file: 'example.yaml',
      environment,
      bundledModels: bundledModels.map(({ id }) => id),
      bundledAliases: bundledAliases.keys(),
    });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(formatProblem);
  }
}

describe('docs/configuration.md', () => {
  const page = read('docs/configuration.md');

  test.each(commandTable)('has $name and its options', async ({ name, load }) => {
    expect(page).toContain(`sluice ${name}`);
    const command = await load();
    if (typeof command === 'function') return;
    const missing = Object.keys(command.options).filter((option) => !page.includes(`--${option}`));
    expect(missing).toEqual([]);
  });
});

test('every page of docs stands in its index', () => {
  const index = read('docs/README.md');
  const missing = markdownIn('docs').filter((page) => !index.includes(`(${basename(page)}`));
  expect(missing).toEqual(['docs/README.md']);
});

test('decisions have numbers of their own', () => {
  const numbers = readdirSync(join(root, 'docs/decisions')).map((name) => name.slice(0, 4));
  expect(new Set(numbers).size).toBe(numbers.length);
});
