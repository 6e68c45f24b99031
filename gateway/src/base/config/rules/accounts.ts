import type { Report } from '../issues.ts';
import { isMapping, type RawMapping, type RawValue, textOf } from '../scalar.ts';
import { checkReference, type Names } from './names.ts';

/** Members of a team: users of the file, each once. */
export function checkMembers(raw: RawMapping, index: number, names: Names, report: Report): void {
  if (!Array.isArray(raw['members'])) return;
  const seen = new Set<string>();
  raw['members'].forEach((each: RawValue, at) => {
    if (!isMapping(each)) return;
    const path = ['teams', index, 'members', at, 'user'];
    checkReference('user', each['user'], path, names, report);
    const email = textOf(each['user'])?.toLowerCase();
    if (email === undefined) return;
    if (seen.has(email)) report(path, 'each member once', 'the same user again');
    seen.add(email);
  });
}

/** No two keys share a secret. */
export function checkSecrets(keys: RawValue, report: Report): void {
  if (!Array.isArray(keys)) return;
  const secrets = new Map<string, number>();
  keys.forEach((each: RawValue, index) => {
    const secret = isMapping(each) ? (textOf(each['secret']) ?? '') : '';
    const first = secrets.get(secret);
    if (first !== undefined) {
      report(['keys', index, 'secret'], 'a secret of its own', `the secret of keys[${first}]`);
    } else if (secret !== '') {
      secrets.set(secret, index);
    }
  });
}
