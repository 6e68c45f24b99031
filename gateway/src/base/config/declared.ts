import type { z } from 'zod';
import type { Declared } from './config.ts';
import {
  check,
  type ConfigProblem,
  createReport,
  formatProblem,
  type Report,
  ConfigError,
} from './problem.ts';
import { type EntryOf, type Kind, kinds, type ObjectName } from './kinds/index.ts';
import { checkChannel } from './rules/channels.ts';
import {
  checkGroup,
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
  const list = <Of extends Kind>(kind: Of) =>
    readList(root, kind, report, names) as readonly EntryOf<Of>[];
  const declared = {
    groups: list(kinds.group),
    channels: list(kinds.channel),
    models: list(kinds.model),
    aliases: checkAliases(root['aliases'], names, report),
    users: list(kinds.user),
    teams: list(kinds.team),
    keys: list(kinds.key),
  };
  checkSecrets(root['keys'], report);
  return declared;
}

/** Checks what the shape of one entry cannot express. */
type Rules = (raw: RawMapping, index: number, names: Names, report: Report) => void;

const rulesOf: Readonly<Partial<Record<ObjectName, Rules>>> = {
  group: checkGroup,
  channel: checkChannel,
  model: checkModel,
  team: checkMembers,
};

function readList(root: RawMapping, kind: Kind, report: Report, names: Names): unknown[] {
  const { section, identity, schema } = kind;
  const rules = rulesOf[kind.name];
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

/** Members as JSON has them, named as in the file. */
export type JsonMembers = Readonly<Record<string, unknown>>;

/**
 * Reads an entry that does not stand in the file by all of the file's rules.
 * @param names what it may name
 * @param before the entry before a change, which is not to blame for what was wrong with it already
 * @throws ConfigError whose paths begin with the names of the members
 */
export function readEntry<Of extends Kind>(
  kind: Of,
  members: JsonMembers,
  names: Names,
  before?: JsonMembers,
): EntryOf<Of> {
  const { entry, problems } = tryEntry(kind, members, names);
  const earlierProblems =
    before === undefined || problems.length === 0
      ? []
      : tryEntry(kind, before, names).problems.map(formatProblem);
  const newProblems = problems.filter((one) => !earlierProblems.includes(formatProblem(one)));
  if (entry === undefined || newProblems.length > 0) {
    throw new ConfigError(newProblems.length > 0 ? newProblems : problems);
  }
  return entry as EntryOf<Of>;
}

function tryEntry(
  kind: Kind,
  members: JsonMembers,
  names: Names,
): { readonly entry: unknown; readonly problems: readonly ConfigProblem[] } {
  const { section } = kind;
  const report = createReport(null, () => null, []);
  const [entry] = readList({ [section]: [rawOf(members)] }, kind, report, names);
  const place = `${section}[0]`;
  const problems = report.problems.map((one) => ({
    ...one,
    path: one.path.slice(place.length).replace(/^\./, ''),
  }));
  return { entry, problems };
}

const noNames: Names = {
  groups: new Set(),
  users: new Set(),
  teams: new Set(),
  declaredModels: new Map(),
  bundledModels: new Set(),
  bundledAliases: new Set(),
  aliases: new Map(),
};

/**
 * Reads the price of a model of this type by the file's rules.
 * @param price as JSON; null for none
 * @throws ConfigError whose paths begin with `price`
 */
export function readPrice(type: string, price: unknown): EntryOf<typeof kinds.model>['price'] {
  return readEntry(kinds.model, { id: 'model', type, price }, noNames).price;
}

/**
 * Reads an alias that does not stand in the file by the file's rules.
 * @throws ConfigError whose paths are the names of the members
 */
export function readAlias(name: string, model: string, names: Names): EntryOf<typeof kinds.alias> {
  const report = createReport(null, () => null, []);
  const aliases = checkAliases({ [name]: new Scalar(model, model) }, names, report);
  // A model that is declared keeps its name.
  if (names.declaredModels.has(name)) {
    report(['aliases', name], 'a name that is not a model too', JSON.stringify(name));
  }
  const target = aliases[name];
  const problems = report.problems.map((one) => ({ ...one, path: 'model' }));
  if (target === undefined || problems.length > 0) throw new ConfigError(problems);
  return { name, model: target };
}

/** Deeper than any member. */
const deepest = 10;

/** JSON as if it stood in the file. */
export function rawOf(value: unknown, depth = 0): RawValue {
  if (depth > deepest) return new Scalar('…', '…');
  if (Array.isArray(value)) return value.map((item) => rawOf(item, depth + 1));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, item]) => [name, rawOf(item, depth + 1)]);
    return Object.assign(Object.create(null) as RawMapping, Object.fromEntries(entries));
  }
  if (value === undefined) return undefined;
  const plain = value as Scalar['value'];
  return new Scalar(plain, String(plain));
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
