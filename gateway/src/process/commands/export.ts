import { bundledModelNames, loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';

export const exportCommand: Command = {
  name: 'export',
  description:
    'Secrets are not written: API keys become ${…} placeholders named after their channel; keys are written without\n' +
    'their secret.',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { withReadableWorkspace } = await import('./workspace.ts');
    const { exportState, readState } = await import('#declaration/index.ts');
    const state = await withReadableWorkspace(config, ({ database, secrets }) =>
      readState(database.kysely, secrets),
    );
    const text = exportState(state, await bundledModelNames());
    if (input.flag('json')) {
      const { parse } = await import('yaml');
      printJson(io, parse(text) ?? {});
    } else {
      io.stdout(text);
    }
    return exitCode.done;
  },
};
