import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

interface Manifest {
  readonly workspaces?: readonly string[];
  readonly allowScripts?: Readonly<Record<string, boolean>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
}

interface LockedPackage extends Manifest {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const root = path.resolve(import.meta.dirname, '../../..');
const read = <Shape>(file: string) =>
  JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Shape;

const manifest = read<Manifest>('package.json');
const workspaces = manifest.workspaces ?? [];
const lock = read<{ packages: Record<string, LockedPackage> }>('package-lock.json');
const locked = Object.entries(lock.packages).filter(([name]) => name.startsWith('node_modules/'));

const packageName = (location: string) => location.replace(/^.*node_modules\//, '');

describe('dependencies', () => {
  test.each(['package.json', ...workspaces.map((name) => `${name}/package.json`)])(
    'are exactly pinned in %s',
    (file) => {
      const { dependencies, devDependencies, optionalDependencies } = read<Manifest>(file);
      const wanted = { ...dependencies, ...devDependencies, ...optionalDependencies };
      const loose = Object.entries(wanted).filter(
        ([name, version]) =>
          !workspaces.includes(name) && !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
      );
      expect(loose).toEqual([]);
    },
  );

  // What differs is written by the next `npm install`: somebody's fresh checkout would have a changed file.
  test.each(['', ...workspaces])('of package "%s" match the lock file', (folder) => {
    const wanted = read<Manifest>(path.join(folder, 'package.json'));
    const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'engines'] as const;
    for (const kind of kinds) {
      expect(lock.packages[folder]?.[kind] ?? {}, kind).toEqual(wanted[kind] ?? {});
    }
  });

  // A lock without other platforms' builds installs nothing there that works, and `npm ci` refuses it.
  test('name no optional build that the lock file lacks', () => {
    // As Node looks for a package: in the folders above, up to the top.
    const places = (location: string, name: string): string[] => [
      `node_modules/${name}`,
      ...location
        .split('/')
        .map((_, at, parts) => [...parts.slice(0, at + 1), 'node_modules', name].join('/')),
    ];
    const missing = Object.entries(lock.packages).flatMap(([location, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => !places(location, name).some((place) => place in lock.packages))
        .map((name) => `${location}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test('run no script at production install', () => {
    const scripted = locked.filter(([, entry]) => entry.hasInstallScript && !entry.dev);
    expect(scripted.map(([name]) => name)).toEqual([]);
  });

  test('with an install script are denied by name', () => {
    const scripted = locked.filter(([, entry]) => entry.hasInstallScript);
    const open = scripted.filter(([name]) => manifest.allowScripts?.[packageName(name)] !== false);
    expect(open.map(([name]) => name)).toEqual([]);
  });

  test('are locked without their download address', () => {
    const hosted = locked.filter(([, { resolved, link }]) => resolved !== undefined && !link);
    expect(hosted.map(([name]) => name)).toEqual([]);
  });
});
