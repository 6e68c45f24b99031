import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runtimePackages, root } from '../../../supply/lock.ts';
import { nodeBinaries, sha256Of } from '../../../supply/node-binaries.ts';

interface Reviewed {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

const locked = runtimePackages();
const reviewed = JSON.parse(readFileSync(join(root, 'supply/packages.json'), 'utf8')) as Reviewed[];

/** Licences under which a package may be used and passed on with this project. */
const allowed = new Set(['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD']);

describe('runtime packages', () => {
  test('match the reviewed list: `npm run packages` writes it, and its change is read', () => {
    const told = ({ name, version, license }: Reviewed) => `${name} ${version} ${license}`;
    expect(reviewed.map(told)).toEqual(locked.map(told));
  });

  test('have licences that allow it', () => {
    expect(locked.filter(({ license }) => !allowed.has(license))).toEqual([]);
  });

  test('run nothing at install, and are locked by content hash', () => {
    const odd = locked.filter(
      (each) => each.hasInstallScript || !each.integrity.startsWith('sha512-'),
    );
    expect(odd).toEqual([]);
  });
});

describe('the Node that ships', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Readonly<Record<string, string>>;
  };

  test('has a checksum for every platform, and one version', () => {
    const { version, packages } = nodeBinaries;
    expect(optionalDependencies).toEqual(
      Object.fromEntries(Object.keys(packages).map((name) => [name, version])),
    );
    const sums = Object.values(packages).map(({ sha256 }) => sha256);
    expect(new Set(sums).size).toBe(sums.length);
    for (const sum of sums) expect(sum).toMatch(/^[0-9a-f]{64}$/);
  });

  test('is the very binary on this machine', async () => {
    const installed = Object.entries(nodeBinaries.packages)
      .map(([name, { file, sha256 }]) => ({ path: join(root, 'node_modules', name, file), sha256 }))
      .filter(({ path }) => existsSync(path));
    expect(installed.length).toBeGreaterThan(0);
    for (const { path, sha256 } of installed) expect(await sha256Of(path)).toBe(sha256);
  });
});

describe('npm run sbom', () => {
  const make = () =>
    execFileSync(process.execPath, ['supply/sbom.ts'], { cwd: root, encoding: 'utf8' });

  test('lists the runtime packages, the same each time, and nothing of this machine', () => {
    const text = make();
    expect(make()).toBe(text);
    expect(text).not.toContain(root);
    expect(text.match(/https?:\/\/[^/"]+/g)).toEqual(['http://cyclonedx.org']);
    const { bomFormat, serialNumber, metadata, components } = JSON.parse(text) as {
      bomFormat: string;
      serialNumber: string;
      metadata: object;
      components: { purl: string; hashes?: object[] }[];
    };
    expect(bomFormat).toBe('CycloneDX');
    expect(serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(metadata).toMatchObject({ component: { name: 'sluice-workspace' } });
    const listed = new Set(components.map(({ purl }) => decodeURIComponent(purl)));
    const missing = locked.filter(({ name, version }) => !listed.has(`pkg:npm/${name}@${version}`));
    expect(missing).toEqual([]);
  }, 60_000);
});
