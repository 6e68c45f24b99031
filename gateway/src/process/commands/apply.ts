import { loadCommandConfig } from './command-config.ts';
import {
  type Command,
  commonOptions,
  exitCode,
  printJson,
  takeOver,
  takeOverOption,
} from './command.ts';

export const apply: Command = {
  name: 'apply',
  description:
    'Applies the whole file or nothing. A running gateway picks up the change within seconds.',
  options: { ...commonOptions, ...takeOverOption },
  positionals: [],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { withAdministration } = await import('./workspace.ts');
    const { readNodeId } = await import('#nodes/index.ts');
    const { applyLists } = await import('#startup/index.ts');
    const { DeclarationConflict } = await import('#declaration/index.ts');
    const { formatPlan, summarise } = await import('./plan-text.ts');
    try {
      const done = await withAdministration(config, (administration) =>
        applyLists(administration, config, {
          node: readNodeId(config.storage.dataDir),
          takesOver: input.flag(takeOver),
        }),
      );
      if (input.flag('json')) printJson(io, { ok: true, ...done });
      else io.stdout(`${formatPlan(done)}${summarise(done, 'done')}\n`);
      return exitCode.done;
    } catch (error) {
      if (!(error instanceof DeclarationConflict)) throw error;
      const { conflicts } = error;
      if (input.flag('json')) printJson(io, { ok: false, steps: [], conflicts, notes: [] });
      else for (const conflict of conflicts) io.stderr(`${config.file}: ${conflict}\n`);
      return exitCode.failed;
    }
  },
};
