import { bundledModelNames, readDatabase } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';

export const exportCommand: Command = {
  name: 'export',
  description:
    'Secrets are not written: API keys become ${…} placeholders named after their channel; keys are written without\n' +
    'their secret.',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const text = await readDatabase(input, io, async ({ database, secrets }) => {
      const { exportState, readState } = await import('#declaration/index.ts');
      const state = await readState(database.kysely, secrets);
      return exportState(state, await bundledModelNames());
    });
    if (input.flag('json')) {
      const { parse } = await import('yaml');
      printJson(io, parse(text) ?? {});
    } else {
      io.stdout(text);
    }
    return exitCode.done;
  },
};
