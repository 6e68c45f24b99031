import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundledAliases, bundledModels } from '#catalogue/bundled.ts';
import { commandTable } from '#commands/table.ts';
import { ConfigError, formatProblem, parseConfig } from '#config/index.ts';

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
  test('links to existing pages and headings', () => {
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

  test('the rows of a table have as many cells as its head', () => {
    expect(unevenRows(page)).toEqual([]);
  });

  test.each(configurationsIn(page))('line $line: $first passes the check', ({ text }) => {
    expect(problemsOf(text)).toEqual([]);
  });
});

/** GitHub shows no cell beyond those of the head. */
function unevenRows(page: string): string[] {
  const cellsOf = (row: string): number => row.match(/(?<!\\)\|/g)?.length ?? 0;
  return Array.from(withoutCode(read(page)).matchAll(/^\|.*\n(?:\|.*\n)+/gm)).flatMap(([table]) => {
    const rows = table.trimEnd().split('\n');
    return rows.filter((row) => cellsOf(row) !== cellsOf(rows[0]!));
  });
}

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

  test.each(commandTable)('lists $name and its options', async ({ name, load }) => {
    expect(page).toContain(`sluice ${name}`);
    const command = await load();
    if (typeof command === 'function') return;
    const missing = Object.keys(command.options).filter((option) => !page.includes(`--${option}`));
    expect(missing).toEqual([]);
  });
});

test('the index lists every page of docs', () => {
  const index = read('docs/README.md');
  const missing = markdownIn('docs').filter((page) => !index.includes(`(${basename(page)}`));
  expect(missing).toEqual(['docs/README.md']);
});

/** The rooms of the source by their names: where each stands below `gateway/src`. */
const places = new Map(
  readdirSync(join(root, 'gateway/src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: district }) =>
      readdirSync(join(root, 'gateway/src', district)).map((room): [string, string] => [
        room,
        `${district}/${room}`,
      ]),
    ),
);

test('docs/where.md mentions every room of the source', () => {
  const page = read('docs/where.md');
  const missing = places.values().filter((place) => !page.includes(`\`${place}/`));
  expect(missing.toArray()).toEqual([]);
});

test('decisions have unique numbers', () => {
  const numbers = readdirSync(join(root, 'docs/decisions')).map((name) => name.slice(0, 4));
  expect(new Set(numbers).size).toBe(numbers.length);
});

const guides = ['CONTRIBUTING.md', 'README.md', 'docs/lifecycle.md', 'docs/where.md'];

describe.each(guides)('%s names', (page) => {
  const text = read(page);
  const code = Array.from(withoutCode(text).matchAll(/`([^`\n]+)`/g), ([, span = '']) => span);

  test('existing files and folders', () => {
    const paths = code.filter(
      (span) =>
        /^[\w.<>*-]+(?:\/[\w.<>*-]+)*\/?$/.test(span) &&
        (span.includes('/') || /^[a-z-]+\.(?:ts|md|json|yaml)$/.test(span)) &&
        !span.startsWith('.') &&
        !isNoPlace.has(span),
    );
    if (page !== 'README.md') expect(paths.length).toBeGreaterThan(10);
    // The life of a request names the rooms of the source; a file without one stands beside the last one named.
    let folder = '';
    const missing = paths.filter((span) => {
      const [first = ''] = span.split('/');
      const place = places.get(first);
      const candidates = span.includes('/')
        ? [
            span,
            join('gateway/src', span),
            ...(place === undefined ? [] : [join('gateway/src', place, span.slice(first.length))]),
          ]
        : [span, join(folder, span), join(dirname(folder), span)];
      const found = candidates.find((path) => globSync(patternOf(path), { cwd: root }).length > 0);
      if (found !== undefined && span.includes('/')) {
        folder = span.endsWith('/') ? found : dirname(found);
      }
      return found === undefined;
    });
    expect(missing).toEqual([]);
  });

  test('existing commands', () => {
    const blocks = Array.from(text.matchAll(/^```(\w*)\n([^]*?)^```/gm))
      .filter(([, language = '']) => ['', 'sh'].includes(language))
      .map(([, , block = '']) => block);
    const commands = [...code, ...blocks.flatMap((block) => block.split('\n'))];
    const all = commands.join('\n');
    const scripts = Array.from(all.matchAll(/\bnpm (?:run )?([a-z:]+)/g), ([, name = '']) => name);
    const known = [...Object.keys(packageScripts), 'install', 'run'];
    expect(scripts.filter((name) => !known.includes(name))).toEqual([]);
    const own = Array.from(
      all.matchAll(/\bsluice ([a-z-]+(?: [a-z-]+)?)/g),
      ([, name = '']) => name,
    );
    const unknown = own.filter(
      (name) =>
        !commandTable.some(
          (command) => name === command.name || name.startsWith(`${command.name} `),
        ) &&
        // Of a command with two words only the first one is named.
        !commandTable.some((command) => command.name.startsWith(`${name} `)),
    );
    expect(unknown).toEqual([]);
    for (const [, program = ''] of all.matchAll(/\bnpx ([a-z]+)/g)) {
      expect(existsSync(join(root, 'node_modules/.bin', program)), program).toBe(true);
    }
    if (!page.startsWith('docs/')) expect(scripts.length).toBeGreaterThan(2);
  });
});

// Decisions keep the names of their time.
test.each(markdownIn('docs').filter((page) => page !== 'docs/lifecycle.md'))(
  '%s names source files that exist',
  (page) => {
    const spans = Array.from(withoutCode(read(page)).matchAll(/`([\w.<>*/-]+\/[\w.<>*-]+\.ts)`/g));
    const missing = spans.filter(([, span = '']) => {
      const [first = ''] = span.split('/');
      const place = places.get(first);
      const candidates = [
        span,
        join('gateway', span),
        join('gateway/src', span),
        ...(place === undefined ? [] : [join('gateway/src', place, span.slice(first.length))]),
      ];
      return !candidates.some((path) => globSync(patternOf(path), { cwd: root }).length > 0);
    });
    expect(missing.map(([, span]) => span)).toEqual([]);
  },
);

/** What a start makes, or `npm install`, and what every folder has. */
const isNoPlace: ReadonlySet<string> = new Set(['sluice.yaml', 'node_modules/.bin', 'index.ts']);

const packageScripts = (
  JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
).scripts;

/** `<protocol>` stands for any name, and so does `*`. */
function patternOf(path: string): string {
  return path.replace(/<\w+>/g, '*').replace(/\/$/, '');
}

const spell = (path: string): string =>
  path.replace('*', '{model}').replaceAll(/\/:(\w+)/g, '/{$1}');

test('the page of endpoints lists every route', () => {
  const rows = read('docs/endpoints.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const routes = globSync('gateway/src/edge/endpoints/**/*.ts', { cwd: root }).flatMap((file) =>
    Array.from(
      read(file).matchAll(/\bscope\.(get|post|head)\(\s*'([^']+)'/g),
      ([, method = '', path = '']) => `${method.toUpperCase()} ${spell(path)}`,
    ),
  );
  expect(routes.length).toBeGreaterThan(12);
  const missing = routes.filter((route) => {
    const [method = '', path = ''] = route.split(' ');
    const spelled = [` ${path}\``, `\`${path}\``, `${path}:`];
    return !rows.some((row) => row.includes(method) && spelled.some((text) => row.includes(text)));
  });
  // The first only refuses; a sentence describes the other.
  expect(missing.toSorted()).toEqual(['GET /v1/responses', 'POST /v1/models/{model}']);
});

test('the licence is the one that the packages name', () => {
  const licence = read('LICENSE');
  expect(licence).toMatch(/^MIT License\n/);
  expect(licence).toContain('Permission is hereby granted, free of charge');
  expect(licence).toContain('THE SOFTWARE IS PROVIDED "AS IS"');
  for (const folder of ['.', 'gateway', 'console', 'simulator']) {
    const { license } = JSON.parse(read(join(folder, 'package.json'))) as { license?: string };
    expect([folder, license ?? 'MIT']).toEqual([folder, 'MIT']);
  }
  expect(read('README.md')).toContain('MIT licence');
});

/** Larger ones would make every clone slower for all times. */
const largestImage = 150_000;

test('pictures are small, and each is shown by a page', () => {
  const images = globSync('docs/**/*.{png,webp,svg,jpg}', { cwd: root });
  expect(images.length).toBeGreaterThanOrEqual(8);
  const shown = new Set(
    pages.flatMap((page) =>
      Array.from(read(page).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g), ([, link = '']) =>
        join(dirname(page), link),
      ),
    ),
  );
  expect(images.filter((image) => !shown.has(image))).toEqual([]);
  const large = images.filter((file) => readFileSync(join(root, file)).length > largestImage);
  expect(large).toEqual([]);
});
