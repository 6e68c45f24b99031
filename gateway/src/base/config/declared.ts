import type { z } from 'zod';
import type { Declared } from './config.ts';
import { check, type Report } from './issues.ts';
import { describe, isAbsent, isMapping, type RawMapping, type RawValue, textOf } from './scalar.ts';
import { key, team, user } from './schema/account.ts';
import { channel } from './schema/channel.ts';
import { group } from './schema/group.ts';
import { model } from './schema/model.ts';
import { checkAliases } from './rules/aliases.ts';
import { checkChannel } from './rules/channels.ts';
import { checkModel } from './rules/models.ts';
import { checkGroups, checkKeys, checkTeam } from './rules/accounts.ts';
import { createNames, type NamesContext } from './rules/names.ts';

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
  const groups = readList(root, 'groups', 'name', group, report);
  const channels = readList(root, 'channels', 'name', channel, report, (raw, index) =>
    checkChannel(raw, index, names, report),
  );
  const models = readList(root, 'models', 'id', model, report, (raw, index) =>
    checkModel(raw, index, names, report),
  );
  const aliases = checkAliases(root['aliases'], names, report);
  const users = readList(root, 'users', 'email', user, report, (raw, index) =>
    checkGroups(raw['groups'], ['users', index], names, report),
  );
  const teams = readList(root, 'teams', 'name', team, report, (raw, index) =>
    checkTeam(raw, index, names, report),
  );
  const keys = readList(root, 'keys', 'name', key, report);
  checkKeys(listOf(root['keys']), names, report);
  return { groups, channels, models, aliases, users, teams, keys };
}

function listOf(value: RawValue): readonly RawValue[] {
  return Array.isArray(value) ? value : [];
}

function readList<Schema extends z.ZodType>(
  root: RawMapping,
  section: string,
  identity: string,
  schema: Schema,
  report: Report,
  rules?: (raw: RawMapping, index: number) => void,
): z.output<Schema>[] {
  const raw = root[section];
  if (isAbsent(raw)) return [];
  if (!Array.isArray(raw)) {
    report([section], 'a list', describe(raw));
    return [];
  }
  const seen = new Map<string, number>();
  const entries: z.output<Schema>[] = [];
  raw.forEach((item: RawValue, index) => {
    if (!isMapping(item)) {
      report([section, index], 'a mapping', describe(item));
      return;
    }
    const text = textOf(item[identity]);
    const name = identity === 'email' ? (text?.toLowerCase() ?? null) : text;
    const first = name === null ? undefined : seen.get(name);
    if (first !== undefined) {
      report(
        [section, index, identity],
        `a different ${identity}`,
        `the one of ${section}[${first}]`,
      );
    } else if (name !== null) {
      seen.set(name, index);
    }
    const entry = check(schema, item, [section, index], report);
    rules?.(item, index);
    if (entry !== null) entries.push(entry);
  });
  return entries;
}
