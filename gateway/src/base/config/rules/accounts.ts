import type { Report } from '../issues.ts';
import { isMapping, type RawMapping, type RawValue, textOf } from '../scalar.ts';
import { checkModelName, describeName, checkReference, type Names } from './names.ts';

/** The groups of a user or a team, or those that a channel serves. */
export function checkGroups(
  groups: RawValue | undefined,
  path: readonly (string | number)[],
  names: Names,
  report: Report,
): void {
  if (!Array.isArray(groups)) return;
  groups.forEach((group: RawValue, at) => {
    checkReference(group, [...path, 'groups', at], 'a group of groups', names.groups, report);
  });
}

/** Members of a team: users of the file, each once. */
export function checkTeam(raw: RawMapping, index: number, names: Names, report: Report): void {
  checkGroups(raw['groups'], ['teams', index], names, report);
  if (!Array.isArray(raw['members'])) return;
  const seen = new Set<string>();
  raw['members'].forEach((member: RawValue, at) => {
    if (!isMapping(member)) return;
    const path = ['teams', index, 'members', at, 'user'];
    checkUser(member['user'], path, names, report);
    const email = textOf(member['user'])?.toLowerCase();
    if (email === undefined) return;
    if (seen.has(email)) report(path, 'each member once', 'the same user again');
    seen.add(email);
  });
}

/** Checks the references of keys, and that no two keys share a secret. */
export function checkKeys(keys: readonly RawValue[], names: Names, report: Report): void {
  const secrets = new Map<string, number>();
  keys.forEach((key, index) => {
    if (!isMapping(key)) return;
    const path = ['keys', index];
    checkUser(key['user'], [...path, 'user'], names, report);
    checkReference(key['team'], [...path, 'team'], 'a team of teams', names.teams, report);
    checkReference(key['group'], [...path, 'group'], 'a group of groups', names.groups, report);
    if (Array.isArray(key['models'])) {
      key['models'].forEach((model: RawValue, at) => {
        checkModelName(model, [...path, 'models', at], names, report);
      });
    }
    const secret = textOf(key['secret']) ?? '';
    const first = secrets.get(secret);
    if (first !== undefined) {
      report([...path, 'secret'], 'a secret of its own', `the secret of keys[${first}]`);
    } else if (secret !== '') {
      secrets.set(secret, index);
    }
  });
}

function checkUser(value: RawValue, path: (string | number)[], names: Names, report: Report): void {
  const email = textOf(value)?.toLowerCase();
  if (email === undefined || !email.includes('@')) return;
  if (!names.users.has(email))
    report(path, 'a user of users', describeName(value, names.users, report));
}
