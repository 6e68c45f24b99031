import type { Logger } from '#observability/index.ts';
import { forgetUnshown } from '#startup/index.ts';
import type { CommandIo } from './command.ts';
import type { Damage } from './damage.ts';
import { removePidFile, writePidFile } from './runtime-files.ts';
import { keepListeningAfter, stopSignals, type StopSignals } from './stop-signal.ts';
import { programVersion } from './version.ts';

export interface ServingProcess {
  readonly io: CommandIo;
  readonly logger: Logger;
  readonly dataDir: string;
  readonly greeting: (version: string) => string;
  /** How many processes serve; absent: this one alone. */
  readonly workers?: number;
  readonly damage: Damage;
  /** On SIGHUP. Never rejected. */
  readonly reload: () => Promise<void>;
  /** Ends in order; both as in `CloseOptions` of the app. */
  readonly stop: (keepListening: number, hurry: StopSignals['hurry']) => Promise<void>;
}

/**
 * From a start that succeeded to the end: what is printed and logged of both, the signals, and the file by which
 * other commands find this process. Signals are listened to before anything is waited for.
 */
export async function serveUntilStopped(serving: ServingProcess): Promise<void> {
  const { io, logger, dataDir, workers, damage } = serving;
  const reload = () => void serving.reload();
  process.on('SIGHUP', reload);
  const signals = stopSignals();
  writePidFile(dataDir, { pid: process.pid, startedAt: Date.now() });
  const detail = await programVersion();
  io.stdout(serving.greeting(detail));
  // Not before: a start that is killed until here shows new ones the next time.
  forgetUnshown(dataDir);
  logger.info('started', workers === undefined ? { detail } : { detail, count: workers });
  const reason = await Promise.race([signals.stop, damage.happened]);
  logger.info('stopping', { detail: reason });
  process.off('SIGHUP', reload);
  await serving.stop(keepListeningAfter(reason), signals.hurry);
  removePidFile(dataDir);
  logger.info('stopped');
}
