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
