import type { Config } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';
import { loadCommandConfig } from './command-config.ts';
import type { CommandInput, CommandIo } from './command.ts';

export interface ReloadFileOptions {
  readonly input: CommandInput;
  readonly io: CommandIo;
  readonly logger: Logger;
  /** The configuration that the gateway was started with and still uses. */
  readonly running: Config;
  /** Puts the file into force. */
  readonly apply: (config: Config) => Promise<void>;
}

/** Reloads the file. A file with problems changes nothing; the outcome is written for `sluice reload`. */
export async function reloadFile(options: ReloadFileOptions): Promise<void> {
  const { input, io, logger, running, apply } = options;
  const { dataDir } = running.storage;
  const { writeReloadOutcome } = await import('./runtime-files.ts');
  const { logWeakKeys } = await import('./file-warnings.ts');
  const { changedSettings } = await import('#config/index.ts');
  const { describeProblems } = await import('./reload-report.ts');
  const { EarlierFile } = await import('#declaration/index.ts');
  let problems: readonly string[] = [];
  let restart: readonly string[] = [];
  try {
    const config = await loadCommandConfig(input, io);
    // The lists belong to the storage that the gateway uses, which is the one it was started with.
    await apply({ ...config, storage: running.storage });
    restart = changedSettings(running, config);
    logger.info('reloaded');
    logWeakKeys(config, logger);
    if (restart.length > 0) {
      logger.warn('some changed settings need a restart', { detail: restart.join(', ') });
    }
  } catch (error) {
    problems = describeProblems(error);
    if (error instanceof EarlierFile) {
      logger.warn('the lists of the configuration file are not applied', { detail: error.message });
    } else logger.error('the configuration file was not reloaded', error);
  }
  try {
    writeReloadOutcome(dataDir, { at: Date.now(), ok: problems.length === 0, problems, restart });
  } catch (error) {
    logger.warn('could not write reload.json', { detail: (error as Error).message });
  }
}
