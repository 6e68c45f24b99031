import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runtimePackages } from './lock.ts';

/*
 * `npm run packages`: writes `packages.json`, the facts about every runtime package at the time it was added or
 * changed. Only new and changed packages are looked up. `--offline` omits what a registry would report.
 */

/** A reviewed runtime package. */
export interface ReviewedPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** How many people can publish it; null if the registry does not report it. */
  readonly maintainers: number | null;
  /** The release date of this version; null if the registry does not report it. */
  readonly released: string | null;
}

type Said = Pick<ReviewedPackage, 'maintainers' | 'released'>;

const path = join(root, 'supply/packages.json');
const known = new Map(
  (JSON.parse(readFileSync(path, 'utf8')) as ReviewedPackage[]).map((each) => [
    `${each.name}@${each.version}`,
    each,
  ]),
);

function ask(name: string, version: string): Said {
  if (process.argv.includes('--offline')) return { maintainers: null, released: null };
  const view = (field: string): unknown => {
    const text = execFileSync('npm', ['view', name, field, '--json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.trim() === '' ? null : JSON.parse(text);
  };
  const people = view('maintainers');
  // Mirrors without maintainers date packages by their own copies.
  if (people === null) return { maintainers: null, released: null };
  const times = view('time') as Readonly<Record<string, string>> | null;
  return {
    maintainers: Array.isArray(people) ? people.length : 1,
    released: times?.[version]?.slice(0, 10) ?? null,
  };
}

const list = runtimePackages().map(({ name, version, license }): ReviewedPackage => {
  const { maintainers, released } = known.get(`${name}@${version}`) ?? ask(name, version);
  return { name, version, license, maintainers, released };
});
writeFileSync(path, `${JSON.stringify(list, null, 2)}\n`);
