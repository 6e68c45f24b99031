import type { ConfigProblem } from '#config/index.ts';

/** Problems of settings that were given as options, told with the options' own names. */
export function describeOptions(problems: readonly ConfigProblem[]): string {
  return problems
    .map(({ path, expected, got }) => {
      const option = path.replace(/\[\d+\]$/, '').replace(/^(model|ip)s$/, '$1');
      return `--${option.replaceAll('_', '-')}: expected ${expected}, got ${got}`;
    })
    .join('; ');
}
