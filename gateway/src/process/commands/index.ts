import { columns, formatHelp, parseArguments } from './arguments.ts';
import { type CommandIo, exitCode, programVersion, UsageError } from './command.ts';
import { commandTable, type TableEntry } from './table.ts';

export type { CommandIo } from './command.ts';

/**
 * Runs one command line (without the program's name) and returns its exit code: 0 done, 1 failed, 2 usage. Never
 * throws.
 */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    return await explain(error, argv, io);
  }
}

async function dispatch(argv: readonly string[], io: CommandIo): Promise<number> {
  const [first] = argv;
  if (first === '--help' || first === '-h' || first === 'help') {
    io.stdout(overview());
    return exitCode.done;
  }
  if (first === '--version' || first === '-v') {
    io.stdout(`sluice ${await programVersion()}\n`);
    return exitCode.done;
  }
  if (first === undefined) throw new UsageError('a command is required');
  const entry = findEntry(argv);
  if (entry === null) {
    const group = commandTable.filter(({ name }) => name.startsWith(`${first} `));
    if (group.length === 0) throw new UsageError(`unknown command '${first}'`);
    if (argv.includes('--help') || argv.includes('-h')) {
      io.stdout(`sluice ${first}\n\n${columns(group.map((item) => [item.name, item.summary]))}`);
      return exitCode.done;
    }
    const names = group.map(({ name }) => name.slice(first.length + 1)).join(', ');
    throw new UsageError(`'${first}' needs one of: ${names}`);
  }
  const args = argv.slice(entry.name.split(' ').length);
  const command = await entry.load();
  if (typeof command === 'function') return command([...args], io);
  const input = parseArguments(command, args);
  if (input === null) {
    io.stdout(formatHelp(command, entry.summary));
    return exitCode.done;
  }
  return command.run(input, io);
}

function findEntry(argv: readonly string[]): TableEntry | null {
  const [first, second] = argv;
  return (
    commandTable.find(({ name }) => name === `${first} ${second}`) ??
    commandTable.find(({ name }) => name === first) ??
    null
  );
}

async function explain(error: unknown, argv: readonly string[], io: CommandIo): Promise<number> {
  if (error instanceof UsageError) {
    const name = findEntry(argv)?.name;
    const help = name === undefined ? 'sluice --help' : `sluice ${name} --help`;
    io.stderr(`sluice: ${error.message}\nSee: ${help}\n`);
    return exitCode.usage;
  }
  const { ConfigError, formatProblem } = await import('#config/index.ts');
  if (error instanceof ConfigError) {
    for (const problem of error.problems) io.stderr(`${formatProblem(problem)}\n`);
  } else {
    io.stderr(`sluice: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  return exitCode.failed;
}

function overview(): string {
  const rows = commandTable.map(({ name, summary }) => [name, summary]);
  return (
    'sluice <command> [options]: one address in front of many generative models\n\n' +
    `${columns(rows)}\n'sluice <command> --help' shows a command's options, 'sluice --version' the version. Exit codes: 0 done, 1 failed, 2 usage.\n`
  );
}
