import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, printResult } from './command.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  description:
    'Safe to repeat, also while other nodes start. The gateway does the same when it starts.',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { migrateWorkspace } = await import('./workspace.ts');
    const { isNewer } = await migrateWorkspace(config);
    const text = isNewer
      ? 'a newer version has migrated the database: nothing to do, both may work on it\n'
      : 'the database is up to date\n';
    return printResult(input, io, { ok: true }, text);
  },
};
