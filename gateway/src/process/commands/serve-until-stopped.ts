import type { Logger } from '#observability/index.ts';
import { forgetUnshown } from '#startup/index.ts';
import { type CommandIo, programVersion } from './command.ts';
import type { Damage } from './start-steps.ts';
import { removePidFile, writePidFile } from './runtime-files.ts';
import { keepListeningAfter, stopSignals, type StopSignals } from './stop-signal.ts';

export interface ServingProcess {
  readonly io: CommandIo;
  readonly logger: Logger;
  readonly dataDir: string;
  readonly greeting: (version: string) => string;
  /** The number of processes; absent: only this one. */
  readonly workers?: number;
  readonly damage: Damage;
  /** Runs on SIGHUP. Never rejects. */
  readonly reload: () => Promise<void>;
  /** Shuts down in order; the parameters are those of `CloseOptions` of the app. */
  readonly stop: (keepListening: number, hurry: StopSignals['hurry']) => Promise<void>;
}

/**
 * Runs a started process to its end: prints and logs both, handles the signals, and writes the file by which other
 * commands find this process. Listens to signals before it waits for anything.
 */
export async function serveUntilStopped(serving: ServingProcess): Promise<void> {
  const { io, logger, dataDir, workers, damage } = serving;
  const reload = () => void serving.reload();
  process.on('SIGHUP', reload);
  const signals = stopSignals();
  try {
    writePidFile(dataDir, { pid: process.pid, startedAt: Date.now() });
  } catch (error) {
    // It serves already, and only `sluice reload` needs the file: a full disk is no reason to end.
    logger.warn('could not write sluice.pid', { detail: (error as Error).message });
  }
  const detail = await programVersion();
  io.stdout(serving.greeting(detail));
  // Not earlier: a start that is killed before this point shows new secrets the next time.
  forgetUnshown(dataDir);
  logger.info('started', workers === undefined ? { detail } : { detail, count: workers });
  const reason = await Promise.race([signals.stop, damage.happened]);
  logger.info('stopping', { detail: reason });
  process.off('SIGHUP', reload);
  await serving.stop(keepListeningAfter(reason), signals.hurry);
  removePidFile(dataDir);
  logger.info('stopped');
}
