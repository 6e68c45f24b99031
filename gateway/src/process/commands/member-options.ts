import {
  ConfigError,
  type ConfigProblem,
  type EntryOf,
  type Kind,
  parseEntry,
} from '#config/index.ts';
import { type CommandInput, type CommandOption, UsageError } from './command.ts';

type Member = Kind['list'][number];

/** The options by which a command takes the members of an entry, in the order of the file. */
export function optionsOf({ list }: Kind): Record<string, CommandOption> {
  return Object.fromEntries(
    list.flatMap((member) => {
      const [value, help] = member.option ?? [];
      if (value === undefined || help === undefined) return [];
      const option: CommandOption =
        member.form === 'flag'
          ? { type: 'boolean', help }
          : {
              type: 'string',
              value,
              help,
              ...(member.form === 'names' && { multiple: true }),
              ...(member.usualValue === undefined && { required: true }),
            };
      return [[optionName(member), option]];
    }),
  );
}

/**
 * Reads an entry from these options, by the rules of the file.
 * @param positionals members that are arguments rather than options, and the help's names for them
 * @throws UsageError that names the fault in the command line's spelling.
 */
export function readOptions<Of extends Kind>(
  kind: Of,
  input: CommandInput,
  positionals: Readonly<Record<string, string>> = {},
): EntryOf<Of> {
  const givenOptions = kind.list.flatMap((member): [string, string | readonly string[]][] => {
    const value = valueOf(member, input);
    return value === undefined ? [] : [[member.name, value]];
  });
  const namedPositionals = Object.keys(positionals).map(
    (name, at) => [name, input.positionals[at]] as const,
  );
  try {
    return parseEntry(kind, Object.fromEntries([...givenOptions, ...namedPositionals]));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.problems.map((problem) => describe(problem, kind, positionals));
    throw new UsageError(faults.join('; '));
  }
}

function valueOf(member: Member, input: CommandInput): string | readonly string[] | undefined {
  if (member.option === undefined) return undefined;
  const name = optionName(member);
  if (member.form === 'flag')
    return input.flag(name) ? String(!(member.usualValue === true)) : undefined;
  if (member.form !== 'names') return input.text(name);
  const texts = input.texts(name);
  return texts.length === 0 ? undefined : texts;
}

/** `no-cap-output` for what is usual; `model` for each of `models`. */
function optionName({ name, form, usualValue }: Member): string {
  const word = form === 'names' ? name.replace(/s$/, '') : name;
  return `${usualValue === true ? 'no-' : ''}${word.replaceAll('_', '-')}`;
}

function describe(
  { path, expected, got }: ConfigProblem,
  { list }: Kind,
  positionals: Readonly<Record<string, string>>,
): string {
  const member = list.find(({ name }) => name === path.replace(/\[\d+\]$/, ''));
  const option = member === undefined ? path : optionName(member);
  return `${positionals[path] ?? `--${option}`}: expected ${expected}, got ${got}`;
}
