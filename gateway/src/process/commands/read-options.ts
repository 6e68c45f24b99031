import type { ConfigProblem } from '#config/index.ts';
import { UsageError } from './command.ts';

/**
 * Parses settings given as options, by the rules of the file.
 * @param positionals the help's names for settings that are arguments rather than options
 * @throws UsageError that names the fault in the command line's spelling.
 */
export async function readOptions<Settings>(
  read: () => Settings,
  positionals: Readonly<Record<string, string>> = {},
): Promise<Settings> {
  const { ConfigError } = await import('#config/index.ts');
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(
      error.problems.map((problem) => describe(problem, positionals)).join('; '),
    );
  }
}

function describe(
  { path, expected, got }: ConfigProblem,
  positionals: Readonly<Record<string, string>>,
): string {
  const option = path.replace(/\[\d+\]$/, '').replace(/^(model|ip|group)s$/, '$1');
  const name = positionals[path] ?? `--${option.replaceAll('_', '-')}`;
  return `${name}: expected ${expected}, got ${got}`;
}
