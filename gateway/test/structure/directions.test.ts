import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confinedPackages, directions, protocolFolders } from '../../../oxlint.config.ts';

/*
 * Lints a made-up tree with the real configuration. Every file of it imports every folder and every confined
 * package, one per line; what the linter refuses must be exactly what the table does not allow.
 */

const repository = path.resolve(import.meta.dirname, '../../..');
const folders = Object.keys(directions);
const packages = confinedPackages.flatMap((confined) => confined.packages);

interface Probe {
  /** Below the fixture's root. */
  readonly file: string;
  readonly specifiers: readonly string[];
  /** Those of them that the linter has to refuse. */
  readonly forbidden: readonly string[];
}

function folderProbe(folder: string, name: string): Probe {
  const up = '../'.repeat(name.split('/').length);
  const others = folders.filter((other) => other !== folder);
  const face = (other: string) => `${up}${other}/index.ts`;
  const allowed = directions[folder] ?? [];
  return {
    file: `gateway/src/${folder}/${name}`,
    specifiers: [...others.map(face), `${up}app.ts`, `${up}${folder}/index.ts`, ...packages],
    forbidden: [
      ...others.filter((other) => !allowed.includes(other)).map(face),
      ...(folder === 'commands' ? [] : [`${up}app.ts`]),
      ...packagesForbiddenIn(`${folder}/${name}`),
    ],
  };
}

function packagesForbiddenIn(file: string): string[] {
  return confinedPackages
    .filter(({ allowed }) => !allowed.some((glob) => path.matchesGlob(file, glob)))
    .flatMap((confined) => confined.packages);
}

const protocolProbe = (protocol: string): Probe => {
  const others = protocolFolders.filter((other) => other !== protocol);
  const siblings = others.map((other) => `../${other}/decode-request.ts`);
  return {
    file: `gateway/src/protocols/${protocol}/decode-request.ts`,
    specifiers: [
      ...siblings,
      '../protocol.ts',
      '../../canonical/index.ts',
      '../../config/index.ts',
    ],
    forbidden: [...siblings, '../../config/index.ts'],
  };
};

const rootProbe = (name: string): Probe => ({
  file: `gateway/src/${name}`,
  specifiers: [...folders.map((folder) => `./${folder}/index.ts`), ...packages],
  forbidden: packagesForbiddenIn(name),
});

const probes: readonly Probe[] = [
  ...folders.map((folder) => folderProbe(folder, 'plain.ts')),
  ...folders.map((folder) => folderProbe(folder, 'deeper/plain.ts')),
  ...folders.map((folder) => folderProbe(folder, 'rows.repository.ts')),
  folderProbe('journal', 'writer.worker.ts'),
  folderProbe('relay', 'writer.worker.ts'),
  folderProbe('counting', 'redis/link.ts'),
  ...protocolFolders.map(protocolProbe),
  rootProbe('app.ts'),
  rootProbe('main.js'),
  {
    file: 'gateway/src/relay/concrete.ts',
    specifiers: [
      '../protocols/index.ts',
      '../protocols/chat/index.ts',
      '../providers/ark/index.ts',
    ],
    forbidden: ['../protocols/chat/index.ts', '../providers/ark/index.ts'],
  },
  {
    file: 'gateway/src/commands/simulate.ts',
    specifiers: ['simulator', '../../../simulator/src/index.ts', '../config/index.ts'],
    forbidden: ['simulator', '../../../simulator/src/index.ts'],
  },
  {
    file: 'simulator/src/chat/answer.ts',
    specifiers: ['gateway', '../../../gateway/src/protocols/index.ts', '../index.ts', 'node:http'],
    forbidden: ['gateway', '../../../gateway/src/protocols/index.ts'],
  },
  {
    file: 'gateway/src/relay/relay.test.ts',
    specifiers: ['../app.ts', '../usage/index.ts', 'undici', '../../../simulator/src/index.ts'],
    forbidden: [],
  },
];

interface Diagnostic {
  readonly code: string;
  readonly help: string | undefined;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

let fixture: string;
let diagnostics: readonly Diagnostic[];

beforeAll(() => {
  fixture = mkdtempSync(path.join(tmpdir(), 'sluice-directions-'));
  const config = path.join(repository, 'oxlint.config.ts');
  write('oxlint.config.ts', `export { default } from ${JSON.stringify(config)};\n`);
  write('package.json', '{ "type": "module" }\n');
  for (const { file, specifiers } of probes) {
    write(file, specifiers.map((name, at) => `export * as n${at} from '${name}';\n`).join(''));
  }
  const oxlint = path.join(repository, 'node_modules/.bin/oxlint');
  const run = spawnSync(oxlint, ['--format', 'json', '-A', 'all', 'gateway', 'simulator'], {
    cwd: fixture,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (run.error) throw run.error;
  const report = JSON.parse(run.stdout) as { readonly diagnostics: readonly Diagnostic[] };
  diagnostics = report.diagnostics.filter(({ code }) => code === 'eslint(no-restricted-imports)');
});

afterAll(() => rmSync(fixture, { recursive: true, force: true }));

function write(file: string, text: string): void {
  const target = path.join(fixture, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

describe('the direction of imports', () => {
  test('stands in the table for every folder of the source', () => {
    const present = readdirSync(path.join(repository, 'gateway/src'), { withFileTypes: true });
    const missing = present.filter((entry) => entry.isDirectory() && !directions[entry.name]);
    expect(missing.map((entry) => entry.name)).toEqual([]);
  });

  test('names only folders that have a line of their own', () => {
    expect(
      Object.values(directions)
        .flat()
        .filter((name) => !directions[name]),
    ).toEqual([]);
  });

  test('never leads back to where it came from', () => {
    const reachable = (from: string, seen = new Set<string>()): Set<string> => {
      for (const to of directions[from] ?? []) {
        if (!seen.has(to)) reachable(to, seen.add(to));
      }
      return seen;
    };
    expect(folders.filter((folder) => reachable(folder).has(folder))).toEqual([]);
  });

  test.each(probes)('is enforced in $file', ({ file, specifiers, forbidden }) => {
    const found = diagnostics.filter(({ filename }) => filename === file);
    const refused = found.map(({ labels }) => specifiers[(labels[0]?.span.line ?? 0) - 1] ?? '?');
    expect(refused.toSorted()).toEqual(forbidden.toSorted());
    for (const { help } of found) expect(help).toMatch(/^directions: /);
  });
});
