import type { Config } from '../config/index.ts';
import type { Logger } from '../observability/index.ts';
import type { CommandInput, CommandIo } from './command.ts';

export interface ReloadFileOptions {
  readonly input: CommandInput;
  readonly io: CommandIo;
  readonly logger: Logger;
  /** Where the outcome is left while the file does not say otherwise. */
  readonly dataDir: string;
  /** Makes the file effective. */
  readonly apply: (config: Config) => Promise<void>;
}

/** Reads the file again. A file with problems changes nothing; the outcome is left for `sluice reload`. */
export async function reloadFile(options: ReloadFileOptions): Promise<void> {
  const { input, io, logger, apply } = options;
  const { writeReloadOutcome } = await import('./runtime-files.ts');
  const { describeProblems } = await import('./problems.ts');
  const { loadCommandConfig } = await import('./workspace.ts');
  let { dataDir } = options;
  let problems: readonly string[] = [];
  try {
    const config = await loadCommandConfig(input, io);
    ({ dataDir } = config.storage);
    await apply(config);
    logger.info('reloaded');
  } catch (error) {
    problems = describeProblems(error);
    logger.error('the file was not reloaded', error);
  }
  writeReloadOutcome(dataDir, { at: Date.now(), ok: problems.length === 0, problems });
}
