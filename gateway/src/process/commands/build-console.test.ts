import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { buildMissingConsole } from './build-console.ts';

const stamping = `
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
mkdirSync(join(import.meta.dirname, 'dist'));
writeFileSync(join(import.meta.dirname, 'dist/stamp'), '');
`;

function folderWith(build: string): URL {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-console-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'build.ts'), build);
  return pathToFileURL(`${folder}/`);
}

const config = (enabled: boolean) => ({
  console: {
    enabled,
    listen: null,
    insecureHttp: false,
    members: { createKeys: true, maxKeys: 20, playground: true },
  },
});

/** The first line of the log. */
async function firstLine(folder: URL): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const log = { info: resolve, warn: (message: string) => resolve(message) };
  expect(buildMissingConsole(config(true), log, folder)).toBe(true);
  return promise;
}

test('a console that is missing is built', async () => {
  expect(await firstLine(folderWith(stamping))).toBe('the console has been built');
});

test.each(['process.exit(1)', 'export {}'])(
  'a build that brings nothing is said: %s',
  async (build) => {
    expect(await firstLine(folderWith(build))).toContain('npm run console:build');
  },
);

test('one that is there, or not wanted, is left alone', () => {
  const silent = { info: () => {}, warn: () => {} };
  const folder = folderWith(stamping);
  expect(buildMissingConsole(config(false), silent, folder)).toBe(false);
  mkdirSync(new URL('dist', folder));
  writeFileSync(new URL('dist/stamp', folder), '');
  expect(buildMissingConsole(config(true), silent, folder)).toBe(false);
});
