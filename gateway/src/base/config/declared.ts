import type { z } from 'zod';
import type { Declared } from './config.ts';
import { check, createReport, type Report, ConfigError } from './problem.ts';
import { type EntryOf, type Kind, kinds } from './kinds/index.ts';
import { checkChannel } from './rules/channels.ts';
import {
  checkMembers,
  checkSecrets,
  checkReferences,
  createNames,
  type Names,
  type NamesContext,
} from './rules/names.ts';
import { checkAliases, checkModel } from './rules/models.ts';
import {
  describe,
  isAbsent,
  isMapping,
  type RawMapping,
  type RawValue,
  Scalar,
  textOf,
} from './scalar.ts';

/** The keys of the file that declare rows of the database. */
export const listKeys = [
  'groups',
  'channels',
  'models',
  'aliases',
  'users',
  'teams',
  'keys',
] as const;

/**
 * Reads the lists of the file: checks each entry against its shape, names for duplicates, and references. An entry with
 * a mistake still counts as declared, so that one mistake is one problem.
 */
export function readDeclared(root: RawMapping, report: Report, context: NamesContext): Declared {
  const names = createNames(root, context);
  const list = <Of extends Kind>(kind: Of, rules?: Rules) =>
    readList(root, kind, { report, names, rules }) as readonly EntryOf<Of>[];
  const declared = {
    groups: list(kinds.group),
    channels: list(kinds.channel, checkChannel),
    models: list(kinds.model, checkModel),
    aliases: checkAliases(root['aliases'], names, report),
    users: list(kinds.user),
    teams: list(kinds.team, checkMembers),
    keys: list(kinds.key),
  };
  checkSecrets(root['keys'], report);
  return declared;
}

/** Checks what the shape of one entry cannot express. */
type Rules = (raw: RawMapping, index: number, names: Names, report: Report) => void;

function readList(
  root: RawMapping,
  kind: Kind,
  {
    report,
    names,
    rules,
  }: { readonly report: Report; readonly names: Names; readonly rules: Rules | undefined },
): unknown[] {
  const { section, identity, schema } = kind;
  const raw = root[section];
  if (isAbsent(raw)) return [];
  if (!Array.isArray(raw)) {
    report([section], 'a list', describe(raw));
    return [];
  }
  const countByName = new Map<string, number>();
  const entries: unknown[] = [];
  raw.forEach((item: RawValue, index) => {
    if (!isMapping(item)) {
      report([section, index], 'a mapping', describe(item));
      return;
    }
    const text = textOf(item[identity]);
    const name = identity === 'email' ? (text?.toLowerCase() ?? null) : text;
    const first = name === null ? undefined : countByName.get(name);
    if (first !== undefined) {
      report(
        [section, index, identity],
        `a different ${identity}`,
        `the one of ${section}[${first}]`,
      );
    } else if (name !== null) {
      countByName.set(name, index);
    }
    const entry = check(schema, item, [section, index], report);
    checkReferences(kind, item, index, names, report);
    rules?.(item, index, names, report);
    if (entry !== null) entries.push(entry);
  });
  return entries;
}

/** Members given as text, named as in the file: `{ user: 'ada@example.com', rpm: '60', models: ['fast'] }`. */
export type TextMembers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Parses an entry of a kind by the rules of the file. The caller checks that the names in it exist.
 * @throws ConfigError whose paths are the names of the members.
 */
export function parseEntry<Of extends Kind>(kind: Of, textMembers: TextMembers): EntryOf<Of> {
  const raw = Object.entries(textMembers).flatMap(([name, value]): [string, RawValue][] => {
    if (value === undefined) return [];
    if (typeof value !== 'string') return [[name, value.map((text) => new Scalar(text, text))]];
    return [[name, new Scalar(valueOf(kind.members[name]?.form, value), value)]];
  });
  const report = createReport(null, () => null, []);
  const entry = check(kind.schema as z.ZodType<EntryOf<Of>>, Object.fromEntries(raw), [], report);
  if (entry === null) throw new ConfigError(report.problems);
  return entry;
}

function valueOf(form: string | undefined, text: string): string | number | boolean {
  if (form === 'flag') return text === 'true';
  return form === 'count' && /^\d+$/.test(text) ? Number(text) : text;
}
