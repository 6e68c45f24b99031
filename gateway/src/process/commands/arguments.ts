import { parseArgs } from 'node:util';
import { type Command, type CommandInput, UsageError } from './command.ts';

/**
 * Reads the arguments after a command's name. Null: help was requested.
 * @throws UsageError for an unknown option, a missing value, or too many or too few words.
 */
export function parseArguments(command: Command, args: readonly string[]): CommandInput | null {
  const parsedArguments = parse(command, args);
  const values: Readonly<Record<string, unknown>> = parsedArguments.values;
  const { positionals } = parsedArguments;
  if (values['help'] === true) return null;
  for (const [name, option] of Object.entries(command.options)) {
    if (option.required === true && values[name] === undefined) {
      throw new UsageError(`--${name} is required`);
    }
  }
  const missingPositional = command.positionals[positionals.length];
  if (missingPositional !== undefined) throw new UsageError(`${missingPositional} is required`);
  const extra = positionals[command.positionals.length];
  if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'`);
  return {
    text: (option) => {
      const value = values[option];
      return typeof value === 'string' ? value : undefined;
    },
    texts: (option) => {
      const value = values[option];
      return Array.isArray(value) ? value.map(String) : [];
    },
    flag: (option) => values[option] === true,
    positionals: positionals.map((text) => text.replace(negative, '')),
  };
}

/** Marks a negative amount while the arguments are read: Node takes every `-5` for an option. */
const negative = '\0';

function markAmounts({ options }: Command, args: readonly string[]): string[] {
  const isValue = (before: string | undefined): boolean =>
    before?.startsWith('--') === true && options[before.slice(2)]?.type === 'string';
  return args.map((text, index) =>
    /^-\d/.test(text) && !isValue(args[index - 1]) ? negative + text : text,
  );
}

function parse(command: Command, args: readonly string[]) {
  const options = Object.entries(command.options).map(([name, { type, multiple }]) => [
    name,
    { type, multiple: multiple ?? false },
  ]);
  try {
    const parsed = parseArgs({
      args: markAmounts(command, args),
      options: { ...Object.fromEntries(options), help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      tokens: true,
    });
    refuseRepeats(command, parsed.tokens);
    return parsed;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // The rest of Node's text is advice about `--`, which does not apply here.
    const [first = 'the arguments cannot be read'] = (error as Error).message.split(/\.\s/);
    const option = /^Option '(--[a-z-]+)' argument is ambiguous/.exec(first)?.[1];
    if (option !== undefined) {
      throw new UsageError(
        `${option} needs a value; write a value that begins with - as ${option}=-…`,
      );
    }
    throw new UsageError(first.charAt(0).toLowerCase() + first.slice(1));
  }
}

/** Of an option with one value, Node would take the last and say nothing. @throws UsageError */
function refuseRepeats(
  { options }: Command,
  tokens: readonly { readonly kind: string; readonly name?: string }[],
): void {
  const seen = new Set<string>();
  for (const { kind, name = '' } of tokens) {
    if (kind !== 'option' || options[name]?.type !== 'string') continue;
    if (options[name].multiple !== true && seen.has(name)) {
      throw new UsageError(`--${name}: expected it once`);
    }
    seen.add(name);
  }
}

/** The text of `sluice <command> --help`. */
export function formatHelp(command: Command, summary: string): string {
  const words = command.positionals.map((name) => ` ${name}`).join('');
  const all: Command['options'] = {
    ...command.options,
    help: { type: 'boolean', help: 'show this text' },
  };
  const options = Object.entries(all);
  const rows = options.map(([name, option]) => {
    const value = option.value === undefined ? '' : ` ${option.value}`;
    const notes = [
      option.required === true ? 'required' : '',
      option.multiple === true ? 'may be repeated' : '',
    ].filter((note) => note !== '');
    return [`--${name}${value}`, option.help + (notes.length > 0 ? ` (${notes.join(', ')})` : '')];
  });
  const description = command.description === '' ? '' : `${command.description}\n`;
  return `sluice ${command.name}${words} [options]\n\n${summary}.\n${description}\nOptions:\n${columns(rows)}`;
}

/** Two columns, indented, the first as wide as necessary. */
export function columns(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return rows.map(([left = '', right = '']) => `  ${left.padEnd(width)}  ${right}\n`).join('');
}
