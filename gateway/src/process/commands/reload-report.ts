import { ConfigError, formatProblem } from '#config/index.ts';
import { DeclarationConflict } from '#declaration/index.ts';

/** The problems of a file for people, one line each. */
export function describeProblems(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems.map(formatProblem);
  if (error instanceof DeclarationConflict) return error.conflicts;
  return [error instanceof Error ? error.message : String(error)];
}
