import { type Config, ConfigError, formatProblem } from '#config/index.ts';
import { DeclarationConflict } from '#declaration/index.ts';

/** The problems of a file for people, one line each. */
export function describeProblems(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems.map(formatProblem);
  if (error instanceof DeclarationConflict) return error.conflicts;
  return [error instanceof Error ? error.message : String(error)];
}

/** Members that are not settings, and the administrator, which is only created at the first start. */
const others: ReadonlySet<string> = new Set([
  'file',
  'listsDigest',
  'declared',
  'proxies',
  'environmentKeys',
  'admin',
]);

/** The settings that a newly read file changes, in the file's spelling. They take effect only at a start. */
export function changedSettings(running: Config, read: Config): string[] {
  const sections = (Object.keys(read) as (keyof Config)[]).filter((key) => !others.has(key));
  const changedNames = sections.flatMap((section) => {
    const before = Object(running[section]) as Record<string, unknown>;
    const after = Object(read[section]) as Record<string, unknown>;
    return Object.keys(after)
      .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
      .map((key) => `${inFile(section)}.${inFile(key)}`);
  });
  return changedNames.toSorted();
}

/** `bodyLimit` → `body_limit`. */
function inFile(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
