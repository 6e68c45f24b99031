import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** A package as the lock file has it. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly license: string;
  readonly hasInstallScript: boolean;
}

type Entry = Partial<LockedPackage> & { readonly dev?: boolean; readonly link?: boolean };

export const root = resolve(import.meta.dirname, '..');

/** The entries of every package that a production installation may have, by their places in the checkout. */
export function lockedPackages(): [string, Entry][] {
  const text = readFileSync(resolve(root, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Entry>> };
  return Object.entries(packages).filter(
    ([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link,
  );
}

/** Every package that a production installation may have, on any platform, direct or not. */
export function runtimePackages(): LockedPackage[] {
  return lockedPackages()
    .map(([path, entry]) => ({
      name: path.replace(/^.*node_modules\//, ''),
      version: entry.version ?? '',
      integrity: entry.integrity ?? '',
      license: entry.license ?? '',
      hasInstallScript: entry.hasInstallScript ?? false,
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
