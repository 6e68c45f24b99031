import type { z } from 'zod';
import type { LeafIssue } from './leaf.ts';
import { didYouMean } from './near.ts';
import { describe, quote } from './scalar.ts';

/** One problem of a configuration file. Its texts never contain an expanded value. */
export interface ConfigProblem {
  /** The file as the user named it; null when the problem is not in a file. */
  readonly file: string | null;
  /** From 1; null if the problem has no line. */
  readonly line: number | null;
  /** `channels[0].api_key`; empty for the file as a whole. */
  readonly path: string;
  readonly expected: string;
  readonly got: string;
}

/** The configuration is not usable. Carries every problem at once; nothing of the file was applied. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** `file:line: path: expected X, got Y`, the form other tools parse. */
export function formatProblem(problem: ConfigProblem): string {
  const place = [problem.file, problem.line].filter((part) => part !== null).join(':');
  const parts = [place, problem.path, `expected ${problem.expected}, got ${problem.got}`];
  return parts.filter((part) => part !== '').join(': ');
}

export type Path = readonly (string | number)[];

/** `['channels', 0, 'api_key']` → `channels[0].api_key`; names that are not plain words are quoted in brackets. */
export function formatPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (!/^[A-Za-z_][\w-]*$/.test(part)) text += `[${JSON.stringify(part.slice(0, 80))}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}

/** Collects problems of one file, each with its line. */
export interface Report {
  (path: Path, expected: string, got: string): void;
  readonly problems: ConfigProblem[];
}

/** Collects problems with their lines into `problems`. */
export function createReport(
  file: string | null,
  lineOf: (path: Path) => number | null,
  problems: ConfigProblem[],
): Report {
  const add = (path: Path, expected: string, got: string) => {
    const line = file === null ? null : lineOf(path);
    problems.push({ file, line, path: formatPath(path), expected, got });
  };
  return Object.assign(add, { problems });
}

/** Checks one part of the file against its shape: its value, or null after its problems were reported. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  path: Path,
  report: Report,
): z.output<Schema> | null {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  for (const issue of result.error.issues) reportIssue(issue, input, path, report);
  return null;
}

function reportIssue(issue: z.core.$ZodIssue, input: unknown, base: Path, report: Report): void {
  const inner = issue.path as Path;
  const path = [...base, ...inner];
  if (issue.code === 'unrecognized_keys') {
    const knownKeys = issue.message.split(' ');
    for (const key of issue.keys) reportUnknownKey([...path, key], knownKeys, report);
    return;
  }
  const params = issue.code === 'custom' ? issue.params : undefined;
  const leafIssue = params?.['issue'] as LeafIssue | null | undefined;
  if (leafIssue === null) return;
  if (leafIssue !== undefined) {
    report(path, leafIssue.expected, leafIssue.got);
    return;
  }
  const expected = (params?.['expected'] as string | undefined) ?? typeName(issue);
  report(path, expected, describe(valueAt(input, inner)));
}

/** Reports an unknown key with the name that was probably meant, or with all known names. */
export function reportUnknownKey(path: Path, knownKeys: readonly string[], report: Report): void {
  const key = String(path.at(-1));
  if (key === '<<') {
    report(path, 'every key written out (YAML merge keys are not read)', quote(key));
    return;
  }
  const hint = didYouMean(key, knownKeys);
  const expected = hint === '' ? `one of the keys ${knownKeys.join(', ')}` : 'a known key';
  report(path, expected, `${quote(key)}${hint}`);
}

function typeName(issue: z.core.$ZodIssue): string {
  const expected = issue.code === 'invalid_type' ? issue.expected : '';
  return expected === 'array' ? 'a list' : 'a mapping';
}

function valueAt(input: unknown, path: Path): unknown {
  let value = input;
  for (const part of path) value = (value as Record<string | number, unknown> | undefined)?.[part];
  return value;
}
