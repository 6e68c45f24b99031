import { didYouMean } from '../near.ts';
import { isPattern } from '../pattern.ts';
import type { Kind, KindName } from '../kinds/kind.ts';
import type { Path, Report } from '../problem.ts';
import { describe, isMapping, Scalar, type RawMapping, type RawValue, textOf } from '../scalar.ts';

/** Everything an entry of the file may refer to by name. */
export interface Names {
  readonly groups: ReadonlySet<string>;
  /** In lower case. */
  readonly users: ReadonlySet<string>;
  readonly teams: ReadonlySet<string>;
  /** Model id → type, where the file says one. */
  readonly declaredModels: ReadonlyMap<string, string | null>;
  readonly bundledModels: ReadonlySet<string>;
  readonly bundledAliases: ReadonlySet<string>;
  /** Alias → model id, without patterns. */
  readonly aliases: ReadonlyMap<string, string | null>;
}

export interface NamesContext {
  readonly bundledModels: ReadonlySet<string>;
  readonly bundledAliases: ReadonlySet<string>;
  /** The administrator of the first start is a user too. */
  readonly adminEmail: string | null;
}

/** Everything that the entries of the file may refer to: what the file declares and what is bundled. */
export function createNames(root: RawMapping, context: NamesContext): Names {
  const users = namesIn(root['users'], 'email').map((email) => email.toLowerCase());
  if (context.adminEmail !== null) users.push(context.adminEmail.toLowerCase());
  const aliases = isMapping(root['aliases']) ? root['aliases'] : {};
  return {
    groups: new Set(['default', ...namesIn(root['groups'], 'name')]),
    users: new Set(users),
    teams: new Set(namesIn(root['teams'], 'name')),
    declaredModels: new Map(
      entriesOf(root['models']).map((entry) => [textOf(entry['id']) ?? '', textOf(entry['type'])]),
    ),
    bundledModels: context.bundledModels,
    bundledAliases: context.bundledAliases,
    aliases: new Map(
      Object.entries(aliases)
        .filter(([name]) => !isPattern(name))
        .map(([name, target]) => [name, textOf(target)]),
    ),
  };
}

/** A model or an alias, declared or bundled. */
export function isModelName(name: string, names: Names): boolean {
  return names.aliases.has(name) || names.bundledAliases.has(name) || isModelId(name, names);
}

/** A model itself: an alias cannot name another alias. */
export function isModelId(name: string, names: Names): boolean {
  return names.declaredModels.has(name) || names.bundledModels.has(name);
}

/** Every name that a client can use, for suggestions. */
export function modelNames(names: Names): string[] {
  return [...names.declaredModels.keys(), ...names.aliases.keys(), ...names.bundledModels];
}

/** Reports what the members of an entry name and does not exist. */
export function checkReferences(
  { section, members }: Kind,
  raw: RawMapping,
  index: number,
  names: Names,
  report: Report,
): void {
  for (const [member, { form, refersTo }] of Object.entries(members)) {
    const value = raw[member];
    if (refersTo === undefined || value === undefined) continue;
    if (Array.isArray(value) !== (form === 'names')) continue;
    const path = [section, index, member];
    if (!Array.isArray(value)) checkReference(refersTo, value, path, names, report);
    else {
      value.forEach((each: RawValue, at) => {
        checkReference(refersTo, each, [...path, at], names, report);
      });
    }
  }
}

/**
 * Reports a reference to something that does not exist. A value of the wrong type was already reported by its shape.
 */
export function checkReference(
  kind: KindName,
  value: RawValue,
  path: Path,
  names: Names,
  report: Report,
): void {
  const name = textOf(value);
  if (name === null || name === '') return;
  if (kind === 'model') checkModelName(value, path, names, report);
  else if (kind === 'user') {
    if (!name.includes('@') || names.users.has(name.toLowerCase())) return;
    report(path, 'a user of users', describeName(value, names.users, report));
  } else {
    const knownNames = kind === 'team' ? names.teams : names.groups;
    if (!knownNames.has(name))
      report(path, `a ${kind} of ${kind}s`, describeName(value, knownNames, report));
  }
}

/** Describes a wrong name together with the one that was probably meant; text from the environment stays hidden. */
export function describeName(
  value: RawValue,
  knownNames: Iterable<string>,
  report: Report,
): string {
  const name = textOf(value) ?? '';
  const isHidden = value instanceof Scalar && value.expanded;
  // Comparing thousands of wrong names with thousands of right ones takes minutes.
  const isEnough = report.problems.length >= 50;
  return describe(value) + (isHidden || isEnough ? '' : didYouMean(name, knownNames));
}

/** Reports a served, allowed or aliased model that neither the file nor the bundled catalogue has. */
export function checkModelName(value: RawValue, path: Path, names: Names, report: Report): void {
  const name = textOf(value);
  if (name === null || name === '' || isModelName(name, names)) return;
  const got = describeName(value, modelNames(names), report);
  report(path, 'a model of models, aliases or the bundled catalogue', got);
}

function namesIn(section: RawValue, key: string): string[] {
  return entriesOf(section).flatMap((entry) => textOf(entry[key]) ?? []);
}

/** The readable entries of a list; the checks of the other entries report what is wrong with them. */
export function entriesOf(section: RawValue): RawMapping[] {
  return Array.isArray(section) ? section.filter(isMapping) : [];
}

/** Keys that name no group are in the group `default`. */
export function checkGroup(raw: RawMapping, index: number, _names: Names, report: Report): void {
  const { name, enabled } = raw;
  if (textOf(name) !== 'default' || !(enabled instanceof Scalar)) return;
  if (String(enabled.value) !== 'false') return;
  report(['groups', index, 'enabled'], 'true: keys that name no group are in this one', 'false');
}

/** Members of a team: users of the file, each once. */
export function checkMembers(raw: RawMapping, index: number, names: Names, report: Report): void {
  if (!Array.isArray(raw['members'])) return;
  const seenNames = new Set<string>();
  raw['members'].forEach((each: RawValue, at) => {
    if (!isMapping(each)) return;
    const path = ['teams', index, 'members', at, 'user'];
    checkReference('user', each['user'], path, names, report);
    const email = textOf(each['user'])?.toLowerCase();
    if (email === undefined) return;
    if (seenNames.has(email)) report(path, 'each member once', 'the same user again');
    seenNames.add(email);
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
