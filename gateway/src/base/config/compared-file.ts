import { randomBytes } from 'node:crypto';
import type { Config } from './config.ts';
import { type JsonMembers, rawOf } from './declared.ts';
import { allSettings, valueOf } from './described.ts';
import { readDocument } from './document.ts';
import { type DeclaredKind, type Kind, kinds } from './kinds/index.ts';
import { checkRoot, type LoadOptions } from './load.ts';
import { ConfigError, createReport, formatPath, type Path, type Report } from './problem.ts';
import { isMapping, type RawMapping, type RawValue, Scalar, textOf } from './scalar.ts';

/* A file that somebody who is not on this machine compares with what is in force. */

/** What a comparison passes over. */
export interface NotCompared {
  readonly line: number | null;
  /** As in `ConfigProblem`. */
  readonly path: string;
  /** `secret`: whoever compares one could find it by trying. */
  readonly reason: 'placeholder' | 'secret';
}

/** What is in force. */
export interface InForce {
  readonly config: Config;
  /** The members of an entry, named as in the file; null: there is no such entry. */
  readonly entry: (kind: DeclaredKind, name: string) => JsonMembers | null;
}

export interface ComparedFile {
  /** The names of the keys in it. */
  readonly keyNames: readonly string[];
  /**
   * Checks the file. What is not compared is taken as it is in force.
   * @throws ConfigError with every problem
   */
  check(inForce: InForce): { readonly config: Config; readonly notCompared: NotCompared[] };
}

/**
 * Reads a file without filling any placeholder: neither a variable of the environment nor a file is read.
 * @param file its name in messages
 * @throws ConfigError for text that is not YAML
 */
export function readComparedFile(
  text: string,
  options: Required<Pick<LoadOptions, 'bundledModels' | 'bundledAliases' | 'workingDirectory'>> & {
    readonly file: string;
  },
): ComparedFile {
  const { file } = options;
  const { root, open, lineOf, problems, readable } = readDocument(text, file, null);
  if (!readable) throw new ConfigError(problems);
  const keys = root['keys'];
  return {
    keyNames: (Array.isArray(keys) ? keys : []).flatMap((key: RawValue) =>
      isMapping(key) ? (textOf(key['name']) ?? []) : [],
    ),
    check(inForce) {
      const report = createReport(file, lineOf, [...problems]);
      const left = [...leftOpen(open, report), ...secretsIn(root)];
      const paths = left.map(({ path }) => path);
      const checked = checkRoot(
        fill(root, paths, inForce),
        withoutProblemsAt(paths, report),
        lineOf,
        { ...options, environment: {} },
      );
      // A secret that is a placeholder is a secret.
      const notCompared = new Map(
        left.map(({ path: at, reason }) => {
          const path = formatPath(at);
          return [path, { line: lineOf(at), path, reason }];
        }),
      );
      const byLine = (one: NotCompared, other: NotCompared) => (one.line ?? 0) - (other.line ?? 0);
      return { config: checked, notCompared: [...notCompared.values()].toSorted(byLine) };
    },
  };
}

interface Left {
  /** Of a setting, or of a member of an entry. */
  readonly path: Path;
  readonly reason: NotCompared['reason'];
}

/** Reports placeholders where a comparison needs to know what is there. */
function leftOpen(open: readonly Path[], report: Report): Left[] {
  return open.flatMap((path) => {
    const whole = comparedPath(path);
    if (whole !== null) return [{ path: whole, reason: 'placeholder' }];
    report(path, 'what can be compared', 'a placeholder');
    return [];
  });
}

/** The setting or the member that a value is part of; null: it is neither. */
function comparedPath(path: Path): Path | null {
  const [section, second, member] = path;
  const kind = kindOf(section);
  if (kind?.section === 'aliases') return path.length === 2 ? path : null;
  if (kind !== undefined) {
    const isMember = typeof second === 'number' && typeof member === 'string';
    return isMember && member !== kind.identity ? path.slice(0, 3) : null;
  }
  const setting = allSettings.find((each) => each.path.every((part, at) => path[at] === part));
  return setting?.path ?? null;
}

const kindOf = (section: unknown) => Object.values(kinds).find((kind) => kind.section === section);

function secretsIn(root: RawMapping): Left[] {
  const ofSettings = allSettings.filter(
    ({ secret, show, path }) => secret && show === null && at(root, path) !== undefined,
  );
  const ofEntries = Object.values(kinds).flatMap(({ section, members }) => {
    const entries = root[section];
    if (!Array.isArray(entries)) return [];
    return entries.flatMap((entry: RawValue, index) =>
      Object.keys(isMapping(entry) ? entry : {})
        .filter((name) => isSecret(members, name))
        .map((name) => [section, index, name]),
    );
  });
  return [...ofSettings.map(({ path }) => path), ...ofEntries].map((path) => ({
    path,
    reason: 'secret',
  }));
}

function isSecret(members: Kind['members'], name: string): boolean {
  const { stored, insteadOf } = members[name] ?? {};
  if (insteadOf !== undefined) return isSecret(members, insteadOf);
  return stored === 'sealed' || stored === 'hash';
}

/** The content with what is in force at these paths. */
function fill(root: RawMapping, paths: readonly Path[], inForce: InForce): RawMapping {
  const filled = copy(root) as Record<string, RawValue>;
  for (const path of paths) {
    const [section] = path;
    const kind = kindOf(section);
    if (kind === undefined) {
      const setting = allSettings.find((each) => formatPath(each.path) === formatPath(path));
      const value = setting && setting.write(valueOf(inForce.config, setting));
      put(filled, path, rawOf(value ?? null));
    } else if (kind.section === 'aliases') {
      put(filled, path, rawOf(inForce.entry(kind, String(path[1]))?.['model']));
    } else fillMember(filled, kind, path, inForce);
  }
  return filled;
}

function fillMember(root: RawMapping, kind: DeclaredKind, path: Path, inForce: InForce): void {
  const entry = at(root, path.slice(0, 2)) as Record<string, RawValue>;
  const name = String(path[2]);
  const known = inForce.entry(kind, textOf(entry[kind.identity]) ?? '');
  const { insteadOf = name, stored } = kind.members[name] ?? {};
  delete entry[name];
  if (stored === 'hash') {
    // A new one stands for it, which no key has.
    if (known === null) entry[name] = rawOf(`sk-${randomBytes(24).toString('hex')}`);
  } else if (known?.[insteadOf] !== undefined) entry[insteadOf] = rawOf(known[insteadOf]);
}

/** What is not compared cannot be wrong. */
function withoutProblemsAt(paths: readonly Path[], report: Report): Report {
  const isAt = (path: Path, whole: Path) => whole.every((part, index) => path[index] === part);
  const add = (path: Path, expected: string, got: string) => {
    if (!paths.some((whole) => isAt(path, whole))) report(path, expected, got);
  };
  return Object.assign(add, { problems: report.problems });
}

/** Aliases of YAML are one object in several places. */
function copy(value: RawValue): RawValue {
  if (value instanceof Scalar || value === undefined) return value;
  if (Array.isArray(value)) return value.map(copy);
  const entries = Object.entries(value).map(([key, part]) => [key, copy(part)] as const);
  return Object.assign(Object.create(null) as RawMapping, Object.fromEntries(entries));
}

function at(root: RawMapping, path: Path): RawValue {
  let value: RawValue = root;
  for (const part of path) {
    value =
      Array.isArray(value) || isMapping(value)
        ? (value as Readonly<Record<string | number, RawValue>>)[part]
        : undefined;
  }
  return value;
}

function put(root: RawMapping, path: Path, value: RawValue): void {
  const parent = at(root, path.slice(0, -1));
  if (isMapping(parent)) (parent as Record<string, RawValue>)[String(path.at(-1))] = value;
}
