import type { Logger } from './logger.ts';

/** Uncaught errors of this process. */
export interface UncaughtErrors {
  /** Exceptions: whatever was in progress may be half done. */
  readonly exceptions: number;
  /** Promise rejections without a handler. */
  readonly rejections: number;
}

export interface UncaughtErrorsOptions {
  readonly log: Pick<Logger, 'error'>;
  /** Called once, on the first exception: the process should be replaced. */
  readonly onDamage: () => void;
  /** Called when the process must end at once. */
  readonly onHopeless: () => void;
  /** The source of the errors; default: this process. */
  readonly source?: Pick<NodeJS.Process, 'on'>;
}

/** A process that keeps throwing cannot shut down in order. */
const hopeless = 10;

/**
 * Handles errors that would otherwise end the process at once, and with it every response in flight.
 * docs/decisions/0011-uncaught-errors.md says which error leads to what.
 */
export function watchUncaughtErrors(options: UncaughtErrorsOptions): UncaughtErrors {
  const { log, onDamage, onHopeless, source = process } = options;
  const counts = { exceptions: 0, rejections: 0 };
  source.on('uncaughtException', (error) => {
    counts.exceptions += 1;
    // A repeating error must not fill the log.
    if (counts.exceptions <= hopeless) log.error('uncaught exception', error);
    if (counts.exceptions === 1) onDamage();
    if (counts.exceptions === hopeless) onHopeless();
  });
  source.on('unhandledRejection', (reason) => {
    counts.rejections += 1;
    log.error('unhandled rejection', reason);
  });
  return counts;
}
