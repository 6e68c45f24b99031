import type { Environment } from '#config/index.ts';

/** Where a command reads and writes. Tests pass their own; `main.js` passes the process. */
export interface CommandIo {
  /** Receives the result. Text as it is, including line ends. */
  readonly stdout: (text: string) => void;
  /** Receives problems, and nothing else. */
  readonly stderr: (text: string) => void;
  /** Asks whoever types. Default: the terminal, if the process has one; null: nobody can be asked. */
  readonly ask?: ((question: string) => Promise<string>) | null;
  /** Reads a secret that nobody is to see. Default: the first line of the process's standard input. */
  readonly readSecret?: (question: string) => Promise<string>;
  /** Default: the environment of the process. */
  readonly environment?: Environment;
  /** Default: the working directory of the process. */
  readonly workingDirectory?: string;
}

export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** The name of the value in the help: `FILE`. */
  readonly value?: string;
  readonly help: string;
  readonly required?: boolean;
}

export interface CommandInput {
  /** The text of an option, or undefined. */
  text(option: string): string | undefined;
  texts(option: string): readonly string[];
  flag(option: string): boolean;
  /** One per name in `Command.positionals`. */
  readonly positionals: readonly string[];
}

/** One command. Its file stays small and imports what it needs when it runs, so that help is instant. */
export interface Command {
  /** `key create`, as it is typed. */
  readonly name: string;
  /** More than the table's summary; may be empty. */
  readonly description: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Names of the required arguments, for example `EMAIL`. */
  readonly positionals: readonly string[];
  /** @throws UsageError, ConfigError, or Error with a message for the user. */
  run(input: CommandInput, io: CommandIo): Promise<number>;
}

export const exitCode = { done: 0, failed: 1, usage: 2 } as const;

/** The command line itself is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Options that almost every command has. */
export const commonOptions = {
  config: { type: 'string', value: 'FILE', help: 'the configuration file' },
  json: { type: 'boolean', help: 'print JSON' },
} as const satisfies Record<string, CommandOption>;

/** The name of the option below. */
export const takeOver = 'take-over';

/** For commands that apply the file, or show what applying it does. */
export const takeOverOption = {
  [takeOver]: {
    type: 'boolean',
    help: 'also an earlier file; console entries of its names become the file’s',
  },
} as const satisfies Record<string, CommandOption>;

/** Prints one value on one line. */
export function printJson(io: CommandIo, value: unknown): void {
  io.stdout(`${JSON.stringify(value)}\n`);
}

/** Prints a result: with `--json` the value, else the text. @returns the exit code of what is done */
export function printResult(
  input: CommandInput,
  io: CommandIo,
  value: unknown,
  text: string,
): number {
  if (input.flag('json')) printJson(io, value);
  else io.stdout(text);
  return exitCode.done;
}

/** For commands that take a range of time; `readTimes` reads it. */
export const timeOptions = {
  from: { type: 'string', value: 'TIME', help: 'for example 2027-01-01T00:00:00Z' },
  to: { type: 'string', value: 'TIME', help: 'the same form' },
} as const satisfies Record<string, CommandOption>;

/** The given `--from` and `--to` in Unix milliseconds. @throws UsageError */
export async function readTimes(
  input: CommandInput,
): Promise<{ readonly from?: number; readonly to?: number }> {
  const { parseTimestamp } = await import('#config/index.ts');
  const times = (['from', 'to'] as const).flatMap((option) => {
    const text = input.text(option);
    if (text === undefined) return [];
    const time = parseTimestamp(text);
    if (time === null) {
      throw new UsageError(
        `--${option}: expected a time with its zone such as 2027-01-01T00:00:00Z`,
      );
    }
    return [[option, time] as const];
  });
  return Object.fromEntries(times);
}

/** The running version, from its package. */
export async function programVersion(): Promise<string> {
  const { default: manifest } = await import('../../../package.json', { with: { type: 'json' } });
  return manifest.version;
}
